#include "cli/page_cells.h"

#include "analyze/labels.h"
#include "base/printable.h"
#include "cli/class_names.h"

#include <string.h>

void cell_count(struct table *t, uint64_t n)
{
    table_put(t, n ? human_count(n).text : "-");
}

void cell_bytes(struct table *t, uint64_t bytes)
{
    table_put(t, bytes ? human_bytes(bytes).text : "-");
}

void cell_time(struct table *t, uint64_t ns, bool known)
{
    table_put(t, known ? human_time(ns).text : "-");
}

void cell_percent(struct table *t, uint64_t part, uint64_t whole)
{
    char text[32];
    unsigned permille = whole ? (unsigned)((unsigned __int128)part * 1000 / whole) : 0;
    snprintf(text, sizeof text, "%u.%u %%", permille / 10, permille % 10);
    table_put(t, whole ? text : "-");
}

void page_list_heading(const struct page *p, const char *what, size_t n, const char *order)
{
    char text[PAGE_WIDTH + 1];
    size_t shown = report_rows(p->r, n);
    if (shown < n)
        snprintf(text, sizeof text, "%s: %s of %s, %s", what, human_count(shown).text,
                 human_count(n).text, order);
    else
        snprintf(text, sizeof text, "%s", what);
    page_heading(p, text);
}

void page_table(const struct page *p, struct table *t)
{
    table_print(t, p->to);
    table_fini(t);
}

void page_nothing(const struct page *p, const char *text)
{
    if (p->r->sections & REPORT_FINDINGS)
        return;
    if (*p->begun)
        fputc('\n', p->to);
    page_wrapped(p, STYLE_PLAIN, "", text, 0);
}

/* "orderbook.OrderBook.rebalance (OrderBook.java:88)", at most `width` wide: packages give way
 * first. */
void page_place(const struct page *p, struct place at, size_t width, char out[PAGE_NAME])
{
    const struct trace_method *m = trace_method(p->r->trace, at.method);
    char raw[2 * LABEL_MAX], rest[2 * LABEL_MAX], line[LABEL_MAX];
    if (!m->id.v) {
        snprintf(out, PAGE_NAME, "unknown");
        return;
    }
    label_line(p->r->trace, at, line, sizeof line);
    if (!trace_method_is_java(m)) {
        label_method(p->r->trace, at.method, raw, LABEL_MAX);
        if (at.line >= 0)
            snprintf(raw + strlen(raw), sizeof raw - strlen(raw), " (%s)", line);
        printable_text(raw, p->utf8, out, PAGE_NAME);
        printable_cut(out, width);
        return;
    }
    snprintf(raw, sizeof raw, *line ? ".%s (%s)" : ".%s", m->name, line);
    printable_text(raw, p->utf8, rest, sizeof rest);
    size_t rest_width = printable_width(rest);
    page_class(p, trace_class(p->r->trace, m->class_)->signature, out);
    class_name_fit(out, width > rest_width + 8 ? width - rest_width : 8);
    size_t len = strlen(out);
    snprintf(out + len, PAGE_NAME - len, "%s", rest);
    printable_cut(out, width);
}

void cell_share(struct table *t, uint64_t part, uint64_t whole)
{
    char text[16] = "-";
    if (whole)
        snprintf(text, sizeof text, "%.0f %%", 100.0 * (double)part / (double)whole);
    table_put(t, text);
}

void cell_thread(struct table *t, const struct page *p, uint32_t thread)
{
    char name[PAGE_NAME];
    page_thread(p, thread, name);
    printable_cut(name, page_room(p, THREAD_WIDTH));
    table_put(t, name);
}
