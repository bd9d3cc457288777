/* plain_runner.c - runs the Criterion tests, in the place of Criterion itself: that starts the
 * program anew for each test, its shared arena lies at an address that ThreadSanitizer keeps for
 * itself, and its workers leave without LeakSanitizer's check.  Linked before libcriterion, this
 * takes the place of its main and of what a test calls when it fails.
 *
 * One process per test, as many at a time as there are processors, those that take long first. With
 * --together one process for some tests, as LeakSanitizer's look at the end of each takes longer
 * than most tests: what goes wrong in it does not count.  The test in which it went wrong is run
 * alone, those before it and those behind it together; each of them alone when it was the end.
 * --alone=PATTERN: not with others (any number of them).
 * Understands --tap=FILE, --timeout=SECONDS (more of them on a busy machine: a limit ends a hang),
 * --filter PATTERN, --only=PATTERN and --without=PATTERN (any number of them), --costs=FILE
 * (tests/costs), --stop (no test begins after one has failed); honours
 * init, fini, signal, exit_code, disabled; no parameterized tests. */
#include <criterion/criterion.h>

#include "patience.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

struct took {
    double wall_s, cpu_s;
};

enum { MOST_TOGETHER = 48 };

/* What a process says of its tests: shared with it. */
struct told {
    int n_done;
    struct took took[MOST_TOGETHER];
};

struct running {
    struct criterion_test **t;
    int n;
    pid_t pid; /* 0: none */
    double began;
    struct told *told;
};

static unsigned limit_s = 60;

/* The limit is reached: once more for each time that this machine is slower than a quiet one. */
static void on_alarm(int signal_number)
{
    signal(signal_number, SIG_DFL);
    alarm(limit_s * patience_slowness());
}

static double cpu_s(void)
{
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds(&self.ru_utime) + seconds(&self.ru_stime) + seconds(&children.ru_utime) +
           seconds(&children.ru_stime);
}

static void run(struct criterion_test **t, int n, struct told *told)
{
    for (int i = 0; i < n && !failures; i++) {
        double began = now(), cpu = cpu_s();
        alarm(limit_s);
        current = t[i];
        t[i]->test();
        told->took[i] = (struct took){now() - began, cpu_s() - cpu};
        told->n_done = i + 1;
    }
}

static void start(struct running *r, struct criterion_test **t, int n)
{
    if (!r->told)
        r->told =
            mmap(NULL, sizeof *r->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r->told == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    r->told->n_done = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (pid == 0) {
        /* What a test does to its group concerns nobody else.  No session of its own: a session is
         * what the kernel divides processors between (sched_autogroup), and the nice value of the
         * one that the tests were started in would not hold for it. */
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGALRM, on_alarm);
        run(t, n, r->told);
        exit(failures ? STATUS_FAILED : 0);
    }
    r->t = t;
    r->n = n;
    r->pid = pid;
    r->began = now();
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

/* Of tests that ran together: all is well, or nothing is reported yet. */
static bool report_together(const struct running *r, int status, FILE *tap)
{
    if (status != 0 || r->told->n_done != r->n)
        return false;
    for (int i = 0; i < r->n; i++)
        report(r->t[i], 0, &r->told->took[i], tap);
    return true;
}

/* Wait for any of them: its slot is free again, and returned. */
static struct running *wait_any(struct running *running, int *status, struct rusage *used)
{
    pid_t pid = wait4(-1, status, 0, used);
    if (pid < 0) {
        perror("wait4");
        exit(2);
    }
    struct running *r = running;
    while (r->pid != pid)
        r++;
    r->pid = 0;
    return r;
}

static struct running *find_free(struct running *running, long slots)
{
    for (long i = 0; i < slots; i++)
        if (running[i].pid == 0)
            return &running[i];
    return NULL;
}

enum { MOST_PATTERNS = 64, NAME_SIZE = 256 };

/* Patterns of "SUITE::TEST". */
struct patterns {
    const char *p[MOST_PATTERNS];
    int n;
};

struct wanted {
    const char *filter;
    struct patterns without, only, alone;
    bool stop, together;
};

static bool any_matches(const struct patterns *patterns, const char *name)
{
    for (int i = 0; i < patterns->n; i++)
        if (fnmatch(patterns->p[i], name, 0) == 0)
            return true;
    return false;
}

static bool add_pattern(struct patterns *patterns, const char *p)
{
    if (!p || patterns->n == MOST_PATTERNS)
        return false;
    patterns->p[patterns->n++] = p;
    return true;
}

static bool is_wanted(const struct wanted *w, const struct criterion_test *t)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s/%s", t->category, t->name);
    if (t->data->disabled || fnmatch(w->filter, name, 0) != 0)
        return false;
    snprintf(name, sizeof name, "%s::%s", t->category, t->name);
    return (w->only.n == 0 || any_matches(&w->only, name)) && !any_matches(&w->without, name);
}

static void swap_tests(struct criterion_test **a, struct criterion_test **b)
{
    struct criterion_test *t = *a;
    *a = *b;
    *b = t;
}

/* The tests in the order in which they begin: those that the file names in its order, then the
 * others.  Returns where those begin. */
static struct criterion_test **put_first(const char *file)
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
    return next;
}

/* Tests that one process runs. */
struct group {
    struct criterion_test **t;
    int n;
};

/* What is to run: again[], a stack of what was in groups that failed, before the others.  Of these
 * the first n_long take long: they are alone. */
struct queue {
    struct criterion_test **t;
    int n, at, n_long;
    struct group *again;
    int n_again;
    int most_together;
    const struct patterns *alone;
};

static bool goes_together(const struct queue *q, const struct criterion_test *t)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s::%s", t->category, t->name);
    return !t->data->signal && !t->data->exit_code && !any_matches(q->alone, name);
}

/* The next tests for a process; none of them when there are none. */
static struct group take(struct queue *q)
{
    if (q->n_again > 0)
        return q->again[--q->n_again];
    struct group g = {&q->t[q->at], q->at < q->n};
    if (g.n && q->at >= q->n_long && goes_together(q, *g.t))
        while (g.n < q->most_together && q->at + g.n < q->n && goes_together(q, g.t[g.n]))
            g.n++;
    q->at += g.n;
    return g;
}

static void run_again(struct queue *q, struct criterion_test **t, int n)
{
    if (n > 0)
        q->again[q->n_again++] = (struct group){t, n};
}

/* Which test failed is known unless it was the end of all of them, where leaks are looked for. */
static void split(struct queue *q, const struct running *r)
{
    int done = r->told->n_done;
    if (done == r->n) {
        for (int i = 0; i < r->n; i++)
            run_again(q, &r->t[i], 1);
        return;
    }
    run_again(q, r->t, done);
    run_again(q, &r->t[done], 1);
    run_again(q, &r->t[done + 1], r->n - done - 1);
}

static int reap(struct queue *q, struct running *running, FILE *tap)
{
    int status;
    struct rusage used;
    struct running *r = wait_any(running, &status, &used);
    if (r->n == 1) {
        struct took took = {now() - r->began, seconds(&used.ru_utime) + seconds(&used.ru_stime)};
        return report(*r->t, status, &took, tap);
    }
    if (!report_together(r, status, tap))
        split(q, r);
    return 0;
}

static int run_all(struct queue *q, bool stop, FILE *tap)
{
    enum { MOST = 64 };
    struct running running[MOST] = {{0}}, *slot;
    long slots = sysconf(_SC_NPROCESSORS_ONLN);
    slots = slots < 1 ? 1 : slots > MOST ? MOST : slots;
    int failed = 0, running_n = 0;
    for (;;) {
        struct group g;
        while (!(failed && stop) && (slot = find_free(running, slots)) && (g = take(q)).n > 0) {
            start(slot, g.t, g.n);
            running_n++;
        }
        if (running_n == 0)
            return failed;
        failed += reap(q, running, tap);
        running_n--;
    }
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
    struct criterion_test **others = __start_cr_tst;
    for (int i = 1; i < argc; i++) {
        const char *v;
        if ((v = value(argv[i], "--tap=")))
            tap = fopen(v, "w");
        else if ((v = value(argv[i], "--timeout=")))
            limit_s = (unsigned)atoi(v);
        else if ((v = value(argv[i], "--costs=")))
            others = put_first(v);
        else if (add_pattern(&wanted.without, value(argv[i], "--without=")))
            continue;
        else if (add_pattern(&wanted.only, value(argv[i], "--only=")))
            continue;
        else if (add_pattern(&wanted.alone, value(argv[i], "--alone=")))
            continue;
        else if (strcmp(argv[i], "--stop") == 0)
            wanted.stop = true;
        else if (strcmp(argv[i], "--together") == 0)
            wanted.together = true;
        else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc)
            wanted.filter = argv[++i];
        else {
            fprintf(stderr, "orca-test: unknown argument: %s\n", argv[i]);
            return 2;
        }
    }
    if (!tap)
        return 2;
    size_t all = (size_t)(__stop_cr_tst - __start_cr_tst);
    struct queue q = {.t = calloc(all + 1, sizeof *q.t),
                      .again = calloc(all + 1, sizeof *q.again),
                      .alone = &wanted.alone,
                      .most_together = wanted.together ? MOST_TOGETHER : 1};
    if (!q.t || !q.again)
        return 2;
    for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++)
        if (is_wanted(&wanted, *t)) {
            q.t[q.n++] = *t;
            q.n_long += t < others;
        }
    int failed = run_all(&q, wanted.stop, tap);
    free(q.t);
    free(q.again);
    fclose(tap);
    return failed ? 1 : 0;
}
