/* traces.h - the traces that the server has open, each with a number K and its generations.
 *
 * A thread of each trace reads and analyses it, and again when it has grown.  The newest generation
 * and the one before it can be asked; each is counted, and freed when the last answer from it is
 * done:
 *     next reading's start >= last one's start + 4 * what that one took, and >= 1 s
 *
 * The first generation's number is random, so that a browser never uses a cached answer of another
 * server at the same port.  All functions: any thread. */
#ifndef ORCA_SERVE_TRACES_H
#define ORCA_SERVE_TRACES_H

#include "base/err.h"
#include "serve/hooks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACES_MAX = 16 };

struct open_trace;
struct generation;

struct traces {
    pthread_mutex_t lock; /* of everything below, and of what is in an open_trace */
    pthread_cond_t stop;
    bool stopping;
    struct open_trace *v[TRACES_MAX]; /* K is the place plus 1 */
    size_t n;
    void (*changed)(void *ctx); /* something is to be reported; called without the lock */
    void *ctx;
};

int traces_init(struct traces *t, void (*changed)(void *ctx), void *ctx, struct err *err);

/* Waits for no analysis that goes on: true then, and what it uses, the traces included, must
 * stay. */
bool traces_fini(struct traces *t);

/* Takes the source over, also on failure, and begins to read it.  *k: its number; a trace that is
 * open already keeps the one that it has.  -EMFILE, -ENOMEM, -EAGAIN (no thread). */
int traces_add(struct traces *t, struct serve_source *source, uint32_t *k, struct err *err);

/* What is known of a trace at a moment. */
struct trace_news {
    uint32_t k, gen; /* 0: not analysed yet */
    char name[256], path[4096];
    bool reading; /* the first time: phase, done, total */
    char phase[64];
    uint64_t done, total;
    uint32_t live_pid;
    int64_t to;
    bool gone;         /* the file has vanished; what is known stays */
    char error[512];   /* of gone, or why it cannot be read; "" */
    uint64_t revision; /* grows with each change */
};

/* False: there is no such trace. */
bool traces_news(struct traces *t, uint32_t k, struct trace_news *out);
size_t traces_count(struct traces *t);

/* A generation, to be given back; gen 0: the newest.  NULL: *news says what there is instead;
 * news->k is 0 where there is no such trace. */
struct generation *traces_take(struct traces *t, uint32_t k, uint32_t gen, struct trace_news *news);
void traces_give(struct generation *g);
struct view *generation_view(const struct generation *g);

#endif
