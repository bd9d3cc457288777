/* top_screen.c - orca top on a terminal: its keys, and the loop that waits for one of them or for
 * the time of the next picture.  One thread. */
#include "cli/top_screen.h"

#include "base/clock.h"
#include "base/util.h"
#include "cli/screen.h"
#include "cli/top_screen_parts.h"

#include <curses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ESCAPE = 27, ENTER = 10, CTRL_L = 12 };

/* --- pictures -----------------------------------------------------------------------------------
 */

/* Rows have moved: the cursor goes with its own, unless it stands at the top. */
static void settle_cursor(struct screen *s, int which)
{
    struct cursor *c = &s->cursor[which];
    size_t n = screen_row_count(s, which);
    if (c->at)
        for (size_t i = 0; i < n; i++)
            if (screen_row_id(s, which, i) == c->id)
                c->at = i;
    c->at = c->at >= n && n ? n - 1 : n ? c->at : 0;
    c->id = n ? screen_row_id(s, which, c->at) : 0;
}

static int make_rows(struct screen *s, struct err *err)
{
    if (top_rows_make(&s->rows, s->v) < 0)
        return err_set(err, -ENOMEM, "out of memory");
    settle_cursor(s, 0);
    settle_cursor(s, 1);
    return 0;
}

static int look_again(struct screen *s, struct err *err)
{
    TRY(top_source_refresh(s->v->source, s->v->window, err));
    s->has_picture = true;
    s->next = clock_mono_ns() + s->v->delay;
    return make_rows(s, err);
}

/* --- keys ---------------------------------------------------------------------------------------
 */

static void begin_prompt(struct screen *s, enum prompt p)
{
    s->prompt = p;
    snprintf(s->typed, sizeof s->typed, "%s", p == PROMPT_FILTER ? s->v->filter : "");
}

static void take_delay(struct screen *s)
{
    double seconds = atof(s->typed);
    if (seconds >= 0.1 && seconds <= 3600) {
        s->v->delay = (uint64_t)(seconds * 1e9);
        s->next = clock_mono_ns();
    }
}

static void prompt_key(struct screen *s, int key)
{
    size_t n = strlen(s->typed);
    if (key == ESCAPE) {
        s->typed[0] = 0;
        if (s->prompt == PROMPT_FILTER)
            s->v->filter[0] = 0;
        s->prompt = PROMPT_NONE;
        return;
    }
    if (key == ENTER || key == KEY_ENTER || key == '\r') {
        if (s->prompt == PROMPT_DELAY)
            take_delay(s);
        s->prompt = PROMPT_NONE;
        return;
    }
    if ((key == KEY_BACKSPACE || key == 127 || key == 8) && n) {
        do
            s->typed[--n] = 0;
        while (n && (s->typed[n - 1] & 0xc0) == 0x80); /* of several bytes */
    } else if (key >= ' ' && key < 256 && key != 127 && n + 1 < sizeof s->typed) {
        s->typed[n] = (char)key;
        s->typed[n + 1] = 0;
    }
    if (s->prompt == PROMPT_FILTER)
        snprintf(s->v->filter, sizeof s->v->filter, "%s", s->typed);
}

static void move_by(struct screen *s, long by)
{
    struct cursor *c = &s->cursor[s->v->locks];
    size_t n = screen_row_count(s, s->v->locks);
    if (s->page != PAGE_TABLES) {
        s->scroll = by < 0 && s->scroll < (size_t)-by ? 0 : s->scroll + (size_t)by;
        return;
    }
    long to = (long)c->at + by;
    c->at = to < 0 || !n ? 0 : (size_t)to >= n ? n - 1 : (size_t)to;
    c->id = n ? screen_row_id(s, s->v->locks, c->at) : 0;
}

static long page_height(const struct screen *s)
{
    size_t h = s->cursor[s->v->locks].height;
    return s->page != PAGE_TABLES ? LINES - 2 : h > 1 ? (long)h - 1 : 1;
}

static bool movement_key(struct screen *s, int key)
{
    enum { ALL = 1000000 };
    switch (key) {
    case KEY_UP:
    case 'k':
        move_by(s, -1);
        return true;
    case KEY_DOWN:
    case 'j':
        move_by(s, 1);
        return true;
    case KEY_PPAGE:
        move_by(s, -page_height(s));
        return true;
    case KEY_NPAGE:
        move_by(s, page_height(s));
        return true;
    case KEY_HOME:
        move_by(s, -ALL);
        return true;
    case KEY_END:
        move_by(s, ALL);
        return true;
    default:
        return false;
    }
}

static void drill_in(struct screen *s)
{
    const struct cursor *c = &s->cursor[s->v->locks];
    if (s->page != PAGE_TABLES || !screen_row_count(s, s->v->locks))
        return;
    s->about = c->id;
    s->scroll = 0;
    s->page = s->v->locks ? PAGE_LOCK : PAGE_THREAD;
}

static void go_back(struct screen *s)
{
    if (s->page == PAGE_TABLES)
        s->v->filter[0] = 0;
    s->page = PAGE_TABLES;
}

static void change_window(struct screen *s, int step)
{
    static const uint64_t seconds[] = {1, 2, 5, 10, 20, 30, 60};
    size_t at = 0;
    while (at + 1 < ARRAY_LEN(seconds) && seconds[at] * 1000000000 < s->v->window)
        at++;
    if (step > 0 && at + 1 < ARRAY_LEN(seconds))
        at++;
    if (step < 0 && at > 0)
        at--;
    s->v->window = min_u64(seconds[at] * UINT64_C(1000000000), LIVE_WINDOW_MAX_NS);
    if (s->has_picture)
        live_look(&s->v->source->live, s->v->window);
}

static void pause_or_go_on(struct screen *s)
{
    s->v->paused = !s->v->paused;
    s->next = clock_mono_ns();
}

static void view_key(struct screen *s, int key)
{
    switch (key) {
    case '\t':
        s->v->locks = !s->v->locks;
        break;
    case 's':
    case '>':
        top_rows_sort_by(s->v, 1, (unsigned)COLS);
        break;
    case '<':
        top_rows_sort_by(s->v, -1, (unsigned)COLS);
        break;
    case 'r':
        s->v->reverse[s->v->locks] = !s->v->reverse[s->v->locks];
        break;
    case '/':
        begin_prompt(s, PROMPT_FILTER);
        break;
    case 'd':
        begin_prompt(s, PROMPT_DELAY);
        break;
    case 'v':
        s->v->no_virtual = !s->v->no_virtual;
        break;
    case '+':
    case '=':
        change_window(s, 1);
        break;
    case '-':
        change_window(s, -1);
        break;
    default:
        break;
    }
}

static void press(struct screen *s, int key)
{
    if (key == KEY_RESIZE)
        return;
    if (s->prompt != PROMPT_NONE) {
        prompt_key(s, key);
        return;
    }
    if (movement_key(s, key))
        return;
    switch (key) {
    case 'q':
        s->quit = true;
        break;
    case 'p':
    case ' ':
        pause_or_go_on(s);
        break;
    case ENTER:
    case '\r':
    case KEY_ENTER:
        drill_in(s);
        break;
    case ESCAPE:
    case KEY_BACKSPACE:
    case 127:
        go_back(s);
        break;
    case 'h':
    case '?':
        s->page = s->page == PAGE_HELP ? PAGE_TABLES : PAGE_HELP;
        s->scroll = 0;
        break;
    case CTRL_L:
        clearok(curscr, TRUE);
        break;
    default:
        if (s->page == PAGE_TABLES)
            view_key(s, key);
    }
}

/* --- the loop -----------------------------------------------------------------------------------
 */

/* Keys that are there, or the time of the next picture.  False: the terminal is gone. */
static bool wait_for_keys(struct screen *s, int *dead)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    uint64_t now = clock_mono_ns();
    int key, keys = 0, ms = s->next > now ? (int)((s->next - now) / 1000000) + 1 : 0;
    if (s->v->paused)
        ms = 1000;
    int n = poll(&p, 1, ms);
    if (n > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL))
        return false;
    while (!s->quit && (key = getch()) != ERR) {
        press(s, key);
        keys++;
    }
    /* Readable, and nothing to read, again and again: that is an end. */
    *dead = n > 0 && !keys ? *dead + 1 : 0;
    return *dead < 100;
}

static int show(struct screen *s, const volatile sig_atomic_t *stop, struct err *err)
{
    int dead = 0;
    while (!s->quit && !*stop) {
        bool due = !s->v->paused && clock_mono_ns() >= s->next;
        if (due)
            TRY(look_again(s, err));
        else if (s->has_picture)
            TRY(make_rows(s, err)); /* a key may have changed what is shown */
        screen_draw(s);
        if (!wait_for_keys(s, &dead))
            return 0;
    }
    return 0;
}

static void set_up(struct screen *s)
{
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    const char *no_color = getenv("NO_COLOR");
    s->colors = !(no_color && *no_color) && has_colors() && start_color() == OK;
    if (!s->colors)
        return;
    int back = use_default_colors() == OK ? -1 : COLOR_BLACK;
    init_pair(PAIR_RED, COLOR_RED, (short)back);
    init_pair(PAIR_GREEN, COLOR_GREEN, (short)back);
    init_pair(PAIR_YELLOW, COLOR_YELLOW, (short)back);
    init_pair(PAIR_CYAN, COLOR_CYAN, (short)back);
}

int top_screen_run(struct top_view *v, uint64_t first, const volatile sig_atomic_t *stop,
                   struct err *err)
{
    struct screen s = {.v = v, .next = clock_mono_ns() + first};
    const char *term = getenv("TERM");
    screen_end();
    SCREEN *terminal = newterm(NULL, stdout, stdin);
    if (!terminal)
        return err_set(err, -ENOTTY,
                       "the terminal (TERM=%s) cannot be drawn on; --batch prints tables",
                       term ? term : "");
    set_up(&s);
    int rc = show(&s, stop, err);
    endwin();
    delscreen(terminal);
    top_rows_fini(&s.rows);
    return rc;
}
