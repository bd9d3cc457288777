#include "hotspot/pc_cache.h"

#include "base/guarded.h"
#include "base/versioned.h"
#include "hotspot/methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 4096, LINE = 64 };

/* Words, so that each is read and written whole.  Most have one frame: one cache line. */
struct entry {
    _Alignas(LINE) _Atomic uint64_t version;
    _Atomic uint64_t pc;
    _Atomic uint64_t blob;
    _Atomic uint64_t method;
    _Atomic uint64_t about; /* compile_id << 32 | frame_words << 16 | n */
    struct {
        _Atomic uint64_t method, stamp, tail; /* tail: bci, kind and level as walk_frame has them */
    } frames[PC_CACHE_FRAMES];
};

enum { WORDS_MAX = UINT16_MAX };

struct pc_cache {
    struct entry entries[ENTRIES];
};

int pc_cache_new(struct pc_cache **out)
{
    *out = aligned_alloc(LINE, sizeof **out);
    if (!*out)
        return -ENOMEM;
    memset(*out, 0, sizeof **out);
    return 0;
}

void pc_cache_free(struct pc_cache *c)
{
    free(c);
}

static size_t slot(uintptr_t pc)
{
    return (pc * 0x9e3779b97f4a7c15u) >> 52;
}

_Static_assert(ENTRIES == 1 << 12, "slot() gives 12 bits");

_Static_assert(offsetof(struct walk_frame, bci) + sizeof(uint64_t) == sizeof(struct walk_frame),
               "bci, kind and level are the last word");

static void *tail_of(struct walk_frame *f)
{
    return (char *)f + offsetof(struct walk_frame, bci);
}

static void read_frames(const struct entry *e, int32_t n, uintptr_t pc, struct walk_frame *out)
{
    for (int32_t i = 0; i < n; i++) {
        uint64_t tail = versioned_get(&e->frames[i].tail);
        out[i].method = versioned_get(&e->frames[i].method);
        out[i].pc = pc;
        out[i].stamp = versioned_get(&e->frames[i].stamp);
        memcpy(tail_of(&out[i]), &tail, sizeof tail);
    }
}

/* A physical frame: its size, and whose it is. */
struct found {
    uint32_t words;
    struct trail_code code;
};

/* The frames behind `pc`; 0: not there, or no room. */
static inline int32_t find(const struct pc_cache *c, const struct layout *l, uintptr_t pc,
                           struct walk_frame *out, int32_t room, struct found *found)
{
    const struct entry *e = &c->entries[slot(pc)];
    uint64_t before = versioned_begin(&e->version);
    if (before & 1 || versioned_get(&e->pc) != pc)
        return 0;
    uint64_t about = versioned_get(&e->about);
    *found = (struct found){
        (uint16_t)(about >> 16),
        {versioned_get(&e->blob), versioned_get(&e->method), (uint32_t)(about >> 32)}};
    int32_t n = (uint16_t)about;
    if (n > room)
        return 0;
    read_frames(e, n, pc, out);
    const struct trail_code *code = &found->code;
    return versioned_is(&e->version, before) &&
                   nmethod_is(l, code->blob, code->method, code->compile_id)
               ? n
               : 0;
}

/* Of a walk that wanted them, and as they are now: one that does not last may have become
 * another. */
static bool have_stamps(const struct layout *l, const struct walk_frame *frames, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!(frames[i].stamp & METHOD_STAMP_LASTS) &&
            (!frames[i].stamp || method_stamp_at(l, frames[i].method) != frames[i].stamp))
            return false;
    return true;
}

int32_t pc_cache_walk(const struct pc_cache *c, const struct layout *l, const struct stack *s,
                      struct cursor *at, const struct pc_cache_room *room, bool *vm)
{
    uintptr_t pc = at->pc, sp = at->sp, next = 0;
    struct walk_frame *out = room->frames, *end = out + room->n;
    struct found found = {0, {0, 0, 0}};
    for (;;) {
        int32_t n = find(c, l, pc, out, (int32_t)(end - out), &found);
        if (n <= 0 || found.words < 2 || (out->kind == WALK_NATIVE && !*vm) ||
            (room->stamps && !have_stamps(l, out, n)))
            break;
        uintptr_t above = sp + found.words * sizeof(uintptr_t);
        if (above > s->high || !stack_slot(s, above, -1, &next))
            break;
        trail_put_code(room->trail, found.code.blob, found.code.method, found.code.compile_id);
        trail_put_word(room->trail, above - sizeof(uintptr_t), next);
        *vm = false;
        out += n;
        pc = next;
        sp = above;
    }
    if (out == room->frames || !stack_link(s, sp, -2, &at->fp))
        return 0;
    at->pc = pc;
    at->sp = sp;
    return (int32_t)(out - room->frames);
}

void pc_cache_put(struct pc_cache *c, const struct nmethod *nm, uintptr_t pc,
                  const struct walk_frame *frames, int32_t n)
{
    struct entry *e = &c->entries[slot(pc)];
    uint64_t before;
    if (n < 1 || n > PC_CACHE_FRAMES || nm->blob.frame_words > WORDS_MAX ||
        !versioned_take(&e->version, &before))
        return;
    versioned_put(&e->pc, pc);
    versioned_put(&e->blob, nm->blob.at);
    versioned_put(&e->method, nm->method);
    versioned_put(&e->about, (uint64_t)(uint32_t)nm->compile_id << 32 |
                                 (uint64_t)(uint32_t)nm->blob.frame_words << 16 | (uint64_t)n);
    for (int32_t i = 0; i < n; i++) {
        versioned_put(&e->frames[i].method, frames[i].method);
        versioned_put(&e->frames[i].stamp, frames[i].stamp);
        struct walk_frame f = frames[i];
        uint64_t tail;
        memcpy(&tail, tail_of(&f), sizeof tail);
        versioned_put(&e->frames[i].tail, tail);
    }
    versioned_give(&e->version, before);
}
