#include "cli/progress.h"

#include "base/clock.h"
#include "base/human.h"

#include <stdio.h>
#include <unistd.h>

/* Short work needs no progress. */
enum { FIRST_MS = 500, EVERY_MS = 100 };

void progress_begin(struct progress *p, const char *what)
{
    *p = (struct progress){
        .what = what,
        .on = isatty(STDERR_FILENO),
        .next = clock_mono_ns() + FIRST_MS * UINT64_C(1000000),
    };
}

void progress_phase(struct progress *p, const char *what)
{
    if (p->what == what)
        return;
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->what = what;
    if (p->shown)
        p->next = 0; /* at once: the line is gone */
}

/* Whether the line is to be drawn again now. */
static bool is_due(struct progress *p)
{
    if (!p->on || clock_mono_ns() < p->next)
        return false;
    p->next = clock_mono_ns() + EVERY_MS * UINT64_C(1000000);
    p->shown = true;
    return true;
}

void progress_step(void *ctx, uint64_t done, uint64_t total)
{
    struct progress *p = ctx;
    if (!is_due(p))
        return;
    double percent = total ? 100.0 * (double)done / (double)total : 0;
    fprintf(stderr, "\r%s %.0f %%", p->what, percent < 100 ? percent : 100);
}

void progress_grow(struct progress *p, uint64_t bytes)
{
    if (is_due(p))
        fprintf(stderr, "\r%s %s\033[K", p->what, human_bytes(bytes).text);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
