#include "serve/query.h"

#include <stdlib.h>
#include <string.h>

/* --- numbers and escapes ---------------------------------------------------------------------- */

bool query_number(const char *text, size_t n, bool sign, int64_t *out)
{
    bool minus = sign && n > 0 && text[0] == '-';
    int64_t v = 0;
    text += minus;
    n -= minus;
    if (n == 0 || n > 19 || (text[0] == '0' && (n > 1 || minus)))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || v > (INT64_C(1) << 62) / 10)
            return false;
        v = v * 10 + (text[i] - '0');
    }
    *out = minus ? -v : v;
    return v <= INT64_C(1) << 62;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int query_decode(char *text, size_t n, bool plus, struct err *err)
{
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '%') {
            bool room = n - i > 2;
            int high = room ? hex(text[i + 1]) : -1, low = room ? hex(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return err_set(err, -EINVAL, "'%%' is not followed by two hex digits: write %%25");
            c = (unsigned char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (c < ' ' || c == 0x7f)
            return err_set(err, -EINVAL, "a control character in the address: leave it out");
        text[to++] = (char)c;
    }
    text[to] = 0;
    return 0;
}

/* --- parameters ------------------------------------------------------------------------------- */

const char *query_find(const struct query *q, const char *name)
{
    for (size_t i = 0; i < q->n; i++)
        if (strcmp(q->params[i].name, name) == 0)
            return q->params[i].value;
    return NULL;
}

/* "name=value", which ends with a NUL. */
static int add(struct query *q, char *pair, struct err *err)
{
    char *value = strchr(pair, '=');
    if (!value || value == pair)
        return err_set(err, -EINVAL, "a parameter without name or value: write NAME=VALUE");
    *value++ = 0;
    TRY(query_decode(pair, strlen(pair), true, err));
    TRY(query_decode(value, strlen(value), true, err));
    if (query_find(q, pair))
        return err_set(err, -EINVAL, "parameter '%.40s' is given twice: give it once", pair);
    if (q->n == QUERY_PARAMS_MAX)
        return err_set(err, -EINVAL, "more than %d parameters", QUERY_PARAMS_MAX);
    q->params[q->n++] = (struct view_param){pair, value};
    return 0;
}

static int take_apart(struct query *q, struct err *err)
{
    char *at = strchr(q->text, '?');
    if (at)
        *at++ = 0;
    q->path = q->text;
    TRY(query_decode(q->path, strlen(q->path), false, err));
    while (at && *at) {
        char *end = strchr(at, '&');
        if (end)
            *end++ = 0;
        TRY(add(q, at, err));
        at = end;
    }
    return q->path[0] == '/' ? 0 : err_set(err, -EINVAL, "a path begins with '/'");
}

int query_parse(struct query *q, const char *target, struct err *err)
{
    *q = (struct query){.text = strdup(target)};
    if (!q->text)
        return err_set(err, -ENOMEM, "out of memory");
    int rc = take_apart(q, err);
    if (rc < 0)
        query_fini(q);
    return rc;
}

void query_fini(struct query *q)
{
    free(q->text);
    *q = (struct query){0};
}
