/* json.c - the JSON answers by name. */
#include "view/json_parts.h"

#include "base/printable.h"
#include "base/util.h"

#include <string.h>

enum {
    TAKES_PART = ASK(FROM) | ASK(TO) | ASK(THREADS),
};

static const struct {
    const char *name;
    uint32_t takes, needs; /* ASK bits; what is needed is taken, too */
    int (*write)(struct ask *a, struct json_out *o, struct err *err);
} answers[] = {
    {"meta", 0, 0, answer_meta},
    {"overview", ASK(N), 0, answer_overview},
    {"report", TAKES_PART | ASK(SECTIONS) | ASK(CLASS) | ASK(LOCK) | ASK(TOP) | ASK(THREAD), 0,
     answer_report},
    {"locks", TAKES_PART | ASK(TOP) | ASK(OFFSET) | ASK(IDS), 0, answer_locks},
    {"contexts", 0, ASK(IDS), answer_contexts},
    {"wait", 0, ASK(THREAD) | ASK(INDEX), answer_wait},
    {"at", 0, ASK(ROW) | ASK(TIME), answer_at},
    {"flame", TAKES_PART | ASK(LOCK) | ASK(STATES) | ASK(BY), 0, answer_flame},
    {"rates", TAKES_PART | ASK(N), 0, answer_rates},
    {"search", 0, ASK(Q), answer_search},
    {"marks", TAKES_PART, 0, answer_marks},
    {"mark", 0, ASK(THREAD) | ASK(INDEX), answer_mark},
};

static int no_such_answer(const char *asked, struct err *err)
{
    struct buf names = {0};
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        buf_printf(&names, "%s%s", i ? ", " : "", answers[i].name);
    err_set(err, -ENOENT, "there is no answer '%.40s'; there are %s", asked, buf_str(&names));
    buf_fini(&names);
    return -ENOENT;
}

static int write_answer(size_t i, struct ask *a, struct buf *out, struct err *err)
{
    struct report r = {.trace = a->v->a->trace,
                       .a = a->v->a,
                       .path = a->v->about.path,
                       .ending = report_ending_find(a->v->about.ending),
                       .group = EVERY_CLASS};
    struct json_out o = {.r = &r, .to = out, .ok = true, .first_key = true};
    TRY(answers[i].write(a, &o, err));
    return json_finish(&o) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int view_json(struct view *v, const char *answer, const struct view_question *q, struct buf *out,
              struct err *err)
{
    size_t i = 0, before = out->len;
    while (i < ARRAY_LEN(answers) && strcmp(answers[i].name, answer) != 0)
        i++;
    if (i == ARRAY_LEN(answers))
        return no_such_answer(answer, err);
    struct ask a;
    int rc = ask_init(&a, v, q, answers[i].takes | answers[i].needs, answers[i].needs, err);
    if (rc == 0)
        rc = write_answer(i, &a, out, err);
    ask_fini(&a);
    if (rc < 0)
        out->len = before;
    return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

void put_numbers(struct json_out *o, const char *key, const void *of,
                 int64_t (*get)(const void *of, uint32_t i), uint32_t n)
{
    json_key(o, key);
    buf_putc(o->to, '[');
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_putc(o->to, ',');
        put_number(o, get(of, i));
    }
    buf_putc(o->to, ']');
}

void put_text(struct json_out *o, const char *text)
{
    char clean[JSON_TEXT];
    printable_utf8(text, clean, sizeof clean);
    json_out_value(o, json_string(clean));
}

json_t *json_flags(const struct json_flag *all, size_t n, uint8_t bits)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        if (bits & all[i].bit)
            json_array_append_new(list, json_string(all[i].name));
    return list;
}

void json_set_signed(json_t *j, const char *key, int64_t v)
{
    json_object_set_new(j, key, json_integer(v));
}

void json_set_moment(json_t *j, const char *key, const struct view *v, uint64_t time)
{
    json_set_signed(j, key, json_time(v, time));
}
