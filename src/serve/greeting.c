#include "serve/greeting.h"

#include <string.h>
#include <strings.h>

struct text {
    const char *p;
    size_t n;
};

/* The headers' length with the empty line at their end; 0: it has not come. */
static size_t headers_end(const char *text, size_t n)
{
    static const char end[] = "\r\n\r\n";
    const char *at = memmem(text, n, end, sizeof end - 1);
    return at ? (size_t)(at - text) + sizeof end - 1 : 0;
}

/* The next line that the headers have behind *at, without its end. */
static bool next_line(const struct text *all, size_t *at, struct text *line)
{
    const char *from = all->p + *at, *end = memchr(from, '\n', all->n - *at);
    if (!end)
        return false;
    *line = (struct text){from, (size_t)(end - from)};
    while (line->n > 0 && line->p[line->n - 1] == '\r')
        line->n--;
    *at = (size_t)(end - all->p) + 1;
    return true;
}

/* The value of a header if the line is that header. */
static bool value_of(const struct text *line, const char *name, struct text *value)
{
    size_t n = strlen(name);
    if (line->n <= n || strncasecmp(line->p, name, n) != 0 || line->p[n] != ':')
        return false;
    *value = (struct text){line->p + n + 1, line->n - n - 1};
    while (value->n > 0 && (*value->p == ' ' || *value->p == '\t')) {
        value->p++;
        value->n--;
    }
    return true;
}

/* Only digits; 0 else, and of what is too much for a token: the gate has words for it. */
static size_t length_of(const struct text *value)
{
    size_t v = 0;
    for (size_t i = 0; i < value->n; i++) {
        if (value->p[i] < '0' || value->p[i] > '9')
            return 0;
        v = v * 10 + (size_t)(value->p[i] - '0');
        if (v > GATE_ENTER_MAX)
            return 0;
    }
    return v;
}

enum greeting greeting_read(const struct gate *g, const char *text, size_t n, bool *known)
{
    struct text all = {text, headers_end(text, n)}, line, value;
    size_t body = 0;
    *known = false;
    if (n > 0 && (text[0] < 'A' || text[0] > 'Z'))
        return GREETING_NONSENSE;
    if (all.n > GREETING_HEADERS_MAX || (!all.n && n >= GREETING_HEADERS_MAX))
        return GREETING_LONG;
    for (size_t at = 0; next_line(&all, &at, &line);)
        if (value_of(&line, GATE_KEY_HEADER, &value))
            *known |= gate_is_key(g, value.p, value.n);
        else if (!body && value_of(&line, "Content-Length", &value))
            body = length_of(&value);
    return all.n && (*known || n - all.n >= body) ? GREETING_WHOLE : GREETING_MORE;
}
