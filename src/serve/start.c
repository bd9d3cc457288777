#include "serve/start.h"

#include "base/util.h"
#include "view/heap_view.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* --- a question's fields ---------------------------------------------------------------------- */

enum field_kind {
    FIELD_NUMBER,  /* uint32_t, at least 1 */
    FIELD_DEPTH,   /* uint64_t, followed by the flag that it was given */
    FIELD_SECONDS, /* uint64_t, ns */
    FIELD_TEXT,    /* const char *, which lives as the question does */
    FIELD_WORDS,   /* the same; a list of texts is joined by '+' */
};

struct field {
    const char *name;
    enum field_kind kind;
    bool needed;
    size_t offset;
};

struct question {
    json_t *json;
    struct buf words;
    struct serve_why why;
};

static int wrong(struct question *q, const char *field, const char *what)
{
    q->why.field = field;
    return err_set(&q->why.err, -EINVAL, "%s: %s", field, what);
}

/* Control characters would be words of their own where the text goes. */
static bool is_plain(json_t *v)
{
    const char *text = json_string_value(v);
    if (!text || strlen(text) != json_string_length(v) || strlen(text) > 4096)
        return false;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

static int take_number(struct question *q, const struct field *f, json_t *v, void *at)
{
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > INT32_MAX)
        return wrong(q, f->name, "a whole number from 1 on");
    *(uint32_t *)at = (uint32_t)json_integer_value(v);
    return 0;
}

static int take_depth(struct question *q, const struct field *f, json_t *v,
                      struct serve_attach *into)
{
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > UINT16_MAX)
        return wrong(q, f->name, "a number of frames");
    into->depth = (uint64_t)json_integer_value(v);
    into->has_depth = true;
    return 0;
}

static int take_seconds(struct question *q, const struct field *f, json_t *v, uint64_t *at)
{
    double s = json_number_value(v);
    if (!json_is_number(v) || !isfinite(s) || s < 0 || s > 31536000)
        return wrong(q, f->name, "seconds, at most a year; 0: until it is stopped");
    *at = (uint64_t)(s * 1e9);
    return 0;
}

static int take_text(struct question *q, const struct field *f, json_t *v, const char **at)
{
    if (!is_plain(v))
        return wrong(q, f->name, "a text without control characters, at most 4096 bytes");
    if (*json_string_value(v))
        *at = json_string_value(v);
    return 0;
}

/* One list only has a question: the words stay where they are. */
static int take_words(struct question *q, const struct field *f, json_t *v, const char **at)
{
    size_t i;
    json_t *word;
    if (!json_is_array(v))
        return take_text(q, f, v, at);
    json_array_foreach(v, i, word)
    {
        if (!is_plain(word) || strpbrk(json_string_value(word), "+,"))
            return wrong(q, f->name, "a list of words");
        buf_printf(&q->words, "%s%s", i ? "+" : "", json_string_value(word));
    }
    if (json_array_size(v))
        *at = buf_str(&q->words);
    return 0;
}

static int take_field(struct question *q, const struct field *f, json_t *v, void *into)
{
    void *at = (char *)into + f->offset;
    switch (f->kind) {
    case FIELD_NUMBER:
        return take_number(q, f, v, at);
    case FIELD_DEPTH:
        return take_depth(q, f, v, into);
    case FIELD_SECONDS:
        return take_seconds(q, f, v, at);
    case FIELD_TEXT:
        return take_text(q, f, v, at);
    default:
        return take_words(q, f, v, at);
    }
}

static int check_known(struct question *q, const struct field *fields, size_t n)
{
    const char *name;
    json_t *v;
    json_object_foreach(q->json, name, v)
    {
        bool known = false;
        for (size_t i = 0; i < n; i++)
            known |= strcmp(fields[i].name, name) == 0;
        if (!known)
            return err_set(&q->why.err, -EINVAL, "unknown field '%.40s'", name);
    }
    return 0;
}

static int take_fields(struct question *q, const struct field *fields, size_t n, void *into)
{
    TRY(check_known(q, fields, n));
    for (size_t i = 0; i < n; i++) {
        json_t *v = json_object_get(q->json, fields[i].name);
        bool said = v && !json_is_null(v);
        if (!said && fields[i].needed)
            return wrong(q, fields[i].name, "is missing");
        if (said)
            TRY(take_field(q, &fields[i], v, into));
    }
    return 0;
}

static void question_fini(struct question *q)
{
    json_decref(q->json);
    buf_fini(&q->words);
}

/* The body's fields; false: the answer says what is wrong, and nothing needs question_fini. */
static bool question_take(struct question *q, const struct core_request *r,
                          const struct field *fields, size_t n, void *into, struct answer *a)
{
    json_error_t at;
    *q = (struct question){.json = json_loadb(r->body, r->body_len, JSON_REJECT_DUPLICATES, &at)};
    buf_init(&q->words);
    if (!json_is_object(q->json))
        answer_error(a, 400, "the question is not a JSON object: %s",
                     q->json ? "write {...}" : at.text);
    else if (take_fields(q, fields, n, into) < 0)
        answer_error_field(a, 400, q->why.err.msg, q->why.field);
    else
        return true;
    question_fini(q);
    return false;
}

/* --- the answers ------------------------------------------------------------------------------ */

/* Without a start page, no JVMs either. */
static void not_offered(struct answer *a)
{
    answer_error(a, 404, "this server has no start page: run orca view without a file");
}

static void put_file(struct answer *a, struct buf *file)
{
    buf_puts(&a->body, "{\"file\":");
    answer_put_text(&a->body, buf_str(file));
    buf_puts(&a->body, "}\n");
}

static void say_why(struct answer *a, int rc, const struct serve_why *why)
{
    answer_error_field(a, answer_status(rc), why->err.msg[0] ? why->err.msg : strerror(-rc),
                       why->field);
}

static void put_opened(struct answer *a, const char *kind, uint32_t k, const char *path)
{
    buf_printf(&a->body, "{\"%s\":%" PRIu32 ",\"file\":", kind, k);
    answer_put_text(&a->body, path);
    buf_puts(&a->body, "}\n");
}

/* A source that came out of a hook, as an answer. */
static void add_source(struct core *c, struct serve_source *s, struct answer *a)
{
    struct err err = {""};
    struct trace_news n;
    uint32_t k;
    int rc = traces_add(&c->traces, s, &k, &err);
    if (rc < 0) {
        answer_error(a, answer_status(rc), "%s", err.msg);
        return;
    }
    traces_news(&c->traces, k, &n);
    put_opened(a, "trace", k, n.path);
}

/* The same of a heap dump. */
static void add_heap(struct core *c, struct heap_view *heap, struct answer *a)
{
    struct err err = {""};
    uint32_t k;
    int rc = heaps_add(&c->heaps, heap, &k, &err);
    if (rc < 0)
        answer_error(a, answer_status(rc), "%s", err.msg);
    else
        put_opened(a, "heap", k, heap_view_path(heaps_get(&c->heaps, k)));
}

void start_list(struct core *c, const struct route_hit *hit, struct answer *a)
{
    struct err err = {""};
    UNUSED(hit);
    if (!c->hooks.start) {
        not_offered(a);
        return;
    }
    int rc = c->hooks.start(c->hooks.ctx, &a->body, &err);
    if (rc < 0)
        answer_error(a, answer_status(rc), "%s", err.msg);
}

void start_attach(struct core *c, const struct route_hit *hit, struct answer *a)
{
#define AT(field) offsetof(struct serve_attach, field)
    static const struct field fields[] = {
        {"pid", FIELD_NUMBER, true, AT(pid)},
        {"events", FIELD_WORDS, false, AT(events)},
        {"include", FIELD_TEXT, false, AT(include)},
        {"exclude", FIELD_TEXT, false, AT(exclude)},
        {"methods", FIELD_TEXT, false, AT(methods)},
        {"depth", FIELD_DEPTH, false, AT(depth)},
        {"seconds", FIELD_SECONDS, false, AT(duration)},
        {"output", FIELD_TEXT, false, AT(output)},
        {"ownerstacks", FIELD_TEXT, false, AT(ownerstacks)},
    };
#undef AT
    struct serve_attach what = {0};
    struct serve_source *source = NULL;
    struct question q;
    if (!c->hooks.attach) {
        not_offered(a);
        return;
    }
    if (!question_take(&q, hit->request, fields, ARRAY_LEN(fields), &what, a))
        return;
    int rc = c->hooks.attach(c->hooks.ctx, &what, &source, &q.why);
    if (rc < 0)
        say_why(a, rc, &q.why);
    else
        add_source(c, source, a);
    question_fini(&q);
}

void start_stop(struct core *c, const struct route_hit *hit, struct answer *a)
{
    static const struct field fields[] = {{"pid", FIELD_NUMBER, true, 0}};
    uint32_t pid = 0;
    struct question q;
    struct buf file;
    if (!c->hooks.stop) {
        not_offered(a);
        return;
    }
    if (!question_take(&q, hit->request, fields, ARRAY_LEN(fields), &pid, a))
        return;
    buf_init(&file);
    int rc = c->hooks.stop(c->hooks.ctx, pid, &file, &q.why);
    if (rc < 0)
        say_why(a, rc, &q.why);
    else
        put_file(a, &file);
    buf_fini(&file);
    question_fini(&q);
}

struct save {
    uint32_t trace;
    const char *to;
};

static void save(struct core *c, const struct save *what, struct question *q, struct answer *a)
{
    struct trace_news n;
    struct buf file;
    if (!traces_news(&c->traces, what->trace, &n)) {
        answer_error_field(a, 404, "trace: no trace has this number", "trace");
        return;
    }
    buf_init(&file);
    int rc = c->hooks.save(c->hooks.ctx, n.path, n.live_pid, what->to, &file, &q->why);
    if (rc < 0)
        say_why(a, rc, &q->why);
    else
        put_file(a, &file);
    buf_fini(&file);
}

void start_save(struct core *c, const struct route_hit *hit, struct answer *a)
{
    static const struct field fields[] = {
        {"trace", FIELD_NUMBER, true, offsetof(struct save, trace)},
        {"to", FIELD_TEXT, true, offsetof(struct save, to)},
    };
    struct save what = {0};
    struct question q;
    if (!c->hooks.save) {
        not_offered(a);
        return;
    }
    if (!question_take(&q, hit->request, fields, ARRAY_LEN(fields), &what, a))
        return;
    if (what.to)
        save(c, &what, &q, a);
    else
        answer_error_field(a, 400, "to: name a file", "to");
    question_fini(&q);
}

void start_open(struct core *c, const struct route_hit *hit, struct answer *a)
{
    static const struct field fields[] = {{"id", FIELD_NUMBER, true, 0}};
    uint32_t id = 0;
    struct serve_opened what = {0};
    struct question q;
    if (!c->hooks.open) {
        not_offered(a);
        return;
    }
    if (!question_take(&q, hit->request, fields, ARRAY_LEN(fields), &id, a))
        return;
    int rc = c->hooks.open(c->hooks.ctx, id, &what, &q.why);
    if (rc < 0)
        say_why(a, rc, &q.why);
    else if (what.heap)
        add_heap(c, what.heap, a);
    else
        add_source(c, what.source, a);
    question_fini(&q);
}
