/* plain_runner.c - runs the Criterion tests in the sanitizer variants, where Criterion itself
 * cannot: its shared arena lies at an address that ThreadSanitizer keeps for itself, and its
 * workers leave without LeakSanitizer's check.  Linked before libcriterion, this takes the place of
 * its main and of what a test calls when it fails.
 *
 * One process per test, one after the other.  Understands --tap=FILE, --timeout SECONDS and
 * --filter PATTERN; honours init, fini, signal, exit_code, disabled; no parameterized tests. */
#include <criterion/criterion.h>

#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int run_test(const struct criterion_test *t, unsigned timeout, struct took *took)
{
    double began = now();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(timeout);
        current = t;
        t->test();
        exit(failures ? STATUS_FAILED : 0);
    }
    int status = -1;
    struct rusage used = {0};
    bool ended = pid > 0 && wait4(pid, &status, 0, &used) == pid;
    *took = (struct took){now() - began, seconds(&used.ru_utime) + seconds(&used.ru_stime)};
    return ended ? status : -1;
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

int main(int argc, char **argv)
{
    FILE *tap = stdout;
    unsigned timeout = 60;
    const char *filter = "*";
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--tap=", 6) == 0)
            tap = fopen(argv[i] + 6, "w");
        else if (strcmp(argv[i], "--timeout") == 0 && i + 1 < argc)
            timeout = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc)
            filter = argv[++i];
    }
    if (!tap)
        return 2;
    int failed = 0;
    for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++) {
        char name[256];
        snprintf(name, sizeof name, "%s/%s", (*t)->category, (*t)->name);
        if ((*t)->data->disabled || fnmatch(filter, name, 0) != 0)
            continue;
        struct took took;
        int status = run_test(*t, timeout, &took);
        failed += report(*t, status, &took, tap);
    }
    fclose(tap);
    return failed ? 1 : 0;
}
