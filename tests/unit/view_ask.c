#include "view_ask.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS_MAX = 20 };

/* One of both is asked. */
struct asked {
    struct view *view;
    struct heap_view *heap;
};

static int ask_either(struct asked of, const char *answer, const char *question, struct buf *out,
                      struct err *err)
{
    struct view_param params[PARAMS_MAX];
    struct view_question q = {params, 0};
    char *words = strdup(question), *rest = words;
    for (char *p; (p = strsep(&rest, "&")) && *p && q.n < PARAMS_MAX; q.n++) {
        char *value = strchr(p, '=');
        cr_assert(value, "no '=' in %s", p);
        *value = '\0';
        params[q.n] = (struct view_param){p, value + 1};
    }
    size_t before = out->len;
    int rc = of.view ? view_json(of.view, answer, &q, out, err)
                     : heap_view_json(of.heap, answer, &q, out, err);
    cr_assert(rc == 0 || out->len == before, "an answer that failed was appended");
    free(words);
    return rc;
}

static json_t *answered(struct asked of, const char *answer, const char *question)
{
    struct buf out = {0};
    struct err err = {""};
    json_error_t wrong;
    int rc = ask_either(of, answer, question, &out, &err);
    cr_assert_eq(rc, 0, "%s?%s: %s", answer, question, err.msg);
    json_t *j = json_loads(buf_str(&out), 0, &wrong);
    cr_assert(j, "%s?%s: line %d: %s", answer, question, wrong.line, wrong.text);
    buf_fini(&out);
    return j;
}

static void refused(struct asked of, const char *answer, const char *question, int rc,
                    const char *says)
{
    struct buf out = {0};
    struct err err = {""};
    int got = ask_either(of, answer, question, &out, &err);
    cr_assert_eq(got, rc, "%s?%s: %d, %s", answer, question, got, err.msg);
    cr_assert(strstr(err.msg, says), "%s?%s: %s", answer, question, err.msg);
    buf_fini(&out);
}

int ask_text(struct view *v, const char *answer, const char *question, struct buf *out,
             struct err *err)
{
    return ask_either((struct asked){.view = v}, answer, question, out, err);
}

json_t *ask(struct view *v, const char *answer, const char *question)
{
    return answered((struct asked){.view = v}, answer, question);
}

void ask_refused(struct view *v, const char *answer, const char *question, int rc, const char *says)
{
    refused((struct asked){.view = v}, answer, question, rc, says);
}

json_t *ask_heap(struct heap_view *h, const char *answer, const char *question)
{
    return answered((struct asked){.heap = h}, answer, question);
}

void ask_heap_refused(struct heap_view *h, const char *answer, const char *question, int rc,
                      const char *says)
{
    refused((struct asked){.heap = h}, answer, question, rc, says);
}

const json_t *at_path(const json_t *j, const char *path)
{
    char *words = strdup(path), *rest = words;
    for (char *p; j && (p = strsep(&rest, "."));)
        j = json_is_array(j) ? json_array_get(j, strtoul(p, NULL, 10)) : json_object_get(j, p);
    cr_assert(j, "there is no %s", path);
    free(words);
    return j;
}

int64_t number_at(const json_t *j, const char *path)
{
    const json_t *v = at_path(j, path);
    cr_assert(json_is_integer(v), "%s is no number", path);
    return json_integer_value(v);
}

const char *text_at(const json_t *j, const char *path)
{
    const json_t *v = at_path(j, path);
    cr_assert(json_is_string(v), "%s is no text", path);
    return json_string_value(v);
}
