/* top_text.h - the lines of orca top that are no table: what stands above, and what a thread or a
 * lock is about when one drills in.  For the screen and for the batch output alike. */
#ifndef ORCA_CLI_TOP_TEXT_H
#define ORCA_CLI_TOP_TEXT_H

#include "cli/top_rows.h"

enum top_style { TOP_PLAIN, TOP_BOLD, TOP_FAINT, TOP_WARNING, TOP_ALARM, TOP_STYLES };

struct top_text {
    struct buf b; /* lines: a byte of enum top_style, the text, its NUL */
    size_t n;
};

void top_text_fini(struct top_text *t);
void top_text_add(struct top_text *t, enum top_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The next line from *at, 0 at first; NULL: that was the last one. */
const char *top_text_next(const struct top_text *t, size_t *at, enum top_style *style);

/* JVM, rates, what the recording costs; then what is to be said: deadlocks, an end, losses. */
void top_head(const struct top_view *v, struct top_text *out);

/* Everything about one thread, or lock; that it is gone when it is. */
void top_about_thread(const struct top_view *v, thread_id id, struct top_text *out);
void top_about_lock(const struct top_view *v, lock_id id, struct top_text *out);

/* The keys. */
void top_help(struct top_text *out);

#endif
