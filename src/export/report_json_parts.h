/* report_json_parts.h - what JSON is written with: `orca report --json` and the viewer's answers.
 *
 * Objects are made with jansson one at a time and written at once, a line each, so that a million
 * threads do not fill the memory. */
#ifndef ORCA_EXPORT_REPORT_JSON_PARTS_H
#define ORCA_EXPORT_REPORT_JSON_PARTS_H

#include "base/buf.h"
#include "conclude/report.h"

#include <jansson.h>
#include <stdio.h>

enum { JSON_TEXT = 4 * FINDING_TEXT };

/* Text goes to the buffer; with a file, from there to that whenever a good part is together. */
struct json_out {
    const struct report *r;
    struct buf *to;
    FILE *file;
    bool ok, first_key, first_entry;
};

/* --- values of an object ---------------------------------------------------------------------- */

void json_set_count(json_t *o, const char *key, uint64_t v);

/* Names may hold any byte, JSON takes UTF-8 only.  text NULL: null. */
void json_set_text(json_t *o, const char *key, const char *text);
void json_set_bool(json_t *o, const char *key, bool v);

/* A moment: ns after the recording began, negative before it. */
void json_set_time(json_t *o, const char *key, const struct report *r, uint64_t time);

/* A thread's id and name; null when it is not known. */
void json_set_thread(json_t *o, const char *key, const char *name_key, const struct report *r,
                     uint32_t thread);

/* A class's Java name; null when it is not known. */
void json_set_class(json_t *o, const struct report *r, uint32_t group);

/* {class, method, signature, file, line}, or null. */
json_t *json_place(const struct report *r, struct place p);

/* Its places, innermost first. */
json_t *json_stack(const struct report *r, stack_id id);

/* --- the output ------------------------------------------------------------------------------- */

void json_out(struct json_out *o, const char *text);

/* A value behind a key; takes the reference. */
void json_out_value(struct json_out *o, json_t *j);
void json_key(struct json_out *o, const char *name);
void json_begin_list(struct json_out *o, const char *name);
void json_entry(struct json_out *o, json_t *j);
void json_end_list(struct json_out *o);

/* What is not yet in the file.  -ENOMEM, or -EIO of the file. */
/* "peer": what is at the other end of input or output, by its name; null when it is not known. */
void json_set_peer(json_t *o, const struct report *r, lock_id peer);

int json_finish(struct json_out *o);

/* "WHAT_count", "WHAT_ns", ...: docs/reference/json.md. */
void json_set_wait_stats(json_t *o, const char *what, struct wait_stats *s);

/* --- report_json.c ---------------------------------------------------------------------------- */

void json_put_recording(struct json_out *o);
void json_put_losses(struct json_out *o);
void json_put_problems(struct json_out *o);
void json_put_findings(struct json_out *o);

/* report_json_resources.c: what a finding about a resource says, nulls of any other. */
void json_set_resource(json_t *j, const struct report *r, const struct rule_finding *f);

/* report_json_threads.c */
void json_put_threads(struct json_out *o);

/* "threads" and "thread_groups" of the bottle graph.  False: memory is out. */
bool json_set_bottles(json_t *j, const struct report *r);

/* report_json_hot.c */
void json_put_samples(struct json_out *o);

/* report_json_io.c */
void json_put_io(struct json_out *o);

/* report_json_gc.c */
void json_put_collections(struct json_out *o);
/* report_json_alloc.c */
void json_put_allocations(struct json_out *o);

/* report_json_calls.c */
void json_put_calls(struct json_out *o);

/* --- report_json_flow.c ----------------------------------------------------------------------- */

void json_put_interactions(struct json_out *o);
void json_put_path(struct json_out *o);
void json_put_deadlocks(struct json_out *o);
void json_put_orders(struct json_out *o);
void json_put_bottles(struct json_out *o);
void json_put_queues(struct json_out *o);
void json_put_pools(struct json_out *o);

#endif
