/* heap_threads.c - the answers `threads` and `thread`: stacks, and the objects that frames hold. */
#include "view/heap_parts.h"

#include "base/util.h"

static uint32_t frames_of(const struct thread_seen *t)
{
    return t->trace ? t->trace->n_frames : 0;
}

static json_t *thread_json(const struct heap_view *h, const struct thread_seen *t)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "thread",
                     heap_json_count((uint64_t)(t - h->threads.v)), "name", heap_json_text(t->name),
                     "id", heap_json_id(t->thread->id), "object",
                     t->object == DUMP_NONE ? json_null() : heap_json_count(t->object), "retained",
                     t->object == DUMP_NONE ? json_null() : heap_json_retained(h, t->retained),
                     "frames", heap_json_count(frames_of(t)), "held", heap_json_count(t->n_locals));
}

json_t *heap_answer_threads(struct heap_ask *a, int *rc, struct err *err)
{
    const struct threads_seen *t = &a->h->threads;
    size_t from = min_u64(a->offset, t->n),
           to = min_u64(from + min_u64(a->top, HEAP_TOP_MAX), t->n);
    json_t *list = json_array();
    UNUSED(rc);
    UNUSED(err);
    for (size_t i = from; i < to; i++)
        json_array_append_new(list, thread_json(a->h, &t->v[i]));
    return json_pack("{s:o, s:o, s:o}", "n", heap_json_count(t->n), "offset", heap_json_count(from),
                     "threads", list);
}

/* --- one thread ------------------------------------------------------------------------------- */

struct stack {
    struct heap_ask *a;
    const struct thread_seen *t;
    size_t at;    /* the next one of t->locals */
    size_t given; /* objects in the answer */
};

/* What is held at this depth, {depth, frame, n, holds}; holds are the first of n. */
static json_t *held_json(struct stack *s, uint32_t depth)
{
    const struct thread_seen *t = s->t;
    json_t *list = json_array();
    uint64_t n = 0;
    for (; s->at < t->n_locals && t->locals[s->at].depth == depth; s->at++) {
        const struct frame_local *l = &t->locals[s->at];
        if (n++ >= HEAP_LOCALS_MAX || s->given >= HEAP_TOP_MAX)
            continue;
        json_t *j = heap_json_brief(s->a, l->object);
        json_object_set_new(j, "kind", json_string(heap_root_kind(l->kind)));
        json_array_append_new(list, j);
        s->given++;
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "depth",
                     depth == THREADS_NO_FRAME ? json_null() : heap_json_count(depth), "frame",
                     depth == THREADS_NO_FRAME ? json_null()
                                               : heap_json_frame(s->a->h->d, t->trace, depth),
                     "n", heap_json_count(n), "holds", list);
}

static bool is_shown(const struct stack *s, uint32_t depth, size_t listed)
{
    bool holds = s->at < s->t->n_locals && s->t->locals[s->at].depth == depth;
    return listed < HEAP_FRAMES_MAX && (depth < HEAP_FRAMES_DEFAULT || holds);
}

static void skip_held(struct stack *s, uint32_t depth)
{
    while (s->at < s->t->n_locals && s->t->locals[s->at].depth == depth)
        s->at++;
}

json_t *heap_answer_thread(struct heap_ask *a, int *rc, struct err *err)
{
    struct stack s = {.a = a, .t = &a->h->threads.v[a->thread]};
    uint32_t frames = frames_of(s.t);
    json_t *list = json_array(), *j = thread_json(a->h, s.t);
    UNUSED(rc);
    UNUSED(err);
    for (uint32_t depth = 0; depth < frames; depth++)
        if (is_shown(&s, depth, json_array_size(list)))
            json_array_append_new(list, held_json(&s, depth));
        else
            skip_held(&s, depth);
    json_object_set_new(j, "left_out", heap_json_count(frames - json_array_size(list)));
    json_object_set_new(j, "stack", list);
    json_object_set_new(j, "no_frame", held_json(&s, THREADS_NO_FRAME));
    return j;
}
