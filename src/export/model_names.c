#include "export/model_names.h"

#include "analyze/labels.h"
#include "base/utf8.h"

/* Bytes: a class file's names have up to 65,535. */
enum { NAME_MAX_LEN = 2 * 65536 };

void names_thread(struct buf *b, const struct analysis *a, uint32_t thread)
{
    char name[NAME_MAX_LEN];
    label_thread(&a->threads, a->trace, thread, name, sizeof name);
    utf8_put(b, name);
}

void names_class(struct buf *b, const struct analysis *a, uint32_t group)
{
    char name[NAME_MAX_LEN];
    label_class(a->locks.groups[group].signature, name, sizeof name);
    utf8_put(b, name);
}

void names_class_id(struct buf *b, const struct analysis *a, class_id class_)
{
    char name[NAME_MAX_LEN];
    label_class(trace_class(a->trace, class_)->signature, name, sizeof name);
    utf8_put(b, name);
}

void names_wait(struct buf *b, const struct analysis *a, unsigned state, uint32_t group)
{
    /* Whether what is waited for belongs to the words, also when it is not known. */
    static const struct {
        const char *words;
        bool always;
    } states[STATE_LIMIT] = {
        [STATE_BLOCKED] = {"blocked on ", true}, [STATE_WAITING] = {"waiting on ", true},
        [STATE_PARKED] = {"parked", false},      [STATE_JOINING] = {"joining", false},
        [STATE_SLEEPING] = {"sleeping", false},  [STATE_REACQUIRING] = {"reacquiring ", true},
    };
    buf_puts(b, states[state].words);
    if (state == STATE_PARKED && group)
        buf_puts(b, " for ");
    if (states[state].always || (state == STATE_PARKED && group))
        names_class(b, a, group);
}

void names_halt(struct buf *b, const struct analysis *a, unsigned what, uint32_t group)
{
    buf_puts(b, what ? halt_name(what) : "input or output");
    if (group) {
        buf_putc(b, ' ');
        names_class(b, a, group);
    }
}

void names_method(struct buf *b, const struct trace *t, method_id method)
{
    char name[NAME_MAX_LEN];
    label_method(t, method, name, sizeof name);
    utf8_put(b, name);
}

static void put_place(struct buf *b, const struct trace *t, struct place p)
{
    char line[NAME_MAX_LEN];
    label_line(t, p, line, sizeof line);
    buf_putc(b, '(');
    utf8_put(b, *line ? line : "?");
    buf_putc(b, ')');
}

void names_stack(struct buf *b, const struct trace *t, const struct trace_stack *s)
{
    for (uint32_t i = 0; i < s->n_frames; i++) {
        if (i)
            buf_putc(b, '\n');
        names_method(b, t, s->frames[i].method);
        put_place(b, t, sites_frame(t, s, i));
    }
    if (s->flags & STACK_TRUNCATED)
        buf_puts(b, "\n...");
}
