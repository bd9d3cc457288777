/* top_screen.c - orca top on a terminal: a page of text (top_text.h) that scrolls, its keys, and
 * the loop that waits for one of them or for the time of the next picture.  One thread.  Everything
 * is drawn anew; ncurses sends the terminal what has changed.  Every text that comes from the JVM
 * has been through printable_text. */
#include "cli/top_screen.h"

#include "base/clock.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/screen.h"

#include <curses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ESCAPE = 27, ENTER = 10, CTRL_L = 12, LEAST_COLUMNS = 60, LEAST_LINES = 12 };

enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_DELAY };

struct screen {
    struct top_view *v;
    enum top_page page;
    unsigned number; /* of the finding */
    size_t scroll;   /* lines above the screen */
    enum prompt prompt;
    char typed[64];
    bool quit, colors, has_picture;
    uint64_t next; /* when to look again */
};

/* --- drawing ---------------------------------------------------------------------------------- */

/* By enum page_style. */
static attr_t look_of(const struct screen *s, int style)
{
    static const attr_t looks[] = {A_NORMAL, A_BOLD, A_BOLD, A_BOLD, A_DIM};
    static const int pairs[] = {0, 0, 1, 2, 0};
    return looks[style] | (s->colors && pairs[style] ? (attr_t)COLOR_PAIR(pairs[style]) : 0);
}

static void put(const struct screen *s, int y, const char *text)
{
    char line[2 * PAGE_NAME];
    printable_text(text, s->v->utf8, line, sizeof line);
    printable_cut(line, (size_t)COLS);
    mvaddstr(y, 0, line);
}

static void draw_text(struct screen *s, char *text)
{
    size_t n = 0, room = (size_t)LINES - 1;
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    if (s->scroll + room > n)
        s->scroll = n > room ? n - room : 0;
    char *at = text;
    for (size_t i = 0; *at && i < s->scroll + room; i++) {
        char *end = strchrnul(at, '\n'), *next = *end ? end + 1 : end;
        int style = *at > 0 && *at <= STYLE_FAINT ? *at++ : STYLE_PLAIN;
        *end = 0;
        attrset(look_of(s, style));
        if (i >= s->scroll)
            put(s, (int)(i - s->scroll), at);
        attrset(A_NORMAL);
        at = next;
    }
}

static void draw_page(struct screen *s)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return;
    top_print(s->v, s->page, s->number, to, (size_t)COLS, (size_t)LINES - 6, true);
    if (fclose(to) == 0)
        draw_text(s, text);
    free(text);
}

static void draw_footer(const struct screen *s)
{
    char line[256];
    if (s->prompt != PROMPT_NONE)
        snprintf(line, sizeof line, "%s%s_",
                 s->prompt == PROMPT_FILTER ? "only threads with: " : "seconds between refreshes: ",
                 s->typed);
    else if (s->page == TOP_FINDING || s->page == TOP_HELP)
        snprintf(line, sizeof line, "Esc back   up/down scroll   p pause   q quit");
    else
        snprintf(line, sizeof line, "q quit  p %s  t %s  1-9 finding  / %.20s  h help",
                 s->v->paused ? "continue" : "pause",
                 s->page == TOP_THREADS ? "picture" : "threads",
                 *s->v->filter ? s->v->filter : "filter");
    attrset(A_REVERSE);
    mvhline(LINES - 1, 0, ' ' | A_REVERSE, COLS);
    put(s, LINES - 1, line);
    attrset(A_NORMAL);
}

static void draw(struct screen *s)
{
    erase();
    if (COLS < LEAST_COLUMNS || LINES < LEAST_LINES) {
        mvprintw(0, 0, "%dx%d is too small:", COLS, LINES);
        mvprintw(1, 0, "orca top needs %dx%d", LEAST_COLUMNS, LEAST_LINES);
    } else {
        if (s->has_picture)
            draw_page(s);
        else
            mvaddstr(0, 0, "reading the recording ...");
        draw_footer(s);
    }
    refresh();
}

/* --- keys ------------------------------------------------------------------------------------- */

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

/* Lines that a key scrolls by; 0: it is another key. */
static long scrolls(int key)
{
    enum { ALL = 1000000 };
    const struct {
        int key;
        long by;
    } keys[] = {{KEY_UP, -1},           {'k', -1},        {KEY_DOWN, 1},  {'j', 1},
                {KEY_PPAGE, 2 - LINES}, {KEY_HOME, -ALL}, {KEY_END, ALL}, {KEY_NPAGE, LINES - 2}};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (keys[i].key == key)
            return keys[i].by;
    return 0;
}

static void go_to(struct screen *s, enum top_page page)
{
    s->page = page;
    s->scroll = 0;
}

static void go_back(struct screen *s)
{
    if (s->page == TOP_PICTURE || s->page == TOP_THREADS)
        s->v->filter[0] = 0;
    else
        go_to(s, TOP_PICTURE);
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
    s->v->window = seconds[at] * UINT64_C(1000000000);
}

static void pause_or_go_on(struct screen *s)
{
    s->v->paused = !s->v->paused;
    s->next = clock_mono_ns();
}

static void press(struct screen *s, int key)
{
    if (key == KEY_RESIZE)
        return;
    if (s->prompt != PROMPT_NONE) {
        prompt_key(s, key);
        return;
    }
    long by = scrolls(key);
    if (by) {
        s->scroll = by < 0 && s->scroll < (size_t)-by ? 0 : s->scroll + (size_t)by;
        return;
    }
    if (key >= '1' && key <= '9') {
        go_to(s, TOP_FINDING);
        s->number = (unsigned)(key - '0');
        return;
    }
    switch (key) {
    case 'q':
        s->quit = true;
        break;
    case 'p':
    case ' ':
        pause_or_go_on(s);
        break;
    case 't':
    case '\t':
        go_to(s, s->page == TOP_THREADS ? TOP_PICTURE : TOP_THREADS);
        break;
    case ESCAPE:
    case KEY_BACKSPACE:
    case 127:
        go_back(s);
        break;
    case 'h':
    case '?':
        go_to(s, s->page == TOP_HELP ? TOP_PICTURE : TOP_HELP);
        break;
    case '/':
        begin_prompt(s, PROMPT_FILTER);
        break;
    case 'd':
        begin_prompt(s, PROMPT_DELAY);
        break;
    case '+':
    case '=':
        change_window(s, 1);
        break;
    case '-':
        change_window(s, -1);
        break;
    case CTRL_L:
        clearok(curscr, TRUE);
        break;
    default:
        break;
    }
}

/* --- the loop --------------------------------------------------------------------------------- */

static int look_again(struct screen *s, struct err *err)
{
    TRY(top_source_refresh(s->v->source, s->v->window, err));
    s->has_picture = true;
    s->next = clock_mono_ns() + s->v->delay;
    return 0;
}

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
        draw(s);
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
    init_pair(1, COLOR_YELLOW, (short)back);
    init_pair(2, COLOR_RED, (short)back);
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
    return rc;
}
