/* labels.h - names of the things of a trace in texts.
 *
 * Every function fills at most n bytes with the NUL.  Names are as recorded: they may hold control
 * characters and broken UTF-8, which the code that prints them must handle. */
#ifndef ORCA_ANALYZE_LABELS_H
#define ORCA_ANALYZE_LABELS_H

#include "analyze/sites.h"
#include "analyze/thread_set.h"

enum { LABEL_MAX = 256 };

/* "main"; "worker#57" (Thread.getId()) where several threads have the name; "#57" for one without a
 * name; "unknown" for index 0. */
void label_thread(const struct thread_set *ts, const struct trace *t, uint32_t thread, char *out,
                  size_t n);

/* "when the recording ended", or what is known to be as late while it goes on. */
const char *label_end(const struct trace *t);

/* What tells a lock from others of its class: its id; its hash where the class is not known. */
void label_lock_number(const struct trace *t, lock_id lock, char *out, size_t n);

/* "orderbook.OrderBook"; "unknown class" for "?". */
void label_class(const char *signature, char *out, size_t n);

/* The class name behind the last '.': "OrderBook"; a pointer into `name`. */
const char *label_simple(const char *name);

/* "orderbook.OrderBook.rebalance": trace_method_text. */
void label_method(const struct trace *t, method_id method, char *out, size_t n);

/* The same in two parts, as Java knows them: "orderbook.OrderBook" and "rebalance".  Anything but a
 * method of Java has no class: "" and "libjvm.so!JVM_Sleep". */
void label_method_parts(const struct trace *t, method_id method, char class_[LABEL_MAX],
                        char name[LABEL_MAX]);

/* "OrderBook.java:88", "near OrderBook.java:88" (struct place), "OrderBook.java", "native", or ""
 * when neither is known. */
void label_line(const struct trace *t, struct place p, char *out, size_t n);

/* Find which threads share their name, and number those that have none: sets
 * thread_stats.shares_name and number.  -ENOMEM. */
int label_shared_names(struct thread_set *ts, const struct trace *t);

#endif
