/* serve.h - the server of orca view: pages and answers about traces, on 127.0.0.1.
 *
 *     serve_open(&s, &config, &err); serve_add(s, &what, &err);
 *     for (each second) serve_tick(s);
 *     serve_close(s);
 *
 * lobby.c, greeting.c, crowd.c, peers.c   connections, until their first request is complete
 * http.c       requests          gate.c, query.c, routes.c   what is asked, and by whom
 * traces.c, heaps.c   what is open   api.c, page.c, start.c      the answers
 * live_events.c, news.c          what is sent unasked; jobs.c: what takes long */
#ifndef ORCA_SERVE_SERVE_H
#define ORCA_SERVE_SERVE_H

#include "serve/hooks.h"

#include <stddef.h>

struct serve;

struct serve_config {
    unsigned port; /* 0: a free one */
    bool start;    /* a start page is offered */
    struct serve_hooks hooks;
};

/* Begin to listen. */
int serve_open(struct serve **out, const struct serve_config *config, struct err *err);

/* "http://127.0.0.1:PORT/?token=...": good once. */
const char *serve_url(const struct serve *s);

/* A page that enters by itself, with a token of its own and no address that has it: to be read from
 * a file that no other user can read.  at: the address's fragment, with its #, or "".  Good once,
 * until serve_form_end. */
void serve_form(const struct serve *s, const char *at, struct buf *out);
void serve_form_end(struct serve *s);

/* Whether it is no longer good. */
bool serve_form_used(const struct serve *s);

/* Show a trace or a heap dump; it is the server's from now on, also on failure. */
int serve_add(struct serve *s, const struct serve_opened *what, struct err *err);

/* Once a second, by one thread. */
void serve_tick(struct serve *s);

/* Time without a request; 0 while a page is open. */
uint64_t serve_idle_ns(struct serve *s);

/* Waits for no analysis and no long answer. */
void serve_close(struct serve *s);

#endif
