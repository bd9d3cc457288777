/* report_io.c - `orca report --io`: recorded input and output by what was at the other end. */
#include "cli/page.h"

#include "base/printable.h"
#include "base/util.h"
#include "cli/page_cells.h"

void page_io(const struct page *p)
{
    enum { PEER_WIDTH = 48 };
    static const struct table_column columns[] = {
        {"time", TABLE_RIGHT, false},    {"calls", TABLE_RIGHT, false},
        {"mean", TABLE_RIGHT, false},    {"longest", TABLE_RIGHT, false},
        {"threads", TABLE_RIGHT, false}, {"", TABLE_LEFT, false},
        {"other end", TABLE_LEFT, true}};
    const struct peer_sums *all = &p->r->io;
    struct table t;
    if (!all->n) {
        page_nothing(p, "No input or output was recorded (group io).");
        return;
    }
    page_list_heading(p, "Input and output", all->n, "most time first");
    table_init(&t, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < report_rows(p->r, all->n); i++) {
        const struct peer_sum *s = &all->v[i];
        char name[PAGE_NAME], text[PAGE_NAME];
        cell_time(&t, s->ns, 1);
        cell_count(&t, s->calls);
        cell_time(&t, s->ns / s->calls, 1);
        cell_time(&t, s->max, 1);
        cell_count(&t, s->threads);
        table_put(&t, io_kinds[s->what].name);
        peer_name(p->r->trace, (lock_id){s->peer}, name, sizeof name);
        printable_text(name, p->utf8, text, sizeof text);
        printable_cut(text, PEER_WIDTH);
        table_put(&t, text);
    }
    page_table(p, &t);
}
