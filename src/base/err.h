/* err.h - the one error idiom: a function that can fail returns 0 (or a count) or a negative errno
 * and, when it fails, leaves one sentence for a human in the caller's struct err.  err may be NULL.
 *
 * No heap, no thread-local storage: usable inside the JVM.  Not async-signal-safe (vsnprintf). */
#ifndef ORCA_BASE_ERR_H
#define ORCA_BASE_ERR_H

#include <errno.h>

struct err {
    char msg[512];
};

/* Replace the message.  Returns `code`, which is a negative errno. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put "<text>: " before the message that is already there.  Returns `code`. */
int err_prefix(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        int try_rc_ = (expr);                                                                      \
        if (try_rc_ < 0)                                                                           \
            return try_rc_;                                                                        \
    } while (0)

#endif
