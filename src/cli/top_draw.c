/* top_draw.c - the pictures of orca top.  Everything is drawn anew; ncurses sends the terminal what
 * has changed.  Every text that comes from the JVM has been through printable_text. */
#include "base/printable.h"
#include "base/util.h"
#include "cli/top_screen_parts.h"
#include "cli/top_text.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- looks --------------------------------------------------------------------------------------
 */

static attr_t color(const struct screen *s, enum pair pair)
{
    return s->colors ? (attr_t)COLOR_PAIR(pair) : A_NORMAL;
}

static attr_t style_of(const struct screen *s, enum top_style style)
{
    switch (style) {
    case TOP_BOLD:
        return A_BOLD;
    case TOP_FAINT:
        return A_DIM;
    case TOP_WARNING:
        return A_BOLD | color(s, PAIR_YELLOW);
    case TOP_ALARM:
        return A_BOLD | A_REVERSE | color(s, PAIR_RED);
    default:
        return A_NORMAL;
    }
}

static attr_t state_color(const struct screen *s, const struct live_thread *t)
{
    if (t->deadlock)
        return A_BOLD | color(s, PAIR_RED);
    if (live_is_held_up(t->state))
        return color(s, PAIR_RED);
    return t->state == LIVE_RUNNING ? color(s, PAIR_GREEN) : A_NORMAL;
}

/* --- drawing ------------------------------------------------------------------------------------
 */

/* Text from column x on, cut to the width; `cut`: in the middle, else at its end. */
static void put(int y, int x, unsigned width, const char *text, bool cut)
{
    char line[4 * TOP_CELL];
    snprintf(line, sizeof line, "%s", text);
    if (cut) {
        printable_cut(line, width);
    } else {
        const char *p = line;
        for (size_t w = 0; *p;) {
            char one[8] = "";
            const char *from = p;
            utf8_next(&p);
            memcpy(one, from, (size_t)(p - from));
            w += printable_width(one);
            if (w > width) {
                line[from - line] = 0;
                break;
            }
        }
    }
    mvaddstr(y, x, line);
}

static unsigned column_width(const struct top_column *c, unsigned spare, unsigned weights)
{
    return c->width + (weights ? spare * c->weight / weights : 0);
}

static bool is_shown(const struct top_column *c)
{
    return (int)c->from <= COLS;
}

/* What is left when each column has its least, and what share it by. */
static unsigned spare_width(const struct top_columns *c, unsigned *weights)
{
    unsigned used = 0;
    *weights = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!is_shown(&c->v[i]))
            continue;
        used += c->v[i].width + 1;
        *weights += c->v[i].weight;
    }
    return (unsigned)COLS + 1 > used ? (unsigned)COLS + 1 - used : 0;
}

static void put_bar(int y, int x, unsigned width, const char *cell)
{
    char bar[64];
    unsigned room = width - 5, n = (unsigned)(atof(cell) * room / 100 + 0.5);
    n = n > room ? room : n;
    n = n > sizeof bar - 1 ? sizeof bar - 1 : n;
    memset(bar, '|', n);
    bar[n] = 0;
    mvaddstr(y, x, bar);
    mvprintw(y, x + (int)room, "%5s", cell);
}

/* Where the last part begins that should not be cut: "#5" of a lock; NULL: none. */
static const char *number_of(const char *cell, unsigned width)
{
    const char *p = strrchr(cell, '#');
    return p && strlen(p) < width / 2 ? p : NULL;
}

static void put_cell(const struct top_column *c, int y, int x, unsigned width, const char *cell)
{
    size_t mine = printable_width(cell);
    const char *number = mine > width ? number_of(cell, width) : NULL;
    if (c->table.align == TABLE_RIGHT && mine < width)
        x += (int)(width - mine);
    /* Of a place in the program the end tells most: the method and the line. */
    while (c->table.gives_way && mine > width) {
        utf8_next(&cell);
        mine = printable_width(cell);
    }
    if (number) {
        unsigned n = (unsigned)strlen(number);
        put(y, x, width - n - 1, cell, false);
        mvaddch(y, x + (int)(width - n) - 1, '~');
        put(y, x + (int)(width - n), n, number, false);
    } else {
        put(y, x, width, cell, true);
    }
}

static void draw_titles(const struct screen *s, int which, int y)
{
    const struct top_columns *c = &top_columns[which];
    unsigned weights, spare = spare_width(c, &weights);
    attr_t look = A_BOLD | ((int)s->v->locks == which ? A_UNDERLINE : 0);
    int x = 0;
    attrset(look | color(s, PAIR_CYAN));
    mvhline(y, 0, ' ' | look, COLS);
    for (size_t i = 0; i < c->n; i++) {
        char title[32];
        if (!is_shown(&c->v[i]))
            continue;
        unsigned width = column_width(&c->v[i], spare, weights);
        bool sorted = s->v->sort[which] == i;
        snprintf(title, sizeof title, "%s%s", c->v[i].table.title,
                 !sorted                ? ""
                 : s->v->reverse[which] ? "^"
                                        : "*");
        put_cell(&c->v[i], y, x, width, title);
        x += (int)width + 1;
    }
    attrset(A_NORMAL);
}

static void draw_row(const struct screen *s, int which, int y, const void *row, bool selected)
{
    const struct top_columns *c = &top_columns[which];
    unsigned weights, spare = spare_width(c, &weights);
    attr_t look = which == 0 ? state_color(s, row) : A_NORMAL;
    int x = 0;
    char cell[TOP_CELL];
    attrset(selected ? A_REVERSE : A_NORMAL);
    if (selected)
        mvhline(y, 0, ' ' | A_REVERSE, COLS);
    for (size_t i = 0; i < c->n; i++) {
        if (!is_shown(&c->v[i]))
            continue;
        unsigned width = column_width(&c->v[i], spare, weights);
        c->v[i].cell(s->v, row, cell);
        attrset(selected ? A_REVERSE : i == 1 || c->v[i].bar ? look : A_NORMAL);
        if (c->v[i].bar)
            put_bar(y, x, width, cell);
        else
            put_cell(&c->v[i], y, x, width, cell);
        x += (int)width + 1;
    }
    attrset(A_NORMAL);
}

size_t screen_row_count(const struct screen *s, int which)
{
    return which ? s->rows.n_locks : s->rows.n_threads;
}

static const void *row_at(const struct screen *s, int which, size_t i)
{
    return which ? (const void *)s->rows.locks[i] : (const void *)s->rows.threads[i];
}

uint32_t screen_row_id(const struct screen *s, int which, size_t i)
{
    return which ? s->rows.locks[i]->id.v : s->rows.threads[i]->id.v;
}

static void draw_table(struct screen *s, int which, int y, size_t height)
{
    struct cursor *c = &s->cursor[which];
    size_t n = screen_row_count(s, which);
    c->height = height;
    if (c->at < c->first)
        c->first = c->at;
    if (c->at >= c->first + height)
        c->first = c->at - height + 1;
    if (c->first + height > n)
        c->first = n > height ? n - height : 0;
    draw_titles(s, which, y);
    for (size_t i = 0; i < height && c->first + i < n; i++)
        draw_row(s, which, y + 1 + (int)i, row_at(s, which, c->first + i),
                 (int)s->v->locks == which && c->first + i == c->at);
    if (!n && height) {
        attrset(A_DIM);
        put(y + 1, 0, (unsigned)COLS,
            *s->v->filter ? "none matches the filter"
            : which       ? "no lock was wanted by two threads at a time"
                          : "no thread was seen yet",
            false);
        attrset(A_NORMAL);
    }
}

/* The table with the keys gets two thirds of the room, if it needs so much. */
static void draw_tables(struct screen *s, int y)
{
    int room = LINES - 1 - y - 3; /* footer, two titles, a blank line */
    size_t all = room > 2 ? (size_t)room : 2, threads = s->rows.n_threads, locks = s->rows.n_locks;
    size_t most = s->v->locks ? all * 2 / 3 : all / 3;
    size_t for_locks = locks < most ? locks : most;
    for_locks = for_locks ? for_locks : 1;
    if (threads < all - for_locks)
        for_locks = all - (threads ? threads : 1) < locks ? all - (threads ? threads : 1)
                    : locks                               ? locks
                                                          : 1;
    draw_table(s, 0, y, all - for_locks);
    draw_table(s, 1, y + 2 + (int)(all - for_locks), for_locks);
}

static int draw_lines(const struct screen *s, const struct top_text *text, int y, size_t from,
                      int end)
{
    enum top_style style;
    const char *line;
    size_t at = 0;
    for (size_t i = 0; (line = top_text_next(text, &at, &style)) && y < end; i++) {
        if (i < from)
            continue;
        attrset(style_of(s, style));
        put(y++, 0, (unsigned)COLS, line, *line == ' '); /* of a frame both ends tell */
        attrset(A_NORMAL);
    }
    return y;
}

static void draw_page(struct screen *s)
{
    struct top_text text = {0};
    if (s->page == PAGE_THREAD)
        top_about_thread(s->v, (thread_id){s->about}, &text);
    else if (s->page == PAGE_LOCK)
        top_about_lock(s->v, (lock_id){s->about}, &text);
    else
        top_help(&text);
    size_t room = (size_t)LINES - 1;
    if (s->scroll + room > text.n)
        s->scroll = text.n > room ? text.n - room : 0;
    draw_lines(s, &text, 0, s->scroll, LINES - 1);
    top_text_fini(&text);
}

static void draw_footer(const struct screen *s)
{
    char line[256];
    if (s->prompt != PROMPT_NONE)
        snprintf(line, sizeof line, "%s%s_",
                 s->prompt == PROMPT_FILTER ? "only names with: " : "seconds between pictures: ",
                 s->typed);
    else if (s->page != PAGE_TABLES)
        snprintf(line, sizeof line, "Esc back   up/down scroll   p pause   q quit");
    else
        snprintf(line, sizeof line,
                 "q quit  p %s  Tab %s  Enter details  s sort  r reverse  / %.20s  h help",
                 s->v->paused ? "go on" : "pause", s->v->locks ? "threads" : "locks",
                 *s->v->filter ? s->v->filter : "filter");
    attrset(A_REVERSE);
    mvhline(LINES - 1, 0, ' ' | A_REVERSE, COLS);
    put(LINES - 1, 0, (unsigned)COLS - 1, line, false);
    attrset(A_NORMAL);
}

void screen_draw(struct screen *s)
{
    struct top_text head = {0};
    erase();
    if (COLS < LEAST_COLUMNS || LINES < LEAST_LINES) {
        mvprintw(0, 0, "%dx%d is too small:", COLS, LINES);
        mvprintw(1, 0, "orca top needs %dx%d", LEAST_COLUMNS, LEAST_LINES);
    } else if (!s->has_picture) {
        mvaddstr(0, 0, "reading what is recorded ...");
        draw_footer(s);
    } else {
        if (s->page != PAGE_TABLES) {
            draw_page(s);
        } else {
            top_head(s->v, &head);
            draw_tables(s, draw_lines(s, &head, 0, 0, LINES - 6) + 1);
        }
        draw_footer(s);
    }
    top_text_fini(&head);
    refresh();
}
