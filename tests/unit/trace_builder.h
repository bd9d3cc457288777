/* trace_builder.h - a trace made by hand, for tests: define what it names, add events with their
 * times and streams, get an open struct trace * backed by a memfd (or keep it in a file).
 *
 *     struct trace_builder b;
 *     builder_init(&b);
 *     thread_id main = builder_thread(&b, "main"), other = builder_thread(&b, "other");
 *     lock_id lock = builder_lock(&b, builder_class(&b, "Lshop/Order;"));
 *     stack_id stack = builder_stack(&b, "shop.Order.submit:88 shop.Main.main:12");
 *     ADD(&b, 1, main, 100, monitor_contended_enter, .lock = lock, .owner = other, .stack = stack);
 *     ADD(&b, 1, main, 350, monitor_contended_entered, .lock = lock);
 *     struct trace *t = builder_open(&b, 1000);
 *
 * Times are ns after BUILDER_START, the start of the recording; the trace itself holds
 * BUILDER_START + time.  Events of one stream must be added in the order of time; streams may be
 * mixed.  Events are encoded as they come, so that millions of them are fine.  Everything that goes
 * wrong here is a mistake of the test: it is printed and aborts. */
#ifndef ORCA_TESTS_TRACE_BUILDER_H
#define ORCA_TESTS_TRACE_BUILDER_H

#include "base/buf.h"
#include "format/trace.h"

#define BUILDER_START UINT64_C(5000000000)

struct builder_stream;

struct trace_builder {
    struct file_header header; /* change what you like before builder_open */
    uint32_t block_events;     /* events in one block: small numbers give many blocks; 4096 */
    uint32_t round_blocks;     /* blocks of one stream in one chunk; 1 */
    struct buf defs;
    uint32_t n_defs;
    uint32_t n_threads, n_classes, n_methods, n_stacks, n_locks, n_gc_names, n_sites; /* last id */
    struct buf texts; /* what builder_stack knows */
    struct builder_stream *streams;
    size_t n_streams;
};

void builder_init(struct trace_builder *b);

/* --- definitions ------------------------------------------------------------------------------ */

void builder_info(struct trace_builder *b, const char *key, const char *value);
void builder_loss(struct trace_builder *b, uint32_t cause, uint64_t count);

/* A thread of group "main"; flags: THREAD_*. */
thread_id builder_thread(struct trace_builder *b, const char *name);
thread_id builder_thread_flags(struct trace_builder *b, const char *name, uint32_t flags);

/* A class of the JVM signature "Lshop/Order;", with the source file that javac would name. */
class_id builder_class(struct trace_builder *b, const char *signature);

/* Of a collector, a cause, an operation of a safepoint. */
gc_name_id builder_gc_name(struct trace_builder *b, const char *name);

/* A new object of the class. */
lock_id builder_lock(struct trace_builder *b, class_id of);

/* A method whose line table maps bci n to line n, so that a frame's bci is its line.  line 0 says
 * that it is native.  A name may have a descriptor behind it: "put(Ljava/lang/Object;)V". */
method_id builder_method(struct trace_builder *b, class_id of, const char *name, uint32_t flags);

/* "shop.Order.submit:88 shop.Main.main:12", innermost frame first; ":native" or ":stub" instead of a
 * line, ":~88" in a private method, ":=88" in a synchronized one.
 * Defines the classes and methods that it names (once each). */
stack_id builder_stack(struct trace_builder *b, const char *frames);

/* What the code at a place of a method has its operands from: "lock;fshop/Desk.door". */
void builder_site(struct trace_builder *b, method_id method, uint32_t bci, const char *from);

/* Any definition. */
void builder_def(struct trace_builder *b, const struct def *d);

/* --- events ----------------------------------------------------------------------------------- */

/* Append *e, whose time is absolute. */
void builder_event(struct trace_builder *b, uint32_t stream, const struct event *e);

/* What follows in this stream does not touch what was before: `bytes` of the ring are missing. */
void builder_gap(struct trace_builder *b, uint32_t stream, uint64_t bytes);

#define ADD(b, stream, thread_, time_, kind_, ...)                                                 \
    builder_event((b), (stream),                                                                   \
                  &(struct event){.time = BUILDER_START + (uint64_t)(time_),                       \
                                  .thread = (thread_),                                             \
                                  .kind = EV_##kind_,                                              \
                                  .size = EVENT_HEAD,                                              \
                                  .kind_ = {__VA_ARGS__}})
/* An event without fields. */
#define ADD0(b, stream, thread_, time_, kind_)                                                     \
    builder_event((b), (stream),                                                                   \
                  &(struct event){.time = BUILDER_START + (uint64_t)(time_),                       \
                                  .thread = (thread_),                                             \
                                  .kind = EV_##kind_,                                              \
                                  .size = EVENT_HEAD})

/* --- the trace -------------------------------------------------------------------------------- */

/* Write everything to fd (borrowed), close the trace `end` ns after its start with header.state (or
 * leave it unfinished when that is TRACE_RECORDING), and release the builder. */
void builder_write(struct trace_builder *b, int fd, uint64_t end);

/* The same into a memfd, opened. */
struct trace *builder_open(struct trace_builder *b, uint64_t end);

#endif
