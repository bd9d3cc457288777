#include "serve/answer.h"

#include "base/utf8.h"
#include "base/util.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void answer_init(struct answer *a)
{
    *a = (struct answer){.status = 200};
    buf_init(&a->body);
}

void answer_fini(struct answer *a)
{
    buf_fini(&a->body);
}

void answer_put_text(struct buf *b, const char *text)
{
    buf_putc(b, '"');
    for (const char *p = text; *p;) {
        const char *from = p;
        uint32_t c = utf8_next(&p);
        if (c == UINT32_MAX)
            buf_puts(b, UTF8_REPLACEMENT);
        else if (c < ' ' || c == 0x7f || c == '<' || c == '>' || c == '&')
            buf_printf(b, "\\u%04" PRIx32, c);
        else if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", (char)c);
        else
            buf_put(b, from, (size_t)(p - from));
    }
    buf_putc(b, '"');
}

/* Nothing else of the answer stays. */
static struct buf *begin_error(struct answer *a, unsigned status, const char *text)
{
    buf_clear(&a->body);
    a->status = status;
    a->kind = ANSWER_JSON;
    a->immutable = false;
    buf_puts(&a->body, "{\"error\":");
    answer_put_text(&a->body, text);
    return &a->body;
}

void answer_error(struct answer *a, unsigned status, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_puts(begin_error(a, status, text), "}\n");
}

void answer_error_field(struct answer *a, unsigned status, const char *text, const char *field)
{
    struct buf *b = begin_error(a, status, text);
    if (field) {
        buf_puts(b, ",\"field\":");
        answer_put_text(b, field);
    }
    buf_puts(b, "}\n");
}

void answer_error_gen(struct answer *a, unsigned status, const char *text, uint32_t gen)
{
    buf_printf(begin_error(a, status, text), ",\"gen\":%" PRIu32 "}\n", gen);
}

/* text: HTML, one of our own. */
void answer_sentence(struct answer *a, unsigned status, const char *text)
{
    buf_clear(&a->body);
    a->status = status;
    a->kind = ANSWER_PAGE;
    buf_printf(&a->body,
               "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<title>orca view</title></head><body><p>%s</p></body></html>\n",
               text);
}

unsigned answer_status(int rc)
{
    static const struct {
        int rc;
        unsigned status;
    } known[] = {{0, 200},       {-EINVAL, 400}, {-ENOENT, 404}, {-ESRCH, 404},    {-EMFILE, 429},
                 {-ENOMEM, 503}, {-EAGAIN, 503}, {-EBUSY, 503},  {-ETIMEDOUT, 503}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].rc == rc)
            return known[i].status;
    return 400;
}
