/* view_fuzz.c - any order of any events, and any questions about them: JSON, tiles, arrows, paths,
 * the pack.
 *
 * Input: a byte says how much of the rest are questions, then events (any_events.h), then the
 * questions: a byte which answer, a byte how many parameters, each of them a byte which, a byte
 * what kind of value and up to two bytes for that.  Every answer that is given must be JSON, or
 * whole words, and the same a second time. */
#include "any_events.h"

#include "analyze/analysis.h"
#include "conclude/resource.h"
#include "view/view.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUESTIONS_MAX = 40, PARAMS_MAX = 4, VALUE_MAX = 40 };

/* The rest of the input; zeros behind its end. */
struct bytes {
    const uint8_t *p, *end;
};

static uint8_t byte(struct bytes *b)
{
    return b->p < b->end ? *b->p++ : 0;
}

/* Mostly what some parameter takes. */
static void put_value(struct bytes *b, char out[VALUE_MAX])
{
    static const char *const words[] = {"threads,path",
                                        "findings",
                                        "orders",
                                        "queues,pools",
                                        "blocked,locked",
                                        "held-up",
                                        "owner",
                                        "waker",
                                        "B",
                                        "a",
                                        "",
                                        "1-4,0",
                                        "9223372036854775807",
                                        "-4611686018427387903"};
    uint8_t kind = byte(b);
    switch (kind % 8) {
    case 0:
        snprintf(out, VALUE_MAX, "%s", words[byte(b) % (sizeof words / sizeof *words)]);
        break;
    case 1:
        snprintf(out, VALUE_MAX, "%c%d", "tlpgx"[kind / 8 % 5], byte(b) % 12);
        break;
    case 2:
        snprintf(out, VALUE_MAX, "%d-%d", byte(b) % 8, byte(b) % 8);
        break;
    case 3:
        snprintf(out, VALUE_MAX, "%c%c", byte(b), byte(b));
        break;
    case 4:
        snprintf(out, VALUE_MAX, "-%d", byte(b) * 16);
        break;
    case 5:
        snprintf(out, VALUE_MAX, "%d", byte(b) * 24);
        break;
    default:
        snprintf(out, VALUE_MAX, "%d", byte(b) % 16);
        break;
    }
}

static void ask_json(struct view *v, struct bytes *b)
{
    static const char *const answers[] = {"meta", "overview", "report", "locks", "contexts",
                                          "wait", "at",       "flame",  "search"};
    static const char *const names[] = {"from", "to",     "threads", "class", "lock", "sections",
                                        "top",  "offset", "thread",  "index", "row",  "time",
                                        "ids",  "states", "by",      "n",     "q",    "x"};
    struct view_param params[PARAMS_MAX];
    char values[PARAMS_MAX][VALUE_MAX];
    struct view_question q = {params, 0};
    struct buf out = {0}, again = {0};
    struct err err = {""};
    const char *answer = answers[byte(b) % (sizeof answers / sizeof *answers)];
    for (q.n = 0; q.n < PARAMS_MAX && b->p < b->end; q.n++) {
        params[q.n].name = names[byte(b) % (sizeof names / sizeof *names)];
        params[q.n].value = values[q.n];
        put_value(b, values[q.n]);
        if (byte(b) % 3 == 0) {
            q.n++;
            break;
        }
    }
    int rc = view_json(v, answer, &q, &out, &err);
    require(rc == 0 || (rc < 0 && out.len == 0 && err.msg[0]), "a refusal without a word");
    if (rc == 0) {
        json_t *j = json_loadb((const char *)out.p, out.len, 0, NULL);
        require(j != NULL, "an answer is no JSON");
        json_decref(j);
        require(view_json(v, answer, &q, &again, &err) == 0 && again.len == out.len &&
                    memcmp(again.p, out.p, out.len) == 0,
                "another answer the second time");
    }
    buf_fini(&out);
    buf_fini(&again);
}

static void ask_binary(struct view *v, struct bytes *b)
{
    struct view_row rows[VIEW_ROWS_MAX];
    struct buf out = {0};
    struct err err = {""};
    char text[2 * VALUE_MAX];
    uint8_t what = byte(b);
    unsigned level = byte(b) % 50;
    int64_t i = (int8_t)byte(b);
    int rc;
    if (what % 3 == 0) {
        snprintf(text, sizeof text, "t%d,p%d,g0,l%d", byte(b) % 12, byte(b) % 4, byte(b) % 9);
        int n = view_parse_rows(text, rows, &err);
        rc = n < 0 ? n : view_tile(v, level, i, rows, (size_t)n, &out);
    } else if (what % 3 == 1) {
        rc = view_arrows(v, level, i, &out);
    } else {
        rc = view_path(v, level, i, byte(b) % 8, byte(b) * 20, &out);
    }
    require(rc == 0 || out.len == 0, "a refusal with an answer");
    require(out.len % 8 == 0, "an answer that ends in the middle");
    buf_fini(&out);
}

static void ask(struct view *v, struct bytes *b)
{
    for (int i = 0; i < QUESTIONS_MAX && b->p < b->end; i++) {
        if (byte(b) % 4)
            ask_json(v, b);
        else
            ask_binary(v, b);
    }
}

static void pack(struct view *v, bool exact)
{
    struct buf out = {0};
    struct err err = {""};
    require(view_pack(v, &(struct pack_options){exact ? 0 : 1}, &out, &err) == 0, "no pack");
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    struct analysis *a;
    struct view *v;
    if (size == 0)
        return 0;
    size_t events = (size - 1) * (data[0] % 8) / 8;
    struct bytes questions = {data + 1 + events, data + size};
    struct trace *t = any_trace(data + 1, events);
    require(conclude_run(&a, t, &err) == 0, "analysis");
    const struct view_about about = {.gen = 1, .name = "fuzz", .path = "fuzz", .ending = "cut"};
    require(view_new(&v, a, &about, &err) == 0, "view");
    ask(v, &questions);
    if (data[0] & 64) /* it takes many times as long as the questions */
        pack(v, data[0] & 128);
    view_free(v);
    return 0;
}
