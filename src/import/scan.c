#include "import/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What stands at `at`, up to the end of its field, printable and short. */
static void found(const struct scan *s, const char *at, char out[64])
{
    enum { SHOWN = 20 };
    const char *end = at;
    while (end < s->line.end && *end != ',' && *end != ';')
        end++;
    if (end == at && end < s->line.end)
        end++;
    if (at == s->line.end) {
        snprintf(out, 64, "the end of the line");
        return;
    }
    size_t n = 0;
    out[n++] = '"';
    for (const char *p = at; p < end && p < at + SHOWN && n < 50; p++) {
        if (isprint((unsigned char)*p))
            out[n++] = *p;
        else
            n += (size_t)snprintf(out + n, 64 - n, "\\x%02x", (unsigned char)*p);
    }
    snprintf(out + n, 64 - n, "%s\"", end > at + SHOWN ? "..." : "");
}

int scan_expected(const struct scan *s, const char *at, const char *what)
{
    char text[64];
    found(s, at, text);
    return err_set(s->err, -EINVAL, "%s: line %llu, column %zu: expected %s, found %s", s->name,
                   (unsigned long long)s->line.number, (size_t)(at - s->line.p) + 1, what, text);
}

static bool is_digit(const struct scan *s, const char *p)
{
    return p < s->line.end && *p >= '0' && *p <= '9';
}

int scan_seconds(struct scan *s, uint64_t *ns)
{
    static const char what[] = "a time stamp (seconds, as 480181.4255238244)";
    const uint64_t limit = INT64_MAX / 1000000000 - 1;
    const char *at = s->p;
    uint64_t seconds = 0, part = 0, unit = 1000000000;
    for (; is_digit(s, s->p); s->p++) {
        seconds = seconds * 10 + (uint64_t)(*s->p - '0');
        if (seconds > limit)
            return scan_expected(s, at, "a time stamp of less than 292 years");
    }
    if (s->p == at)
        return scan_expected(s, at, what);
    if (scan_at(s, '.')) {
        if (!is_digit(s, ++s->p))
            return scan_expected(s, at, what);
        for (; is_digit(s, s->p); s->p++)
            part += (uint64_t)(*s->p - '0') * (unit /= 10);
    }
    *ns = seconds * 1000000000 + part;
    return 0;
}

int scan_char(struct scan *s, char c)
{
    char what[] = {'\'', c, '\'', 0};
    if (!scan_at(s, c))
        return scan_expected(s, s->p, what);
    s->p++;
    return 0;
}

static int hex_digit(const struct scan *s, const char *p)
{
    if (is_digit(s, p))
        return *p - '0';
    return p < s->line.end && *p >= 'A' && *p <= 'F' ? *p - 'A' + 10 : -1;
}

/* The hex digits at s->p; returns how many, at most 17. */
static unsigned hex_digits(const struct scan *s, uint64_t *v)
{
    unsigned n = 0;
    *v = 0;
    for (int d; n < 17 && (d = hex_digit(s, s->p + n)) >= 0; n++)
        *v = *v << 4 | (unsigned)d;
    return n;
}

/* Whether the n digits are the whole field. */
static bool field_ends(const struct scan *s, unsigned n)
{
    const char *p = s->p + n;
    return p == s->line.end || *p == ',' || *p == ';';
}

int scan_hex8_or_16(struct scan *s, const char *what, uint64_t *v, bool *wide)
{
    unsigned n = hex_digits(s, v);
    if ((n != 8 && n != 16) || !field_ends(s, n)) {
        char text[80];
        snprintf(text, sizeof text, "eight or sixteen upper-case hex digits (%s)", what);
        return scan_expected(s, s->p, text);
    }
    *wide = n == 16;
    s->p += n;
    return 0;
}

int scan_hex8(struct scan *s, const char *what, uint32_t *v)
{
    uint64_t v64;
    unsigned n = hex_digits(s, &v64);
    if (n != 8 || !field_ends(s, n)) {
        char text[80];
        snprintf(text, sizeof text, "eight upper-case hex digits (%s)", what);
        return scan_expected(s, s->p, text);
    }
    *v = (uint32_t)v64;
    s->p += n;
    return 0;
}

int scan_decimal(struct scan *s, const char *what, int64_t min, int64_t max, int64_t *v)
{
    const char *at = s->p;
    bool minus = min < 0 && scan_at(s, '-');
    s->p += minus;
    const char *digits = s->p;
    *v = 0;
    for (; is_digit(s, s->p) && *v <= max; s->p++)
        *v = *v * 10 + (*s->p - '0');
    bool plain = s->p > digits && (*digits != '0' || s->p == digits + 1);
    *v = minus ? -*v : *v;
    if (plain && *v >= min && *v <= max && field_ends(s, 0))
        return 0;
    char text[96];
    snprintf(text, sizeof text, "%s, a decimal number from %lld to %lld", what, (long long)min,
             (long long)max);
    return scan_expected(s, at, text);
}

struct text scan_text(struct scan *s)
{
    const char *at = s->p, *comma = memchr(at, ',', (size_t)(s->line.end - at));
    s->p = comma ? comma : s->line.end;
    return (struct text){at, (size_t)(s->p - at)};
}

int scan_end(struct scan *s)
{
    return s->p == s->line.end ? 0 : scan_expected(s, s->p, "the end of the line");
}

static int all_lines(struct lines *l, int (*line)(void *ctx, struct scan *s), void *ctx,
                     struct scan_cut *cut, struct err *err)
{
    struct line at;
    int rc;
    while ((rc = lines_next(l, &at, err)) > 0) {
        struct err why;
        struct scan s = scan_begin(l->source.name, &at, at.cut ? &why : err);
        rc = line(ctx, &s);
        if (!at.cut && rc != 0)
            return rc;
        if (!at.cut)
            continue;
        *cut = (struct scan_cut){.cut = true, .offset = at.offset};
        snprintf(cut->text, sizeof cut->text, "line %llu has no end: the file was truncated%s",
                 (unsigned long long)at.number, rc == -EINVAL ? "; the line is left out" : "");
        if (rc < 0 && rc != -EINVAL)
            return err_set(err, rc, "%s", why.msg);
        return rc == -EINVAL ? 0 : rc;
    }
    return rc;
}

int scan_lines(const struct text_source *source, int (*line)(void *ctx, struct scan *s), void *ctx,
               struct scan_cut *cut, struct err *err)
{
    struct lines l;
    cut->cut = false;
    TRY(lines_open(&l, source, err));
    int rc = all_lines(&l, line, ctx, cut, err);
    lines_close(&l);
    return rc;
}
