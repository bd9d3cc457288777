/* unwind.c - what a frame of C costs to unwind.
 *
 *   unwind [ROUNDS]     1000
 *
 * 50 frames of functions of different shapes, and their callers: remembered rules, each rule
 * decoded anew, and glibc's backtrace().  Also a refresh of the libraries when nothing changed, and
 * a lookup.  ns; the least and the median of the rounds. */
#include "base/clock.h"
#include "base/guarded.h"
#include "unwind/unwind_x86_64.h"

#include <alloca.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FRAMES = 50, DEEP = 200, TIMES = 20 };

static struct unwinder *unwinder;
static int rounds = 1000;
static volatile unsigned sink;

static int unwind_all(const ucontext_t *context, bool uncached)
{
    struct unwind_frame f;
    int n = 1;
    unwind_context(context, &f);
    while (n < DEEP && unwind_step(unwinder, UINTPTR_MAX, uncached, &f) == UNWIND_CALLER)
        n++;
    return n;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *ns, int per)
{
    qsort(ns, (size_t)rounds, sizeof *ns, by_value);
    printf("%-44s %8.1f least %8.1f median", what, ns[0], ns[rounds / 2]);
    if (per > 1)
        printf("   %6.1f, %6.1f a frame", ns[0] / per, ns[rounds / 2] / per);
    printf("\n");
}

enum way { REMEMBERED, DECODED, BACKTRACE, LOOKUP, REFRESH, WAYS };

static int once(enum way way, const ucontext_t *context)
{
    void *pcs[DEEP];
    switch (way) {
    case REMEMBERED:
        return unwind_all(context, false);
    case DECODED:
        return unwind_all(context, true);
    case BACKTRACE:
        return backtrace(pcs, DEEP);
    case LOOKUP:
        return libraries_find(unwinder_libraries(unwinder), (uintptr_t)once) != NULL;
    default:
        return libraries_refresh(unwinder_libraries(unwinder), NULL) + 1;
    }
}

static void measure(void)
{
    static const char *const names[WAYS] = {"remembered", "decoded anew", "backtrace()",
                                            "lookup of a library", "refresh, nothing new"};
    ucontext_t here;
    double *ns = calloc((size_t)rounds, sizeof *ns);
    getcontext(&here);
    for (enum way way = 0; ns && way < WAYS; way++) {
        int frames = once(way, &here);
        for (int round = 0; round < rounds; round++) {
            uint64_t began = clock_mono_ns();
            for (int i = 0; i < TIMES; i++)
                sink += (unsigned)once(way, &here);
            ns[round] = (double)(clock_mono_ns() - began) / TIMES;
        }
        report(names[way], ns, frames);
        if (frames > 1)
            printf("    %d frames\n", frames);
    }
    free(ns);
}

static unsigned go(int n);

/* Different numbers of saved registers and bytes, so different rules; one hangs on rbp. */
#define SHAPE(name, words)                                                                         \
    __attribute__((noinline)) static unsigned name(int n)                                          \
    {                                                                                              \
        volatile int room[words];                                                                  \
        room[0] = n;                                                                               \
        unsigned result = go(n - 1);                                                               \
        return result + (unsigned)room[0];                                                         \
    }

SHAPE(shape0, 2)
SHAPE(shape1, 10)
SHAPE(shape2, 20)
SHAPE(shape3, 50)

__attribute__((noinline)) static unsigned shape4(int n)
{
    volatile char *room = alloca((size_t)n + 16);
    room[0] = (char)n;
    unsigned result = go(n - 1);
    return result + (unsigned)room[0];
}

__attribute__((noinline)) static unsigned go(int n)
{
    static unsigned (*const shapes[])(int) = {shape0, shape1, shape2, shape3, shape4};
    if (n <= 0)
        measure();
    else
        sink += shapes[n % 5](n);
    return sink;
}

int main(int argc, char **argv)
{
    struct err err;
    if (argc > 1)
        rounds = atoi(argv[1]) > 0 ? atoi(argv[1]) : rounds;
    if (guarded_open(&err) < 0 || unwinder_new(&unwinder, &err) < 0) {
        fprintf(stderr, "unwind: %s\n", err.msg);
        return 1;
    }
    go(FRAMES / 2);
    return 0;
}
