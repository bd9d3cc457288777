/* json_parts.h - what the JSON answers share: their parameters, checked, and how they are written.
 *
 *   json.c         the answers by name      json_wait.c, json_at.c   one wait, one moment
 *   json_ask.c     parameters               chain.c                  whom it waited for, and so on
 *   json_meta.c    meta, overview           effects.c                what a thread did to others
 *   json_report.c  report                   json_flame.c             flame graph
 *   json_locks.c   locks, contexts          json_search.c            search
 *   json_rates.c   rates of allocation        json_marks.c           marks, mark
 *
 * A thread is its index, times are ns after the recording began; a report has them as `orca report
 * --json`. */
#ifndef ORCA_VIEW_JSON_PARTS_H
#define ORCA_VIEW_JSON_PARTS_H

#include "export/model_export.h"
#include "export/report_json_parts.h"
#include "view/view_parts.h"

/* Every parameter that some answer takes. */
enum ask_param {
    ASK_FROM,
    ASK_TO,
    ASK_THREADS,
    ASK_CLASS,
    ASK_LOCK,
    ASK_SECTIONS,
    ASK_TOP,
    ASK_OFFSET,
    ASK_THREAD,
    ASK_INDEX,
    ASK_ROW,
    ASK_TIME,
    ASK_IDS,
    ASK_STATES,
    ASK_BY,
    ASK_N,
    ASK_Q,
    ASK_PARAMS
};

#define ASK(p) (UINT32_C(1) << ASK_##p)

enum {
    ASK_TOP_MAX = 5000,
    ASK_TOP_DEFAULT = 200, /* locks */
    ASK_N_DEFAULT = 512,   /* parts of the overview */
    ASK_IDS_MAX = 10000,
    ASK_Q_MAX = 256, /* bytes */
};

/* One question. */
struct ask {
    struct view *v;
    uint32_t given;   /* ASK bits */
    int64_t from, to; /* ns after the beginning */
    int64_t time;
    bool *threads; /* [threads.n]; NULL: all */
    const char *class_name, *q;
    uint64_t lock, top, offset, thread, index, n; /* within their ranges */
    uint64_t sections, states;                    /* bits of report.h, export/waits.h */
    uint64_t by;                                  /* enum model_by */
    struct view_row row;
    uint32_t *ids;
    size_t n_ids;
    struct arena arena; /* of the question */
};

/* Read the parameters; `takes`, `needs`: ASK bits.  The result is freed with ask_fini, on failure,
 * too.  -EINVAL, -ENOENT, -ENOMEM. */
int ask_init(struct ask *a, struct view *v, const struct view_question *q, uint32_t takes,
             uint32_t needs, struct err *err);
void ask_fini(struct ask *a);

static inline bool ask_has(const struct ask *a, enum ask_param p)
{
    return a->given >> p & 1;
}

/* The part of the recording that was asked for; the whole where none was given. */
struct selection ask_selection(const struct ask *a);

/* Whether that is everything. */
bool ask_is_whole(const struct ask *a);

/* The statistics of the selection: the analysis' own of everything, else made in *own, which
 * ask_stats_fini frees.  Percentiles are not to be read.  NULL: memory is out. */
const struct stats *ask_stats(const struct ask *a, struct stats *own);
void ask_stats_fini(const struct stats *s, struct stats *own);

/* --- the answers: each is written to o->to; 0 or a negative errno with err set ---------------- */

int answer_meta(struct ask *a, struct json_out *o, struct err *err);
int answer_overview(struct ask *a, struct json_out *o, struct err *err);
int answer_report(struct ask *a, struct json_out *o, struct err *err);
int answer_locks(struct ask *a, struct json_out *o, struct err *err);
int answer_contexts(struct ask *a, struct json_out *o, struct err *err);
int answer_wait(struct ask *a, struct json_out *o, struct err *err);
int answer_at(struct ask *a, struct json_out *o, struct err *err);
int answer_flame(struct ask *a, struct json_out *o, struct err *err);
int answer_rates(struct ask *a, struct json_out *o, struct err *err);
int answer_marks(struct ask *a, struct json_out *o, struct err *err);
int answer_mark(struct ask *a, struct json_out *o, struct err *err);
int answer_search(struct ask *a, struct json_out *o, struct err *err);

/* --- writing ---------------------------------------------------------------------------------- */

/* A moment as view_time has it, whole. */
static inline int64_t json_time(const struct view *v, uint64_t time)
{
    return (int64_t)(time - v->base);
}

static inline void put_number(struct json_out *o, int64_t v)
{
    buf_printf(o->to, "%lld", (long long)v);
}

/* "key": [ ... ] with a number for each of n. */
void put_numbers(struct json_out *o, const char *key, const void *of,
                 int64_t (*get)(const void *of, uint32_t i), uint32_t n);

/* A text as a JSON string, bytes that are not UTF-8 replaced, cut at JSON_TEXT. */
void put_text(struct json_out *o, const char *text);

void json_set_moment(json_t *j, const char *key, const struct view *v, uint64_t time);
void json_set_signed(json_t *j, const char *key, int64_t v);

/* A lock: {id, class, hash}, or null for none. */
json_t *json_lock(const struct json_out *o, const struct view *v, lock_id id);
void json_set_hash(json_t *j, const struct view *v, lock_id id);

struct json_flag {
    uint8_t bit;
    const char *name;
};

/* The names of the bits that are set. */
json_t *json_flags(const struct json_flag *all, size_t n, uint8_t bits);

/* Where in the program a context is, or null. */
json_t *json_site(const struct json_out *o, const struct view *v, uint32_t context);

/* A wait of a thread: {thread, index}, or null for one that there is not. */
json_t *json_wait_name(const struct view *v, uint32_t thread, int64_t index);

/* A wait in full (json_wait.c), to be written as an answer. */
json_t *json_wait(const struct json_out *o, struct view *v, uint32_t thread, uint32_t index);

/* chain.c: the thread that a wait waited for, the thread that this thread waited for in that time,
 * and so on. */
json_t *json_chain(const struct json_out *o, const struct view *v, uint32_t thread, uint32_t index);

/* effects.c: the waits, starts and tasks that a thread's acts in [from, to] ended or began: sets
 * `effects` and `n_effects`. */
void json_set_effects(json_t *j, const struct view *v, uint32_t thread, uint64_t from, uint64_t to);

/* What the rules find in the whole recording: v->json.findings, made when it is first asked for.
 * -ENOMEM. */
int findings_make(struct view *v, struct err *err);

#endif
