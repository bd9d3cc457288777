/* top_names.h - what orca top calls threads, locks, places and times. */
#ifndef ORCA_CLI_TOP_NAMES_H
#define ORCA_CLI_TOP_NAMES_H

#include "analyze/live.h"

enum { TOP_CELL = 512 };

struct top_view;

/* Names fit for the terminal, in buffers of TOP_CELL bytes. */
void top_name_thread(const struct top_view *v, thread_id id, char *out);
void top_name_lock(const struct top_view *v, lock_id id, char *out); /* "Order#5" */
/* A lock of java.util.concurrent parks its threads for a part of it, which is not what anybody
 * calls it: "ReentrantLock$NonfairSync" becomes ReentrantLock. */
void top_cut_sync(char *simple_class_name);
void top_name_frame(const struct top_view *v, struct trace_frame f, bool whole, char *out);
uint32_t top_site(const struct top_view *v, const struct trace_stack *s); /* index of its frame */
void top_name_site(const struct top_view *v, stack_id stack, char *out);

/* "blocked", "DEADLOCK". */
const char *top_state_word(const struct live_thread *t);

/* The wait in which a thread was last held up, when it is not now but was for much of the window;
 * else NULL. */
const struct live_wait *top_held_before(const struct top_view *v, const struct live_thread *t);

/* What a thread waits for: a lock, a thread; "" when it runs. */
void top_name_waits_for(const struct top_view *v, const struct live_thread *t, char *out);

/* Who holds it up, "?" behind a name that is likely and not sure. */
void top_name_owner(const struct top_view *v, const struct live_thread *t, char *out);
void top_name_lock_owner(const struct top_view *v, const struct live_lock *k, char *out);

/* 812us, 4.2ms, 37s, 5m12s, 3h10m: at most six columns. */
void top_short_time(uint64_t ns, char *out);

/* 100 times a / b. */
double top_percent(uint64_t a, uint64_t b);

#endif
