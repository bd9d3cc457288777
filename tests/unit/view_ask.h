/* view_ask.h - asking a view, of a trace or of a heap dump, for JSON, for tests: what does not go
 * as it should stops the test. */
#ifndef ORCA_TESTS_VIEW_ASK_H
#define ORCA_TESTS_VIEW_ASK_H

#include "base/buf.h"
#include "view/heap_view.h"
#include "view/view.h"

#include <jansson.h>

/* The answer to a question like "thread=1&index=0"; its parameters are not decoded.  A negative
 * errno, and then nothing was appended. */
int ask_text(struct view *v, const char *answer, const char *question, struct buf *out,
             struct err *err);

/* The answer, which must be there and be JSON; the caller releases it. */
json_t *ask(struct view *v, const char *answer, const char *question);

/* The question must be refused with this error, which says this. */
void ask_refused(struct view *v, const char *answer, const char *question, int rc,
                 const char *says);

/* The last two of a heap dump. */
json_t *ask_heap(struct heap_view *h, const char *answer, const char *question);
void ask_heap_refused(struct heap_view *h, const char *answer, const char *question, int rc,
                      const char *says);

/* "chain.0.text", "threads.name.1": what is there; it must be. */
const json_t *at_path(const json_t *j, const char *path);
int64_t number_at(const json_t *j, const char *path);
const char *text_at(const json_t *j, const char *path);

#endif
