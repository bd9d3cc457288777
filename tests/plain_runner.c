/* plain_runner.c - runs the Criterion tests, in the place of Criterion itself: that starts the
 * program anew for each test, its shared arena lies at an address that ThreadSanitizer keeps for
 * itself, and its workers leave without LeakSanitizer's check.  Linked before libcriterion, this
 * takes the place of its main and of what a test calls when it fails.
 *
 * One process per test, as many at a time as there are processors, those that take long first.
 * Understands --tap=FILE, --timeout=SECONDS (more of them on a busy machine: a limit ends a hang),
 * --filter PATTERN, --without=PATTERN (any number of them), --costs=FILE (tests/costs), --stop (no
 * test begins after one has failed); honours
 * init, fini, signal, exit_code, disabled; no parameterized tests. */
#include <criterion/criterion.h>

#include "patience.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_FAILED = 97, STATUS_SKIPPED = 98 };

extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak)),
    *__stop_cr_sts[] __attribute__((weak));

static const struct criterion_test *current;
static int failures;

static void fixture(bool begin)
{
    for (struct criterion_suite **s = __start_cr_sts; s && s < __stop_cr_sts; s++) {
        if (strcmp((*s)->name, current->category) != 0)
            continue;
        void (*fn)(void) = begin ? (*s)->data->init : (*s)->data->fini;
        if (fn)
            fn();
    }
    void (*fn)(void) = begin ? current->data->init : current->data->fini;
    if (fn)
        fn();
}

void criterion_internal_test_setup(void)
{
    fixture(true);
}

void criterion_internal_test_main(void (*fn)(void))
{
    fn();
}

void criterion_internal_test_teardown(void)
{
    fixture(false);
}

void criterion_send_assert(struct criterion_assert_stats *s)
{
    fprintf(stderr, "%s:%u: %s\n", s->file, s->line, s->message);
}

void cri_asserts_passed_incr(void) {}

void criterion_continue_test(void)
{
    failures++;
}

void criterion_abort_test(void)
{
    _exit(STATUS_FAILED);
}

void criterion_skip_test(const char *format, ...)
{
    (void)format;
    _exit(STATUS_SKIPPED);
}

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct running {
    const struct criterion_test *t;
    pid_t pid; /* 0: none */
    double began;
};

struct took {
    double wall_s, cpu_s;
};

static unsigned limit_s = 60;

/* The limit is reached: once more for each time that this machine is slower than a quiet one. */
static void on_alarm(int signal_number)
{
    signal(signal_number, SIG_DFL);
    alarm(limit_s * patience_slowness());
}

static struct running start(const struct criterion_test *t)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setsid(); /* what a test does to its group, or to a terminal, concerns nobody else */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGALRM, on_alarm);
        alarm(limit_s);
        current = t;
        t->test();
        exit(failures ? STATUS_FAILED : 0);
    }
    return (struct running){t, pid, now()};
}

/* One TAP line, in Criterion's own form.  Returns 1 when the test failed. */
static int report(const struct criterion_test *t, int status, const struct took *took, FILE *tap)
{
    const struct criterion_test_extra_data *d = t->data;
    const char *skip = WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SKIPPED ? "  # SKIP" : "";
    bool ok = *skip || (d->signal ? WIFSIGNALED(status) && WTERMSIG(status) == d->signal
                                  : WIFEXITED(status) && WEXITSTATUS(status) == d->exit_code);
    fprintf(tap, "%s - %s::%s%s", ok ? "ok" : "not ok", t->category, t->name, skip);
    if (!ok)
        fprintf(tap, WIFSIGNALED(status) ? " signal %d" : " exit status %d",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    fprintf(tap, "  (%.2fs, %.2fs cpu)\n", took->wall_s, took->cpu_s);
    return !ok;
}

/* Wait for any of them: its slot is free again.  Returns 1 when the test failed. */
static int reap(struct running *running, FILE *tap)
{
    int status;
    struct rusage used;
    pid_t pid = wait4(-1, &status, 0, &used);
    if (pid < 0) {
        perror("wait4");
        exit(2);
    }
    for (struct running *r = running;; r++) {
        if (r->pid != pid)
            continue;
        struct took took = {now() - r->began, seconds(&used.ru_utime) + seconds(&used.ru_stime)};
        r->pid = 0;
        return report(r->t, status, &took, tap);
    }
}

static struct running *find_free(struct running *running, long slots)
{
    for (long i = 0; i < slots; i++)
        if (running[i].pid == 0)
            return &running[i];
    return NULL;
}

enum { MOST_WITHOUT = 64, NAME_SIZE = 256 };

struct wanted {
    const char *filter;
    const char *without[MOST_WITHOUT];
    int n_without;
    bool stop;
};

static bool is_wanted(const struct wanted *w, const struct criterion_test *t)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s/%s", t->category, t->name);
    if (t->data->disabled || fnmatch(w->filter, name, 0) != 0)
        return false;
    snprintf(name, sizeof name, "%s::%s", t->category, t->name);
    for (int i = 0; i < w->n_without; i++)
        if (fnmatch(w->without[i], name, 0) == 0)
            return false;
    return true;
}

static void swap_tests(struct criterion_test **a, struct criterion_test **b)
{
    struct criterion_test *t = *a;
    *a = *b;
    *b = t;
}

/* The tests in the order in which they begin: those that the file names in its order, then the
 * others. */
static void put_first(const char *file)
{
    FILE *f = fopen(file, "r");
    char line[NAME_SIZE], name[NAME_SIZE], known[NAME_SIZE];
    struct criterion_test **next = __start_cr_tst;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%*f unit/%255s", name) != 1)
            continue;
        for (struct criterion_test **t = next; t < __stop_cr_tst; t++) {
            snprintf(known, sizeof known, "%s::%s", (*t)->category, (*t)->name);
            if (strcmp(known, name) == 0) {
                swap_tests(next++, t);
                break;
            }
        }
    }
    if (f)
        fclose(f);
}

static int run_all(const struct wanted *wanted, FILE *tap)
{
    enum { MOST = 64 };
    struct running running[MOST] = {{0}}, *slot;
    long slots = sysconf(_SC_NPROCESSORS_ONLN);
    slots = slots < 1 ? 1 : slots > MOST ? MOST : slots;
    int failed = 0, n = 0;
    for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++) {
        if (!is_wanted(wanted, *t))
            continue;
        for (; !(slot = find_free(running, slots)); n--)
            failed += reap(running, tap);
        if (failed && wanted->stop)
            break;
        *slot = start(*t);
        if (slot->pid < 0) {
            perror("fork");
            exit(2);
        }
        n++;
    }
    for (; n > 0; n--)
        failed += reap(running, tap);
    return failed;
}

/* What stands behind "--NAME=". */
static const char *value(const char *argument, const char *name)
{
    size_t len = strlen(name);
    return strncmp(argument, name, len) == 0 ? argument + len : NULL;
}

int main(int argc, char **argv)
{
    FILE *tap = stdout;
    struct wanted wanted = {.filter = "*"};
    for (int i = 1; i < argc; i++) {
        const char *v;
        if ((v = value(argv[i], "--tap=")))
            tap = fopen(v, "w");
        else if ((v = value(argv[i], "--timeout=")))
            limit_s = (unsigned)atoi(v);
        else if ((v = value(argv[i], "--costs=")))
            put_first(v);
        else if ((v = value(argv[i], "--without=")) && wanted.n_without < MOST_WITHOUT)
            wanted.without[wanted.n_without++] = v;
        else if (strcmp(argv[i], "--stop") == 0)
            wanted.stop = true;
        else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc)
            wanted.filter = argv[++i];
        else {
            fprintf(stderr, "orca-test: unknown argument: %s\n", argv[i]);
            return 2;
        }
    }
    if (!tap)
        return 2;
    int failed = run_all(&wanted, tap);
    fclose(tap);
    return failed ? 1 : 0;
}
