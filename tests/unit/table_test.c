#include "cli/screen.h"
#include "cli/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t len;

static void render(const struct table_column *columns, size_t n, const char *const *cells,
                   size_t n_cells)
{
    struct table t;
    FILE *to = open_memstream(&text, &len);
    table_init(&t, columns, n);
    for (size_t i = 0; i < n_cells; i++)
        table_put(&t, cells[i]);
    table_print(&t, to);
    table_fini(&t);
    fclose(to);
}

static const struct table_column two[] = {{"name", TABLE_LEFT, true},
                                          {"times", TABLE_RIGHT, false}};

Test(table, numbers_stand_at_the_right)
{
    static const char *const cells[] = {"ann", "7", "a long name", "1,234,567"};
    render(two, 2, cells, 4);
    cr_assert_str_eq(text, "name             times\n"
                           "ann                  7\n"
                           "a long name  1,234,567\n");
    free(text);
}

Test(table, no_rows)
{
    render(two, 2, NULL, 0);
    cr_assert_str_eq(text, "name  times\n");
    free(text);
}

Test(table, a_long_cell_gives_way_and_no_line_is_wrapped)
{
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    const char *const cells[] = {name, "1,234"};
    render(two, 2, cells, 2);
    char *line = strchr(text, '\n') + 1;
    cr_assert_eq(strcspn(line, "\n"), screen_width());
    cr_assert_str_eq(line + screen_width() - 7, "x 1,234\n", "one blank, where two do not fit");
    cr_assert(strstr(line, "x...x"));
    free(text);
}

Test(table, nothing_stands_behind_the_last_column)
{
    static const struct table_column left[] = {{"a", TABLE_LEFT, false}, {"b", TABLE_LEFT, true}};
    static const char *const cells[] = {"x", "longer", "y", "z"};
    render(left, 2, cells, 4);
    cr_assert_str_eq(text, "a  b\nx  longer\ny  z\n");
    free(text);
}
