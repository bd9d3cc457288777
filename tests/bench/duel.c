/* duel.c - two programs in turn, this and that and that and this: what each step costs either.
 *
 *   duel steps ROUNDS KIND:N,KIND:N... COMMAND... -- COMMAND...
 *       Two programs that run beside each other and take orders (Steps.java): "KIND N" on their
 *       input is a step of N operations, its answer a line "done" or "done FIGURE".
 *   duel commands ROUNDS NAME:N COMMAND... -- COMMAND...
 *       Two commands, each run anew in each round; PID=NUMBER before a command: that process does
 *       some of the work, too.
 *
 * Prints "KIND ROUND THIS THAT": nanoseconds of processor time for an operation, or the figures
 * that were answered; and at the end of `steps` "# THIS|THAT KIND N", how many operations there
 * were, for each kind.  An answer "none" leaves the kind out.
 *
 * Processor time is that of the whole process: what a library does in threads of its own, and some
 * time after the call, costs, too.  It counts until the next step of the same process begins.
 * Neighbours on the same machine lengthen it by less than they lengthen the time of the clock on
 * the wall. */
#include "base/clock.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THIS, THAT, SIDES, KINDS_MAX = 64, WARM = 4 };

struct side {
    char **command;
    pid_t pid;
    pid_t other; /* a process that works for the command; 0: none */
    FILE *in, *out;
};

struct kind {
    char *name;
    long n;
    bool none;
    double *cost[SIDES];
};

static const char *const side_names[] = {"this", "that"};

static void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("duel: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

/* Processor time of a living process, its threads that ended included. */
static double process_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        fail("process %d has ended", (int)pid);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void start(struct side *s)
{
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0 || (s->pid = fork()) < 0)
        fail("cannot start %s: %s", s->command[0], strerror(errno));
    if (s->pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execvp(s->command[0], s->command);
        fail("%s: %s", s->command[0], strerror(errno));
    }
    close(to[0]);
    close(from[1]);
    s->in = fdopen(to[1], "w");
    s->out = fdopen(from[0], "r");
    if (!s->in || !s->out)
        fail("no memory");
}

/* False: the side cannot do it.  figure: what it answered, or less than 0. */
static bool step(struct side *s, const struct kind *k, double *figure)
{
    char line[200];
    fprintf(s->in, "%s %ld\n", k->name, k->n);
    if (fflush(s->in) != 0 || !fgets(line, sizeof line, s->out))
        fail("%s: ended during %s", s->command[0], k->name);
    *figure = -1;
    if (strcmp(line, "none\n") == 0)
        return false;
    if (strcmp(line, "done\n") != 0 && sscanf(line, "done %lf", figure) != 1)
        fail("%s: %s: not an answer: %s", s->command[0], k->name, line);
    return true;
}

static void run_kind(struct side sides[SIDES], struct kind *k, long rounds)
{
    double began[SIDES] = {0}, figure[SIDES] = {-1, -1};
    for (int s = 0; s < SIDES; s++)
        k->cost[s] = calloc((size_t)(rounds + WARM), sizeof *k->cost[s]);
    for (long r = 0; r < rounds + WARM && !k->none; r++) {
        for (int i = 0; i < SIDES; i++) {
            int s = (i + (int)r) % SIDES;
            double now = process_ns(sides[s].pid);
            if (r && figure[s] < 0)
                k->cost[s][r - 1] = (now - began[s]) / (double)k->n;
            began[s] = now;
            if (!step(&sides[s], k, &figure[s]))
                k->none = true;
            else if (figure[s] >= 0)
                k->cost[s][r] = figure[s];
        }
    }
    for (int s = 0; s < SIDES; s++)
        if (figure[s] < 0)
            k->cost[s][rounds + WARM - 1] = (process_ns(sides[s].pid) - began[s]) / (double)k->n;
    for (long r = WARM; r < rounds + WARM && !k->none; r++)
        printf("%s\t%ld\t%.3f\t%.3f\n", k->name, r - WARM, k->cost[THIS][r], k->cost[THAT][r]);
    fflush(stdout);
}

/* Each ends when there is nothing more to do. */
static void finish(struct side sides[SIDES])
{
    for (int s = 0; s < SIDES; s++) {
        int status = 0;
        fclose(sides[s].in);
        if (waitpid(sides[s].pid, &status, 0) != sides[s].pid || status != 0)
            fail("%s: %s ended with status %d", side_names[s], sides[s].command[0], status);
        fclose(sides[s].out);
    }
}

static void steps(struct side sides[SIDES], struct kind *kinds, size_t n, long rounds)
{
    for (int s = 0; s < SIDES; s++)
        start(&sides[s]);
    for (size_t i = 0; i < n; i++)
        run_kind(sides, &kinds[i], rounds);
    finish(sides);
    for (size_t i = 0; i < n; i++)
        if (!kinds[i].none)
            printf("#\t%s\t%ld\n", kinds[i].name, kinds[i].n * (rounds + WARM));
}

/* --- commands --------------------------------------------------------------------------------- */

static double seconds_ns(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static double run_command(const struct side *s)
{
    double before = s->other ? process_ns(s->other) : 0;
    struct rusage used;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(s->command[0], s->command);
        fail("%s: %s", s->command[0], strerror(errno));
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
        fail("cannot run %s: %s", s->command[0], strerror(errno));
    if (status != 0)
        fail("%s: status %d", s->command[0], status);
    return seconds_ns(used.ru_utime) + seconds_ns(used.ru_stime) +
           (s->other ? process_ns(s->other) - before : 0);
}

/* Round 0 fills the caches. */
static void commands(struct side sides[SIDES], const struct kind *k, long rounds)
{
    double cost[SIDES];
    for (long r = 0; r <= rounds; r++) {
        for (int i = 0; i < SIDES; i++) {
            int s = (i + (int)r) % SIDES;
            cost[s] = run_command(&sides[s]) / (double)k->n;
        }
        if (r)
            printf("%s\t%ld\t%.3f\t%.3f\n", k->name, r - 1, cost[THIS], cost[THAT]);
    }
}

/* --- arguments -------------------------------------------------------------------------------- */

static size_t parse_kinds(char *text, struct kind kinds[KINDS_MAX])
{
    size_t n = 0;
    for (char *word = strtok(text, ","); word && n < KINDS_MAX; word = strtok(NULL, ",")) {
        char *colon = strchr(word, ':');
        kinds[n].name = word;
        kinds[n].n = colon ? strtol(colon + 1, NULL, 10) : 0;
        if (kinds[n].n <= 0)
            fail("%s: wants KIND:N", word);
        *colon = '\0';
        n++;
    }
    return n;
}

static void parse_side(struct side *s, char **command)
{
    if (*command && strncmp(*command, "PID=", 4) == 0)
        s->other = (pid_t)strtol(*command++ + 4, NULL, 10);
    s->command = command;
    if (!*command)
        fail("a command is missing");
}

int main(int argc, char **argv)
{
    static struct kind kinds[KINDS_MAX];
    struct side sides[SIDES] = {0};
    char **split = argv + min_u64((uint64_t)argc, 4);
    while (*split && strcmp(*split, "--") != 0)
        split++;
    if (!*split)
        fail("usage: duel steps|commands ROUNDS KIND:N,... COMMAND... -- COMMAND...");
    *split = NULL;
    parse_side(&sides[THIS], argv + 4);
    parse_side(&sides[THAT], split + 1);
    long rounds = strtol(argv[2], NULL, 10);
    size_t n = parse_kinds(argv[3], kinds);
    if (strcmp(argv[1], "steps") == 0)
        steps(sides, kinds, n, rounds);
    else
        commands(sides, kinds, rounds);
    return 0;
}
