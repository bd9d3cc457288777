#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

/* What is done before it is seen needs no progress. */
enum { FIRST_MS = 500, EVERY_MS = 100 };

void progress_begin(struct progress *p, const char *what)
{
    *p = (struct progress){
        .what = what,
        .on = isatty(STDERR_FILENO),
        .next = clock_mono_ns() + FIRST_MS * UINT64_C(1000000),
    };
}

void progress_step(void *ctx, uint64_t done, uint64_t total)
{
    struct progress *p = ctx;
    if (!p->on || clock_mono_ns() < p->next)
        return;
    p->next = clock_mono_ns() + EVERY_MS * UINT64_C(1000000);
    p->shown = true;
    double percent = total ? 100.0 * (double)done / (double)total : 0;
    fprintf(stderr, "\r%s %.0f %%", p->what, percent < 100 ? percent : 100);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
