#include "hotspot/chunk_x86_64.h"

#include "base/guarded.h"

#define WORD sizeof(uintptr_t)

bool chunks_thread(const struct chunks *c, uintptr_t java_thread, uintptr_t *thread)
{
    uintptr_t handle;
    return guarded_word(java_thread + (uintptr_t)c->vthread, &handle) &&
           oops_handle(&c->oops, handle, thread) && *thread;
}

static bool look(const struct chunks *c, uintptr_t java_thread, bool first, struct chunk_moment *m)
{
    const struct chunk_fields *f = &c->fields;
    return (!first || oops_count(&c->oops, first, &m->count)) &&
           chunks_thread(c, java_thread, &m->thread) &&
           oops_field(&c->oops, m->thread + (uintptr_t)f->cont, &m->cont) && m->cont &&
           oops_field(&c->oops, m->cont + (uintptr_t)f->tail, &m->tail) && m->tail &&
           (first || oops_count(&c->oops, first, &m->count));
}

static bool is_same(const struct chunk_moment *a, const struct chunk_moment *b)
{
    return a->thread == b->thread && a->cont == b->cont && a->tail == b->tail &&
           a->count == b->count;
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* 1; 0: it has no frames; -1: what is there fits no chunk. */
static int words_of(const struct chunk_fields *f, uintptr_t chunk, struct stack *s,
                    struct cursor *youngest)
{
    enum { WORDS_MAX = 1 << 24, LINK_WORDS = 2 };
    int32_t size, sp, bottom;
    if (!guarded_i32(chunk + (uintptr_t)f->size, &size) ||
        !guarded_i32(chunk + (uintptr_t)f->sp, &sp) ||
        !guarded_i32(chunk + (uintptr_t)f->bottom, &bottom) || size < 0 || size > WORDS_MAX)
        return -1;
    if (bottom < 0 || bottom > size || sp < LINK_WORDS)
        return -1;
    if (sp >= bottom)
        return 0;
    uintptr_t begin = chunk + (uintptr_t)f->stack;
    *youngest = (struct cursor){.sp = begin + (uintptr_t)sp * WORD};
    *s = (struct stack){youngest->sp - LINK_WORDS * WORD, begin + (uintptr_t)bottom * WORD, true};
    return stack_slot(s, youngest->sp, -1, &youngest->pc) &&
                   stack_link(s, youngest->sp, -LINK_WORDS, &youngest->fp)
               ? 1
               : -1;
}

bool chunks_begin(struct chunk_walk *w, const struct chunks *c, uintptr_t java_thread)
{
    *w = (struct chunk_walk){.c = c, .java_thread = java_thread};
    bool known = look(c, java_thread, true, &w->begin);
    w->chunk = w->begin.tail;
    return known;
}

int chunks_next(struct chunk_walk *w, struct stack *s, struct cursor *youngest)
{
    enum { CHUNKS_MAX = 4096 };
    const struct chunk_fields *f = &w->c->fields;
    int rc = 0;
    for (int i = 0; i < CHUNKS_MAX && w->chunk && rc == 0; i++) {
        rc = words_of(f, w->chunk, s, youngest);
        if (rc >= 0 && !oops_field(&w->c->oops, w->chunk + (uintptr_t)f->parent, &w->chunk))
            rc = -1;
    }
    return w->chunk && rc == 0 ? -1 : rc;
}

bool chunks_end(const struct chunk_walk *w)
{
    struct chunk_moment now;
    return look(w->c, w->java_thread, false, &now) && is_same(&w->begin, &now);
}

bool chunks_open(struct chunks *c, const struct vmstructs *vs)
{
    *c = (struct chunks){.vthread = vmstructs_offset(vs, "JavaThread", "_vthread", NULL)};
    oops_open(&c->oops, vs);
    return c->vthread >= 0 && c->oops.known;
}
