#include "cli/table.h"

#include "base/printable.h"
#include "base/util.h"
#include "cli/screen.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 2, LEAST = 8 };

void table_init(struct table *t, const struct table_column *columns, size_t n)
{
    INVARIANT(n && n <= TABLE_COLUMNS);
    *t = (struct table){.columns = columns, .n_columns = n, .all = screen_width()};
    for (size_t i = 0; i < n; i++)
        t->width[i] = strlen(columns[i].title);
}

void table_fini(struct table *t)
{
    buf_fini(&t->cells);
}

void table_put(struct table *t, const char *text)
{
    size_t *w = &t->width[t->n_cells++ % t->n_columns], mine = printable_width(text);
    *w = mine > *w ? mine : *w;
    buf_put(&t->cells, text, strlen(text) + 1);
}

/* Width of all columns but the one that gives way, and the width of that column by itself. */
static size_t fixed_width(const struct table *t, size_t *giving)
{
    size_t sum = 0;
    *giving = 0;
    for (size_t i = 0; i < t->n_columns; i++)
        *(t->columns[i].gives_way ? giving : &sum) += t->width[i];
    return sum;
}

static size_t gap_of(const struct table *t, size_t want)
{
    size_t giving, fixed = fixed_width(t, &giving);
    return fixed + want + GAP * (t->n_columns - 1) <= t->all ? GAP : 1;
}

size_t table_room(const struct table *t, size_t want)
{
    size_t giving, used = fixed_width(t, &giving) + gap_of(t, want) * (t->n_columns - 1);
    return used + LEAST < t->all ? t->all - used : LEAST;
}

static void print_cell(const struct table *t, size_t column, const char *text, FILE *to)
{
    char cut[512];
    size_t giving, width = t->width[column];
    fixed_width(t, &giving);
    if (t->columns[column].gives_way && width > table_room(t, giving))
        width = table_room(t, giving);
    snprintf(cut, sizeof cut, "%s", text);
    printable_cut(cut, width);
    size_t mine = printable_width(cut), pad = width > mine ? width - mine : 0;
    bool last = column + 1 == t->n_columns, right = t->columns[column].align == TABLE_RIGHT;
    fprintf(to, "%*s%s%*s", right ? (int)pad : 0, "", cut, last || right ? 0 : (int)pad,
            ""); /* nothing behind the last one */
    fprintf(to, "%*s", last ? 0 : (int)gap_of(t, giving), "");
    if (last)
        fputc('\n', to);
}

void table_print(const struct table *t, FILE *to)
{
    for (size_t i = 0; i < t->n_columns; i++)
        print_cell(t, i, t->columns[i].title, to);
    if (t->cells.oom || !t->n_columns)
        return;
    const char *p = (const char *)t->cells.p;
    for (size_t i = 0; i < t->n_cells; i++, p += strlen(p) + 1)
        print_cell(t, i % t->n_columns, p, to);
}
