#include "export/orca_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAME_TEXT = 18, DEPTH_TEXT = 10 }; /* bytes: ";method;location"; a depth */

int orca_stacks_init(struct orca_stacks *s, const struct trace *t, enum orca_version version)
{
    *s = (struct orca_stacks){
        .trace = t, .separator = orca_separator(version), .room = ORCA_STACKS_BYTES};
    arena_init(&s->arena, 0);
    s->texts = calloc(t->n_stacks + 1, sizeof *s->texts);
    return s->texts ? 0 : -ENOMEM;
}

void orca_stacks_fini(struct orca_stacks *s)
{
    free(s->texts);
    arena_fini(&s->arena);
    *s = (struct orca_stacks){.trace = NULL};
}

/* What is known of a stack; that of stack 0, which has no frames, for ids without one. */
static struct orca_stack_text *text_of(struct orca_stacks *s, const struct trace_stack *stack)
{
    struct orca_stack_text *x = &s->texts[stack->id.v];
    if (!x->known) {
        x->frames = trace_java_frames(s->trace, stack);
        x->known = true;
    }
    return x;
}

uint32_t orca_stacks_frames(struct orca_stacks *s, stack_id id)
{
    return text_of(s, trace_stack(s->trace, id))->frames;
}

static void put_frame(const struct orca_stacks *s, uint8_t *p, struct trace_frame f)
{
    p[0] = (uint8_t)s->separator;
    out_hex8_at(p + 1, f.method.v);
    p[9] = (uint8_t)s->separator;
    /* -1, a native method, is FFFFFFFF */
    const struct trace_method *m = trace_method(s->trace, f.method);
    out_hex8_at(p + 10, f.bci < 0 ? (uint32_t)f.bci : trace_class_file_bci(m, (uint32_t)f.bci));
}

static bool is_java(const struct orca_stacks *s, struct trace_frame f)
{
    return trace_method_is_java(trace_method(s->trace, f.method));
}

/* Keep the text of a stack while there is room. */
static void keep(struct orca_stacks *s, struct orca_stack_text *x, const struct trace_stack *stack)
{
    size_t most = DEPTH_TEXT + (size_t)x->frames * FRAME_TEXT + 1;
    if (most > s->room)
        return;
    char *p = arena_alloc(&s->arena, most);
    if (!p)
        return;
    size_t len = (size_t)snprintf(p, most, "%u", (unsigned)x->frames);
    for (uint32_t i = 0; i < stack->n_frames; i++)
        if (is_java(s, stack->frames[i])) {
            put_frame(s, (uint8_t *)p + len, stack->frames[i]);
            len += FRAME_TEXT;
        }
    x->p = p;
    x->len = (uint32_t)len;
    s->room -= most;
}

static void put_anew(const struct orca_stacks *s, struct out *o, const struct orca_stack_text *x,
                     const struct trace_stack *stack)
{
    out_decimal(o, x->frames);
    for (uint32_t i = 0; i < stack->n_frames; i++)
        if (is_java(s, stack->frames[i])) {
            put_frame(s, out_room(o, FRAME_TEXT), stack->frames[i]);
            o->len += FRAME_TEXT;
        }
}

void orca_stacks_put(struct orca_stacks *s, struct out *o, stack_id id)
{
    const struct trace_stack *stack = trace_stack(s->trace, id);
    struct orca_stack_text *x = text_of(s, stack);
    if (!x->p)
        keep(s, x, stack);
    if (x->p)
        out_bytes(o, x->p, x->len);
    else
        put_anew(s, o, x, stack);
}
