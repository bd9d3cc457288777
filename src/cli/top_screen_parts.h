/* top_screen_parts.h - what top_screen.c (keys, the loop) and top_draw.c share; nothing else
 * includes it. */
#ifndef ORCA_CLI_TOP_SCREEN_PARTS_H
#define ORCA_CLI_TOP_SCREEN_PARTS_H

#include "cli/top_rows.h"

enum { LEAST_COLUMNS = 60, LEAST_LINES = 12 };

/* What is in the whole screen instead of the tables. */
enum page { PAGE_TABLES, PAGE_THREAD, PAGE_LOCK, PAGE_HELP };

enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_DELAY };

/* The cursor in a table: it stays with its row, but at the top with the top. */
struct cursor {
    size_t at, first; /* rows: the cursor's, the first on the screen */
    uint32_t id;      /* of its thread or lock; 0: none */
    size_t height;    /* rows on the screen, when last drawn */
};

struct screen {
    struct top_view *v;
    struct top_rows rows;
    struct cursor cursor[2];
    enum page page;
    size_t scroll; /* of the page */
    uint32_t about;
    enum prompt prompt;
    char typed[64];
    bool quit, colors;
    bool has_picture;
    uint64_t next; /* when to look again */
};

enum pair { PAIR_PLAIN, PAIR_RED, PAIR_GREEN, PAIR_YELLOW, PAIR_CYAN };

size_t screen_row_count(const struct screen *s, int which);
uint32_t screen_row_id(const struct screen *s, int which, size_t i);

/* Draw the whole screen. */
void screen_draw(struct screen *s);

#endif
