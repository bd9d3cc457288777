#include "cli/page.h"

#include "analyze/labels.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_bar(const struct page *p, uint64_t part, uint64_t whole, char out[PAGE_BAR])
{
    enum { CELLS = 10 };
    static const char *const eighths[] = {"",
                                          "\xe2\x96\x8f",
                                          "\xe2\x96\x8e",
                                          "\xe2\x96\x8d",
                                          "\xe2\x96\x8c",
                                          "\xe2\x96\x8b",
                                          "\xe2\x96\x8a",
                                          "\xe2\x96\x89",
                                          "\xe2\x96\x88"};
    unsigned n = whole ? (unsigned)((unsigned __int128)part * 8u * CELLS / whole) : 0;
    size_t len = 0;
    n = n > 8 * CELLS ? 8 * CELLS : n;
    *out = '\0';
    for (; n >= 8; n -= 8)
        len += (size_t)snprintf(out + len, PAGE_BAR - len, "%s", p->utf8 ? eighths[8] : "#");
    snprintf(out + len, PAGE_BAR - len, "%s", p->utf8 ? eighths[n] : n >= 4 ? "-" : "");
}

void page_spark(const struct page *p, const uint64_t *v, size_t n, size_t width,
                char out[4 * PAGE_BAR])
{
    static const char *const utf8[] = {" ",
                                       "\xe2\x96\x81",
                                       "\xe2\x96\x82",
                                       "\xe2\x96\x83",
                                       "\xe2\x96\x84",
                                       "\xe2\x96\x85",
                                       "\xe2\x96\x86",
                                       "\xe2\x96\x87",
                                       "\xe2\x96\x88"};
    static const char *const ascii[] = {" ", ".", ".", ":", ":", "+", "+", "#", "#"};
    uint64_t cells[PAGE_BAR] = {0}, most = 0;
    size_t len = 0;
    width = width < PAGE_BAR ? width : PAGE_BAR;
    for (size_t i = 0; i < n; i++)
        cells[i * width / n] += v[i];
    for (size_t i = 0; i < width; i++)
        most = max_u64(most, cells[i]);
    *out = '\0';
    for (size_t i = 0; i < width; i++) {
        /* A value above 0 is visible. */
        size_t level = most ? (size_t)(((unsigned __int128)cells[i] * 8 + most - 1) / most) : 0;
        len += (size_t)snprintf(out + len, (size_t)4 * PAGE_BAR - len, "%s",
                                p->utf8 ? utf8[level] : ascii[level]);
    }
}

void page_thread(const struct page *p, uint32_t thread, char *out)
{
    char name[LABEL_MAX];
    label_thread(&p->r->a->threads, p->r->trace, thread, name, sizeof name);
    printable_text(name, p->utf8, out, PAGE_NAME);
}

void page_class(const struct page *p, const char *signature, char *out)
{
    char name[LABEL_MAX];
    label_class(signature, name, sizeof name);
    printable_text(name, p->utf8, out, PAGE_NAME);
}

void page_lock(const struct page *p, lock_id lock, char *out)
{
    const struct lock_set *l = &p->r->a->locks;
    const struct lock_group *g = &l->groups[lock_set_group(l, lock)];
    char number[16];
    page_class(p, g->signature, out);
    if (lock_group_is_object(g))
        return;
    size_t len = strlen(out);
    label_lock_number(p->r->trace, lock, number, sizeof number);
    snprintf(out + len, PAGE_NAME - len, " (object %s)", number);
}

static void begin(const struct page *p, enum page_style style)
{
    static const int styles[] = {0, SCREEN_BOLD, SCREEN_YELLOW, SCREEN_RED, SCREEN_DIM};
    *p->begun = true;
    if (p->marks && style != STYLE_PLAIN)
        fputc((int)style, p->to);
    if (p->color && style != STYLE_PLAIN)
        screen_style(styles[style]);
}

static void end(const struct page *p, enum page_style style)
{
    if (p->color && style != STYLE_PLAIN)
        screen_style(0);
}

void page_line(const struct page *p, enum page_style style, const char *text)
{
    page_line_of(p, style, "", text);
}

size_t page_lines(const struct page *p, void (*print)(const struct page *p, unsigned n), unsigned n)
{
    char *text = NULL;
    size_t size = 0, lines = 0;
    bool begun = true;
    struct page apart = *p;
    apart.to = open_memstream(&text, &size);
    apart.color = false;
    apart.begun = &begun;
    if (!apart.to)
        return 0;
    print(&apart, n);
    fclose(apart.to);
    for (const char *at = text; at && *at; at++)
        lines += *at == '\n';
    free(text);
    return lines;
}

void page_heading(const struct page *p, const char *text)
{
    if (*p->begun)
        fputc('\n', p->to);
    page_line(p, STYLE_BOLD, text);
}

void page_line_of(const struct page *p, enum page_style style, const char *first, const char *text)
{
    begin(p, style);
    fprintf(p->to, "%s%s", first, text);
    end(p, style);
    fputc('\n', p->to);
}

/* Bytes up to the next place for a break: not between a number and its unit, nor between a method
 * and its file, nor behind an arrow. */
static size_t unbroken(const char *text)
{
    size_t len = strcspn(text, " ");
    while (len && text[len] &&
           ((text[len - 1] >= '0' && text[len - 1] <= '9') || text[len + 1] == '(' ||
            strncmp(text + len - 1, "- ", 2) == 0))
        len += 1 + strcspn(text + len + 1, " ");
    return len;
}

void page_wrapped(const struct page *p, enum page_style style, const char *first, const char *text,
                  size_t indent)
{
    size_t at = printable_width(first);
    begin(p, style);
    fputs(first, p->to);
    while (*text) {
        char word[PAGE_NAME];
        size_t len = unbroken(text);
        snprintf(word, sizeof word, "%.*s", (int)len, text);
        printable_cut(word, p->width - indent);
        if (at > indent && at + 1 + printable_width(word) > p->width) {
            fprintf(p->to, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', p->to);
            at++;
        }
        fputs(word, p->to);
        at += printable_width(word);
        text += len + strspn(text + len, " ");
    }
    end(p, style);
    fputc('\n', p->to);
}
