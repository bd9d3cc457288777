/* A walk through memory that is anything: an image of a small JVM at a fixed address (two layouts),
 * with registers and words of it replaced by the input.  Whatever is read, a walk ends, stays
 * within its buffer, and does not crash.
 *
 * Input: byte 0: bit 0 the layout, bit 1 interrupted, bit 2 guess, bit 3 with stubs, bit 7
 * with C (of which nothing can be unwound); then 17
 * registers of 8 bytes (rip first) when interrupted; then patches: 4 bytes offset in the image, 8
 * bytes value. */
#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/chunk_x86_64.h"
#include "hotspot/method_text.h"
#include "hotspot/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define BASE ((uintptr_t)0x200000000000)

/* Places in the image. */
enum {
    THREAD = 0x0000,
    HEAP = 0x1000,
    SEGMAP = 0x2000,
    OBJECTS = 0x3000, /* a virtual thread, its continuation, a stack chunk */
    META = 0x4000,
    DEBUG_INFO = 0x8000,
    CODE = 0x10000,
    STACK = 0x20000,
    IMAGE = 0x24000,
};

enum { SEGMENT_SHIFT = 7, BLOCK = 16, HEADER = 192, ANCHOR_SP = STACK + 0x3000 };
enum { CODE_BYTES = 128, CALL_AT = 37 };

static uint8_t clean[2][IMAGE];
static struct walker *walkers[2];

/* --- the layout ------------------------------------------------------------------------------- */

static const struct layout common = {
    .anchor = 0x100,
    .stack_base = 0x200,
    .stack_size = 0x208,
    .vframe_array_head = 0x210,
    .thread_state = 0x220,
    .states = {.with = {[THREAD_FRESH] = 3u << 2,
                        [THREAD_WALKABLE] = 0xffu << 4,
                        [THREAD_IN_NATIVE] = 1u << 4,
                        [THREAD_IN_JAVA] = 3u << 8,
                        [THREAD_BLOCKED] = 3u << 10}},
    .terminated = 0x224,
    .not_terminated = 57003,
    .last_sp = 0,
    .last_pc = 8,
    .last_fp = 16,
    .wrapper_anchor = 32,
    .heap_memory = 0,
    .heap_segmap = 0x40,
    .heap_segment_shift = 0x80,
    .space_low = 16,
    .space_high = 24,
    .block_used = 8,
    .block_size = BLOCK,
    .blob_name = 0,
    .blob_size = 8,
    .blob_frame_size = 12,
    .blob_frame_complete = 16,
    .blob_data_offset = 20,
    .blob_code_begin = -1,
    .blob_code_end = -1,
    .blob_code_offset = 24,
    .blob_kind = -1,
    .blob_mutable_data = 120,
    .blob_mutable_size = 128,
    .blob_relocation_size = 132,
    .nm_method = 48,
    .nm_state = 56,
    .nm_level = 57,
    .nm_compile_id = 60,
    .nm_orig_pc = 64,
    .nm_entry_bci = 68,
    .nm_scopes_pcs = 72,
    .nm_scopes_data = 76,
    .nm_scopes_data_begin = -1,
    .nm_dependencies = -1,
    .nm_metadata = -1,
    .nm_immutable = 104,
    .nm_immutable_size = 112,
    .nm_deopt = 80,
    .nm_deopt_begin = -1,
    .nm_deopt_mh = 84,
    .nm_deopt_mh_begin = -1,
    .nm_verified = 88,
    .nm_verified_entry = -1,
    .nm_osr_entry = 96,
    .pc_desc_size = 16,
    .upcall_frame_data = 100,
    .upcall_anchor = 0,
    .m_const = 8,
    .m_access = 16,
    .m_size = 88,
    .m_intrinsic = 18,
    .cm_constants = 8,
    .cm_flags = 28,
    .cm_code_size = 32,
    .cm_name = 34,
    .cm_signature = 36,
    .cm_idnum = 38,
    .cm_max_locals = 40,
    .cm_total = 24,
    .cm_header = 48,
    .pool_holder = 24,
    .pool_cache = 16,
    .pool_length = 60,
    .pool_header = 72,
    .klass_name = 24,
    .klass_loader_data = 152,
    .klass_constants = 200,
    .symbol_length = 4,
    .symbol_body = 6,
    .has_line_table = 1,
    .first_handle_intrinsic = 341,
    .last_handle_intrinsic = 346,
    .n_heaps = 1,
    .heaps = {BASE + HEAP},
    .major = 25,
};

/* As JDK 17: debug information inside of the code cache, addresses instead of offsets. */
static void make_older(struct layout *l)
{
    l->major = 17;
    l->blob_code_begin = 32;
    l->blob_code_end = 40;
    l->blob_code_offset = -1;
    l->blob_mutable_data = l->blob_mutable_size = l->blob_relocation_size = -1;
    l->nm_immutable = l->nm_immutable_size = l->nm_scopes_data = -1;
    l->nm_scopes_data_begin = 136;
    l->nm_dependencies = 144;
    l->nm_metadata = 148;
    l->nm_deopt = l->nm_deopt_mh = l->nm_verified = -1;
    l->nm_deopt_begin = 152;
    l->nm_deopt_mh_begin = 160;
    l->nm_verified_entry = 168;
    l->upcall_frame_data = l->upcall_anchor = -1;
}

/* --- the image -------------------------------------------------------------------------------- */

static uint8_t *image;

static void put64(uint32_t at, uint64_t v)
{
    memcpy(image + at, &v, sizeof v);
}
static void put32(uint32_t at, uint32_t v)
{
    memcpy(image + at, &v, sizeof v);
}
static void put16(uint32_t at, uint16_t v)
{
    memcpy(image + at, &v, sizeof v);
}

/* A symbol of a text; returns its place. */
static uint32_t add_symbol(uint32_t at, const char *text)
{
    put16(at + 4, (uint16_t)strlen(text));
    memcpy(image + at + 6, text, strlen(text));
    return at;
}

/* A method of 16 bytes of code, with all that hangs on it, in 0x400 bytes at META + n * 0x400. */
static uint64_t add_method(uint32_t n, uint16_t access)
{
    uint32_t at = META + n * 0x400, constants = at + 0x80, pool = at + 0x100, klass = at + 0x200;
    put64(at + 8, BASE + constants);
    put16(at + 16, access);
    put64(constants + 8, BASE + pool);
    put32(constants + 24, 16);
    put32(constants + 28, 1);
    put16(constants + 32, 16);
    put16(constants + 34, 1);
    put16(constants + 36, 2);
    put16(constants + 38, (uint16_t)n);
    memcpy(image + constants + 48 + 16, "\x09\x12\xff\x02\x04\x00", 6); /* lines */
    put64(pool + 16, BASE + at + 0x300);
    put64(pool + 24, BASE + klass);
    put32(pool + 60, 3);
    put64(pool + 72 + 8, BASE + add_symbol(at + 0x320, "name"));
    put64(pool + 72 + 16, BASE + add_symbol(at + 0x340, "()V"));
    put64(klass + 24, BASE + add_symbol(at + 0x360, "a/Class"));
    put64(klass + 152, BASE + at);
    put64(klass + 200, BASE + pool);
    return BASE + at;
}

/* A blob of CODE_BYTES of code in four segments; returns its place. */
static uint32_t add_blob(uint32_t n, const char *name, uint32_t frame_words)
{
    uint32_t block = CODE + n * 0x200, at = block + BLOCK;
    uint32_t text = META + 0x3000 + n * 32;
    strcpy((char *)image + text, name);
    image[block + 8] = 1;
    for (uint32_t i = 0; i < 4; i++)
        image[SEGMAP + (n * 4) + i] = (uint8_t)i;
    put64(at, BASE + text);
    put32(at + 8, 0x200 - BLOCK);
    put32(at + 12, frame_words);
    put32(at + 16, 12);
    put32(at + 20, HEADER + CODE_BYTES);
    put32(at + 24, HEADER);
    put64(at + 32, BASE + at + HEADER);
    put64(at + 40, BASE + at + HEADER + CODE_BYTES);
    return at;
}

/* A compiled method: frame of 4 words, a call that returns to CALL_AT, where method 2 is
 * inlined. */
static uint32_t add_nmethod(uint32_t n, uint64_t method, uint64_t inlined, bool older)
{
    static const uint8_t enter[] = {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe,
                                    0xff, 0x55, 0x48, 0x83, 0xec, 0x10};
    static const uint8_t leave[] = {0x48, 0x83, 0xc4, 0x10, 0x5d, 0x49, 0x3b, 0x67,
                                    0x20, 0x0f, 0x87, 0,    0,    0,    0,    0xc3};
    uint32_t at = add_blob(n, "nmethod", 4), code = at + HEADER;
    uint32_t info = older ? code + CODE_BYTES : DEBUG_INFO + n * 0x100;
    uint8_t x = older ? 0 : 1; /* JDK 20: the digits of UNSIGNED5 begin at 1 */
    memcpy(image + code, enter, sizeof enter);
    memcpy(image + code + 64, leave, sizeof leave);
    image[code + CALL_AT - 5] = 0xe8;
    /* caller, method, bci + 1, locals: none */
    const uint8_t scopes[] = {0,
                              x,
                              (uint8_t)(1 + x),
                              (uint8_t)(6 + x),
                              x,
                              (uint8_t)(1 + x),
                              (uint8_t)(2 + x),
                              (uint8_t)(3 + x),
                              x};
    uint32_t pcs = older ? info + 32 : info, data = older ? info + 16 : info + 48;
    uint32_t metadata = older ? info : info + 64;
    put64(metadata, method);
    put64(metadata + 8, inlined);
    memcpy(image + data, scopes, sizeof scopes);
    put32(pcs, (uint32_t)-1);
    put32(pcs + 16, CALL_AT);
    put32(pcs + 20, 5);
    put32(pcs + 32, INT32_MAX);
    put64(at + 48, method);
    image[at + 57] = 4;
    put32(at + 60, 7 + n);
    put32(at + 64, 8);
    put32(at + 68, (uint32_t)-1);
    put32(at + 72, older ? pcs - at : 0);
    put32(at + 76, 48);
    put32(at + 80, HEADER + 100);
    put64(at + 104, BASE + info);
    put32(at + 112, 64);
    put64(at + 120, BASE + info + 64);
    put32(at + 128, 16);
    put64(at + 136, BASE + data);
    put32(at + 144, pcs + 48 - at);
    put32(at + 148, metadata - at);
    put64(at + 152, BASE + code + 100);
    put64(at + 160, BASE + code + 100);
    put64(at + 168, BASE + code);
    return code;
}

static void add_stack(uint32_t nmethod, uint64_t interpreted, uint32_t interpreter, uint32_t stub)
{
    uint32_t sp = ANCHOR_SP, fp = sp + 0x100, entry = fp + 0x100;
    put64(sp + 16, BASE + fp);               /* the compiled frame: saved rbp */
    put64(sp + 24, BASE + interpreter + 64); /* its return address */
    put64(fp, BASE + entry);                 /* the interpreted frame */
    put64(fp + 8, BASE + stub + 64);
    put64(fp - 8, BASE + fp + 32);
    put64(fp - 24, interpreted);
    put64(fp - 48, interpreted + 0x300);
    put64(fp - 64, interpreted + 0x80 + 48 + 5);
    put64(entry - 48,
          BASE + entry + 0x40); /* the entry frame: its JavaCallWrapper, without an anchor */
    put64(THREAD + 0x100, BASE + sp);
    put64(THREAD + 0x108, BASE + nmethod + CALL_AT);
    put64(THREAD + 0x200, BASE + IMAGE);
    put64(THREAD + 0x208, IMAGE - STACK);
    put32(THREAD + 0x220, 8);
    put32(THREAD + 0x224, 57003);
}

/* Places of, and in, objects. */
enum {
    HANDLE = THREAD + 0x400,
    STOPPED = THREAD + 0x500,
    VTHREAD = OBJECTS + 0x10,
    CONT = OBJECTS + 0x80,
    CHUNK = OBJECTS + 0x100,
    FIELD = 16,
};

static const struct chunks chunks = {
    .fields = {.cont = FIELD,
               .tail = FIELD,
               .parent = 8,
               .size = 16,
               .sp = 20,
               .bottom = 24,
               .stack = 32},
    .vthread = HANDLE,
    .oops = {.known = true, .stopped = BASE + STOPPED, .pauses = BASE + STOPPED + 4},
};

/* A compiled frame that was not thawed. */
static void add_chunk(uint32_t nmethod)
{
    enum { SP = 2, FRAME_WORDS = 4 };
    put64(HANDLE, BASE + OBJECTS);
    put64(OBJECTS, BASE + VTHREAD);
    put64(VTHREAD + FIELD, BASE + CONT);
    put64(CONT + FIELD, BASE + CHUNK);
    put32(CHUNK + 16, SP + FRAME_WORDS);
    put32(CHUNK + 20, SP);
    put32(CHUNK + 24, SP + FRAME_WORDS);
    put64(CHUNK + 32 + (SP - 1) * 8, BASE + nmethod + CALL_AT);
}

static void make(int older)
{
    struct layout l = common;
    if (older)
        make_older(&l);
    put64(HEAP + 16, BASE + CODE);
    put64(HEAP + 24, BASE + CODE + 0x8000);
    put64(HEAP + 0x40 + 16, BASE + SEGMAP);
    put32(HEAP + 0x80, SEGMENT_SHIFT);
    memset(image + SEGMAP, 0xff, 0x100);
    uint64_t a = add_method(0, 1), b = add_method(1, 1), i = add_method(2, 1);
    uint32_t stub = add_blob(0, "StubRoutines (1)", 0) + HEADER;
    uint32_t interpreter = add_blob(1, "Interpreter", 0) + HEADER;
    uint32_t nmethod = add_nmethod(2, a, b, older);
    add_nmethod(3, b, a, older);
    add_blob(4, "_new_instance_Java", 4);
    add_blob(5, "I2C/C2I adapters", 0);
    add_blob(6, "vtable chunks", 0);
    add_blob(7, "native nmethod", 6);
    add_blob(8, "UncommonTrapBlob", 4);
    add_blob(9, "StubRoutines (continuation stubs)", 0);
    add_stack(nmethod, i, interpreter, stub);
    add_chunk(nmethod);
    l.call_stub_return = BASE + stub + 64;
    l.interpreter_begin = BASE + interpreter;
    l.interpreter_end = BASE + interpreter + CODE_BYTES;
    uintptr_t begin = l.interpreter_begin;
    struct interpreter in = {.entries = {{begin, begin + 32, begin + 8}},
                             .exits = {{begin + 40, begin + 41, begin + 43, begin + 46, 13, 3}},
                             .n_entries = 1,
                             .n_exits = 1};
    if (walker_new(&walkers[older], &l, &in) < 0)
        abort();
    if (!older)
        walker_use_chunks(walkers[older], &chunks);
    memcpy(clean[older], image, IMAGE);
    memset(image, 0, IMAGE);
}

/* The interpreted frame returns to the return barrier: what is below was not thawed. */
static void check_chunk(void)
{
    struct walk_frame f[8];
    struct walk w = {.frames = f, .max = ARRAY_LEN(f)};
    memcpy(image, clean[0], IMAGE);
    put64(ANCHOR_SP + 0x100 + 8, BASE + CODE + 9 * 0x200 + BLOCK + HEADER + 8);
    if (walk(walkers[0], BASE + THREAD, NULL, &w) != 5 || !(w.flags & WALK_FROM_HEAP) ||
        f[4].kind != WALK_COMPILED)
        abort();
    image[STOPPED] = 1; /* a collector is at work */
    if (walk(walkers[0], BASE + THREAD, NULL, &w) != 3 || !(w.flags & WALK_CUT_UNTHAWED))
        abort();
}

static void check_clean(int older)
{
    struct walk_frame f[8];
    struct walk w = {.frames = f, .max = ARRAY_LEN(f)};
    memcpy(image, clean[older], IMAGE);
    for (int i = 0; i < 2; i++) /* decoded, then remembered */
        if (walk(walkers[older], BASE + THREAD, NULL, &w) != 3 || f[0].kind != WALK_INLINED ||
            f[0].bci != 2 || f[1].kind != WALK_COMPILED || f[1].bci != 5 ||
            f[2].kind != WALK_INTERPRETED || f[2].bci != 5)
            abort();
}

/* --- the target ------------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void prepare(void)
{
    if (image)
        return;
    struct err err;
    image = mmap((void *)BASE, IMAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (image != (uint8_t *)BASE || guarded_open(&err) < 0)
        abort();
    for (int older = 0; older < 2; older++) {
        make(older);
        check_clean(older);
    }
    check_chunk();
}

static bool take(const uint8_t **data, size_t *size, void *to, size_t n)
{
    if (*size < n)
        return false;
    memcpy(to, *data, n);
    *data += n;
    *size -= n;
    return true;
}

static void check_result(const struct walker *walker, const struct walk *w, int rc)
{
    char text[512];
    struct method_text t;
    if (rc > w->max || rc < WALK_THREAD_NOT_JAVA)
        abort();
    for (int i = 0; i < rc; i++) {
        const struct walk_frame *f = &w->frames[i];
        if (f->kind < WALK_INTERPRETED || f->kind > WALK_STUB || f->bci < -1 ||
            f->bci > UINT16_MAX || (f->method == 0) != (f->kind == WALK_STUB))
            abort();
        struct method_lines lines = {0};
        if (f->method && method_describe(walker, f->method, text, sizeof text, &t) == 0)
            while (method_lines_next(walker, &t, &lines))
                ;
    }
}

/* --- a walk that gives its frames away (walk.take) -------------------------------------------- */

enum { ALL = 1024 };

static struct walk_frame given[ALL];
static int n_given;

static bool give(struct walk *w, int32_t n)
{
    if (n <= 0 || n > w->max)
        abort();
    for (int i = 0; i < n && n_given < ALL; i++)
        given[n_given++] = w->frames[i];
    return n_given < ALL;
}

static bool same_frames(const struct walk_frame *a, const struct walk_frame *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i].method != b[i].method || a[i].bci != b[i].bci || a[i].kind != b[i].kind)
            return false;
    return true;
}

/* Through a small buffer it has the same frames as into one that is large enough. */
static void check_taking(const struct walker *walker, uint32_t options, const ucontext_t *context)
{
    static struct walk_frame all[ALL];
    struct walk_frame some[WALK_ROOM + 1];
    struct walk whole = {.frames = all, .max = ALL, .options = options};
    struct walk parts = {.frames = some, .max = ARRAY_LEN(some), .options = options, .take = give};
    n_given = 0;
    int wanted = walk(walker, BASE + THREAD, context, &whole);
    int got = walk(walker, BASE + THREAD, context, &parts);
    if (whole.flags & (WALK_CUT_DEPTH | WALK_FROM_HEAP)) /* the latter are not given away */
        return;
    if (got > n_given)
        give(&parts, got - n_given);
    if (got != wanted || (got > 0 && (n_given != got || !same_frames(all, given, got))))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int order[] = {REG_RIP, REG_RSP, REG_RBP, REG_RAX, REG_RBX, REG_R13,
                                REG_R11, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_R8,
                                REG_R9,  REG_R10, REG_R12, REG_R14, REG_R15};
    uint8_t how;
    uint32_t at;
    uint64_t value;
    ucontext_t context;
    prepare();
    if (!take(&data, &size, &how, sizeof how))
        return 0;
    memcpy(image, clean[how & 1], IMAGE);
    memset(&context, 0, sizeof context);
    for (size_t i = 0; how & 2 && i < ARRAY_LEN(order); i++)
        if (take(&data, &size, &value, sizeof value))
            context.uc_mcontext.gregs[order[i]] = (greg_t)value;
    while (take(&data, &size, &at, sizeof at) && take(&data, &size, &value, sizeof value))
        put64(at % (IMAGE - sizeof value), value);
    struct walk_frame frames[8];
    struct walk w = {.frames = frames,
                     .max = how >> 4 & 7,
                     .options = (how & 4 ? WALK_GUESS_INLINED : 0) |
                                (how & 8 ? WALK_WITH_STUBS : 0) |
                                (how & 128 ? WALK_WITH_NATIVE : 0)};
    int rc = walk(walkers[how & 1], BASE + THREAD, how & 2 ? &context : NULL, &w);
    check_result(walkers[how & 1], &w, rc);
    check_taking(walkers[how & 1], w.options, how & 2 ? &context : NULL);
    return 0;
}
