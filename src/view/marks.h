/* marks.h - what threads did that no wait and no arrow shows: calls of the program's tracked
 * methods, and notifies that woke no thread. */
#ifndef ORCA_VIEW_MARKS_H
#define ORCA_VIEW_MARKS_H

#include "view/view_parts.h"

enum mark_what { MARK_CALL, MARK_NOTIFY, MARK_NOTIFY_ALL, MARK_KINDS };

/* "call", "notify", "notify-all". */
extern const char *const mark_names[MARK_KINDS];

struct thread_mark {
    uint64_t from, to;    /* to == from: a moment, or the end is not known */
    uint32_t thread, act; /* which act of which thread: its name in the protocol */
    uint8_t what;
    uint8_t flags; /* CALLED_*, of calls */
};

/* All of them, by their beginning; made when they are first asked for.  NULL: memory is out. */
const struct marks *marks_get(struct view *v);

/* The mark of an act of a thread; false: that is none. */
bool mark_of(const struct view *v, uint32_t thread, uint32_t act, struct thread_mark *out);

/* Negative: stop, and return it. */
typedef int mark_visitor(void *self, const struct thread_mark *m);

/* Those of a selection's threads that touch its range, latest beginning first. */
int marks_visit(const struct marks *m, const struct selection *s, mark_visitor *visit, void *self);

/* What it was about. */
static inline const struct context *mark_context(const struct analysis *a,
                                                 const struct thread_mark *m)
{
    const struct timeline *t = &a->timeline;
    return timeline_context(t, line_act(&t->lines[m->thread], m->act)->context);
}

#endif
