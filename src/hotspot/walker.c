#include "hotspot/walker.h"

#include "hotspot/native_x86_64.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define WORD sizeof(uintptr_t)

struct walker {
    struct layout layout;
    struct interpreter interpreter;
    struct pc_cache *cache;
    struct method_cache *methods;
    struct unwinder *unwinder;
    _Atomic(const struct chunks *) chunks; /* NULL: not known */
};

const struct layout *walker_layout(const struct walker *w)
{
    return &w->layout;
}

const struct method_cache *walker_methods(const struct walker *w)
{
    return w->methods;
}

const struct chunks *walker_chunks(const struct walker *w)
{
    /* acquire: pairs with walker_use_chunks */
    return atomic_load_explicit(&w->chunks, memory_order_acquire);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int check_code(struct layout *l, struct err *err)
{
    struct blob b;
    bool ok = codecache_find(l, l->call_stub_return, &b) && b.kind == BLOB_STUBS &&
              codecache_find(l, l->interpreter_begin, &b) && l->interpreter_end <= b.code_end;
    if (!ok)
        return err_set(err, -ENOTSUP, "no stack walks: the code cache is not laid out as expected");
    l->entry_saves = native_entry_saves(l->call_stub_return);
    return 0;
}

int walker_new(struct walker **out, const struct layout *l, const struct interpreter *in)
{
    struct walker *w = calloc(1, sizeof *w);
    *out = w;
    if (!w)
        return -ENOMEM;
    w->layout = *l;
    w->interpreter = *in;
    if (pc_cache_new(&w->cache) < 0 || method_cache_new(&w->methods) < 0) {
        pc_cache_free(w->cache);
        free(w);
        *out = NULL;
        return -ENOMEM;
    }
    return 0;
}

int walker_open(struct walker **out, const struct vmstructs *vs, struct err *err)
{
    struct layout l;
    struct interpreter in;
    *out = NULL;
    TRY(guarded_open(err));
    TRY(layout_read(&l, vs, err));
    TRY(check_code(&l, err));
    TRY(interpreter_open(&in, &l, err));
    struct unwinder *unwinder;
    TRY(unwinder_new(&unwinder, err));
    struct walker *w; /* *out, which others may look at, is set when all of it is there */
    int rc = walker_new(&w, &l, &in);
    if (rc < 0) {
        unwinder_free(unwinder);
        return err_set(err, rc, "out of memory");
    }
    w->unwinder = unwinder;
    *out = w;
    return 0;
}

void walker_use_chunks(struct walker *w, const struct chunks *chunks)
{
    /* release: who sees it sees what it points to */
    atomic_store_explicit(&w->chunks, chunks, memory_order_release);
}

void walker_close(struct walker *w)
{
    if (w) {
        pc_cache_free(w->cache);
        method_cache_free(w->methods);
        unwinder_free(w->unwinder);
    }
    free(w);
}

struct libraries *walker_libraries(const struct walker *w)
{
    return unwinder_libraries(w->unwinder);
}

const char *walk_error_text(int error)
{
    switch (error) {
    case WALK_NO_JAVA_FRAME:
        return "no Java frame";
    case WALK_UNKNOWN_NOT_JAVA:
        return "outside Java; where the thread left Java is unknown";
    case WALK_NOT_WALKABLE_NOT_JAVA:
        return "outside Java, inconsistent frames";
    case WALK_UNKNOWN_JAVA:
        return "in Java, in code without a describable frame";
    case WALK_NOT_WALKABLE_JAVA:
        return "in Java, inconsistent frames";
    case WALK_UNKNOWN_STATE:
        return "the thread is in an unknown state";
    case WALK_THREAD_EXIT:
        return "the thread is ending";
    case WALK_DEOPT:
        return "frames are being replaced";
    case WALK_THREAD_NOT_JAVA:
        return "not a Java thread";
    default:
        return "unknown error";
    }
}

/* --- what is known of a thread, of a pc ------------------------------------------------------- */

static bool read_stack(const struct layout *l, uintptr_t java_thread, uintptr_t *low,
                       uintptr_t *high)
{
    uintptr_t size;
    if (!guarded_word(java_thread + (uintptr_t)l->stack_base, high) ||
        !guarded_word(java_thread + (uintptr_t)l->stack_size, &size) || size > *high)
        return false;
    *low = *high - size;
    return true;
}

bool walker_stack(const struct walker *w, uintptr_t java_thread, uintptr_t *low, uintptr_t *high)
{
    return read_stack(&w->layout, java_thread, low, high);
}

void walker_stub_name(const struct walker *w, uintptr_t pc, char *out, size_t n)
{
    struct blob b;
    uintptr_t text;
    size_t len = 0;
    if (in_interpreter(&w->layout, pc)) {
        static const char name[] = "Interpreter";
        len = sizeof name - 1 < n - 1 ? sizeof name - 1 : n - 1;
        memcpy(out, name, len);
    } else if (codecache_find(&w->layout, pc, &b) && b.kind != BLOB_NMETHOD &&
               guarded_word(b.at + (uintptr_t)w->layout.blob_name, &text)) {
        while (len < n - 1 && guarded_u8(text + len, (uint8_t *)out + len) && out[len])
            len++;
    }
    out[len] = '\0';
}

/* --- a walk ----------------------------------------------------------------------------------- */

/* The registers by their numbers in instructions, as the kernel orders them. */
static void read_registers(const void *ucontext, struct interpreter_registers *regs,
                           struct cursor *c)
{
    static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};
    const greg_t *g = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        regs->by_number[i] = (uintptr_t)g[order[i]];
    *c = (struct cursor){(uintptr_t)g[REG_RIP], (uintptr_t)g[REG_RSP], (uintptr_t)g[REG_RBP]};
}

/* 0: go on. */
static int check_thread(struct run *r)
{
    const struct layout *l = r->l;
    uintptr_t vframes;
    uint32_t state;
    int32_t terminated;
    if (!read_stack(l, r->thread, &r->s.low, &r->s.high) ||
        !guarded_u32(r->thread + (uintptr_t)l->thread_state, &state) ||
        !guarded_i32(r->thread + (uintptr_t)l->terminated, &terminated) ||
        !guarded_word(r->thread + (uintptr_t)l->vframe_array_head, &vframes) || !r->s.high)
        return WALK_THREAD_NOT_JAVA;
    if (terminated != l->not_terminated)
        return WALK_THREAD_EXIT;
    if (!thread_state_is(&l->states, THREAD_WALKABLE, state))
        return WALK_UNKNOWN_STATE;
    r->in_java = thread_state_is(&l->states, THREAD_IN_JAVA, state);
    return vframes ? WALK_DEOPT : 0;
}

static bool read_anchor(const struct run *r, struct cursor *c)
{
    uintptr_t at = r->thread + (uintptr_t)r->l->anchor;
    return guarded_word(at + (uintptr_t)r->l->last_sp, &c->sp) &&
           guarded_word(at + (uintptr_t)r->l->last_pc, &c->pc) &&
           guarded_word(at + (uintptr_t)r->l->last_fp, &c->fp);
}

static int from_anchor(struct run *r, struct cursor *c)
{
    if (c->sp <= r->s.low || c->sp >= r->s.high)
        return WALK_UNKNOWN_NOT_JAVA;
    r->s.low = c->sp - WORD;
    trail_begin(r->out->trail, c->sp, c->pc);
    r->fp_told = true;
    if (!c->pc || in_interpreter(r->l, c->pc) || c->pc == r->l->call_stub_return ||
        r->out->options & WALK_WITH_NATIVE)
        trail_break(r->out->trail);
    if (!c->pc && !stack_word(&r->s, r->s.low, &c->pc))
        return WALK_UNKNOWN_NOT_JAVA;
    return run_all(r, c, PC_EXACT, true, WALK_NOT_WALKABLE_NOT_JAVA);
}

/* In C, outside of Java, or with Java's youngest frame known: the frames of C come first. */
static int from_native(struct run *r, struct cursor *anchor, const struct cursor *c,
                       const struct interpreter_registers *regs)
{
    bool wanted = r->out->options & WALK_WITH_NATIVE && r->unwinder;
    if (wanted) {
        struct unwind_frame f;
        native_from_registers(regs, c->pc, &f);
        enum native_end end = native_frames(r, &f, anchor->sp ? anchor->sp : r->s.high);
        if (end == NATIVE_FULL)
            return r->n;
        if (end != (anchor->sp ? NATIVE_GENERATED : NATIVE_BOTTOM))
            r->out->flags |= WALK_CUT_NATIVE;
    }
    return anchor->sp ? from_anchor(r, anchor) : r->n;
}

static int from_context(struct run *r, struct cursor *anchor, const void *ucontext)
{
    struct interpreter_registers regs;
    struct cursor c;
    read_registers(ucontext, &regs, &c);
    if (c.sp < r->s.low || c.sp >= r->s.high)
        return WALK_UNKNOWN_STATE; /* not on the thread's own stack */
    bool generated = codecache_contains(r->l, c.pc);
    if (!generated && (anchor->sp || !r->in_java))
        return from_native(r, anchor, &c, &regs);
    /* An anchor without a pc is finished by the call that follows, except in the interpreter, which
     * has pushed a return address before.  Outside of Java it is: C may call a stub. */
    if (anchor->sp && (anchor->pc || !r->in_java || in_interpreter(r->l, c.pc)))
        return from_anchor(r, anchor);
    r->s.low = c.sp;
    return run_interrupted(r, &c, &regs, generated);
}

bool trail_here(const struct walker *w, uintptr_t java_thread, struct trail_anchor *out)
{
    struct run r = {.l = &w->layout, .thread = java_thread};
    struct cursor anchor;
    if (check_thread(&r) != 0 || !read_anchor(&r, &anchor))
        return false;
    *out = (struct trail_anchor){anchor.sp, anchor.pc};
    return anchor.sp > r.s.low && anchor.sp < r.s.high && anchor.pc;
}

int walk(const struct walker *w, uintptr_t java_thread, const void *ucontext, struct walk *out)
{
    struct run r = {.l = &w->layout,
                    .in = &w->interpreter,
                    .cache = out->options & WALK_UNCACHED ? NULL : w->cache,
                    .methods = out->options & WALK_UNCACHED ? NULL : w->methods,
                    .unwinder = w->unwinder,
                    .chunks = walker_chunks(w),
                    .out = out,
                    .thread = java_thread};
    struct cursor anchor;
    out->flags = 0;
    int rc = check_thread(&r);
    if (rc != 0)
        return rc;
    out->flags |= r.in_java ? WALK_RUNS_JAVA : 0;
    if (!read_anchor(&r, &anchor))
        return WALK_THREAD_NOT_JAVA;
    if (ucontext)
        rc = from_context(&r, &anchor, ucontext);
    else
        rc = anchor.sp ? from_anchor(&r, &anchor) : WALK_NO_JAVA_FRAME;
    if (rc > 0 && ucontext) /* else each is, when it is found */
        run_stamp(&r, 0);
    return rc >= 0 ? rc + r.taken : rc;
}

int walk_native(const struct walker *w, const void *ucontext, struct walk *out)
{
    struct run r = {.l = &w->layout, .unwinder = w->unwinder, .out = out, .s.high = UINTPTR_MAX};
    struct unwind_frame f;
    uint32_t options = out->options;
    out->flags = 0;
    out->options |= WALK_WITH_NATIVE;
    unwind_context(ucontext, &f);
    enum native_end end = native_frames(&r, &f, UINTPTR_MAX);
    out->options = options;
    if (end != NATIVE_BOTTOM && end != NATIVE_FULL)
        out->flags |= WALK_CUT_NATIVE;
    return r.n;
}
