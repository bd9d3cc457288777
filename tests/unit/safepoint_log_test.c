/* The JVM's lines about safepoints: of JDK 17, 21 and 25, of others, and as a file that grows. */
#include "record/safepoint_log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct safepoint_log log_;
static struct safepoint_line line;

static bool parse(const char *text)
{
    memset(&line, 0, sizeof line);
    return safepoint_log_parse(&log_, text, strlen(text), &line);
}

static void init(void)
{
    log_ = (struct safepoint_log){.fd = -1};
}

TestSuite(safepoint_log, .init = init);

static void has(const char *operation, uint64_t since, uint64_t reached, uint64_t until)
{
    cr_assert_str_eq(line.operation, operation);
    cr_assert_eq(line.since, since);
    cr_assert_eq(line.reached, reached);
    cr_assert_eq(line.until, until);
}

Test(safepoint_log, lines_of_each_jdk)
{
    cr_assert(parse("[2000000ns] Safepoint \"ThreadDump\", Time since last: 71524982 ns, Reaching "
                    "safepoint: 4028 ns, Cleanup: 4548 ns, At safepoint: 54041 ns, Total: 62617 "
                    "ns")); /* 17 */
    has("ThreadDump", 2000000 - 62617, 2000000 - 62617 + 4028, 2000000);
    init();
    cr_assert(parse("[2000000ns]   Safepoint \"G1CollectFull\", Time since last: 138719 ns, "
                    "Reaching safepoint: 1212 ns, Cleanup: 1884 ns, At safepoint: 19444 ns, "
                    "Leaving safepoint: 341427 ns, Total: 363967 ns")); /* 21 */
    has("G1CollectFull", 2000000 - 363967, 2000000 - 363967 + 1212, 2000000);
    init();
    cr_assert(parse("[2000000ns] Safepoint \"ThreadDump\", Time since last: 66788583 ns, Reaching "
                    "safepoint: 7354 ns, At safepoint: 87884 ns, Leaving safepoint: 2384 ns, "
                    "Total: 97622 ns, Threads: 0 runnable, 10 total")); /* 25 */
    has("ThreadDump", 2000000 - 97622, 2000000 - 97622 + 7354, 2000000);
}

#define LINE(stamp, since, reaching, total)                                                        \
    "[" #stamp "ns] Safepoint \"X\", Time since last: " #since                                     \
    " ns, Reaching safepoint: " #reaching " ns, Total: " #total " ns"

/* The stamp is late by what the VM thread did, or was kept from, in between. */
Test(safepoint_log, the_end_follows_from_the_one_before)
{
    cr_assert(parse(LINE(1000000, 5, 10, 100)));
    cr_assert(parse(LINE(3000000, 500, 20, 400)));
    has("X", 1000500, 1000520, 1000900);
    cr_assert(parse(LINE(1001500, 600, 20, 400))); /* the first stamp was late itself */
    has("X", 1001100, 1001120, 1001500);
    cr_assert(parse(LINE(900000000, 600, 20, 400))); /* some are missing in between */
    has("X", 899999600, 899999620, 900000000);
}

Test(safepoint_log, what_is_no_line)
{
    static const char *const texts[] = {
        "",
        "[",
        "[1ns",
        "[1ns]",
        "[5ns] Safepoint \"",
        "[1000ns] Entering safepoint region: X",
        "[1000ns] Safepoint \"\", Time since last: 1 ns, Reaching safepoint: 1 ns, Total: 2 ns",
        "[1000ns] Safepoint \"X\", Reaching safepoint: 1 ns, Total: 2 ns",
        LINE(1000, 1, 3, 2),    /* reached behind its end */
        LINE(1000, 1, 3, 1000), /* began before all time */
        LINE(1000, 1, 3, -4),
        LINE(10000000000000000000, 1, 3, 4),
        LINE(1000, 1, 3, 1000000000000000000000)};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert_not(parse(texts[i]), "%s", texts[i]);
    cr_assert_eq(log_.dropped, 0);
}

/* Of an asynchronous log; the next line is no longer known by the line before. */
Test(safepoint_log, dropped_lines_are_counted)
{
    cr_assert(parse(LINE(1000000, 5, 10, 100)));
    cr_assert_not(parse("[1100000ns]     12 messages dropped due to async logging"));
    cr_assert_eq(log_.dropped, 12);
    cr_assert_not(parse("[1100000ns][   3] messages dropped due to async logging"));
    cr_assert_eq(log_.dropped, 15);
    cr_assert(parse(LINE(1200000, 5, 10, 100)));
    has("X", 1199900, 1199910, 1200000);
}

Test(safepoint_log, names_are_printable_and_bounded)
{
    char text[400], name[200];
    memset(name, 'a', sizeof name);
    name[0] = 27;
    name[sizeof name - 1] = 0;
    snprintf(text, sizeof text,
             "[1000ns] Safepoint \"%s\", Time since last: 1 ns, Reaching safepoint: 1 ns, Total: 2 "
             "ns",
             name);
    cr_assert(parse(text));
    cr_assert_eq(strlen(line.operation), SAFEPOINT_NAME_BYTES - 1);
    cr_assert_eq(line.operation[0], '?');
}

/* --- the file --------------------------------------------------------------------------------- */

static size_t taken;

static void take(void *ctx, const struct safepoint_line *l)
{
    (void)ctx;
    cr_assert_str_eq(l->operation, "X");
    taken++;
}

static void add(FILE *f, const char *text)
{
    fputs(text, f);
    fflush(f);
}

Test(safepoint_log, a_file_that_grows)
{
    enum { LINES = 20000 };
    char path[64];
    struct err err;
    cr_assert_eq(safepoint_log_open(&log_, path, sizeof path, &err), 0, "%s", err.msg);
    FILE *f = fopen(path, "a"); /* as the JVM does */
    cr_assert(f);
    safepoint_log_read(&log_, take, NULL);
    cr_assert_eq(taken, 0);
    add(f, LINE(1000000, 5, 10, 100));
    safepoint_log_read(&log_, take, NULL);
    cr_assert_eq(taken, 0); /* its end is not there */
    add(f, "\n");
    for (int i = 0; i < LINES; i++)
        fputs(LINE(1000000, 5, 10, 100) "\n", f);
    add(f, "");
    for (int i = 0; i < 10; i++)
        safepoint_log_read(&log_, take, NULL);
    cr_assert_eq(taken, LINES + 1);
    struct stat st;
    fstat(log_.fd, &st);
    cr_assert_gt(st.st_size, 1000000);
    cr_assert_leq(st.st_blocks * 512, 2 * 65536); /* what was read takes no memory */
    for (int i = 0; i < 5000; i++)
        fputs("no end", f); /* 30 kB without a line's end */
    add(f, "\n" LINE(1000000, 5, 10, 100) "\n");
    for (int i = 0; i < 10; i++)
        safepoint_log_read(&log_, take, NULL);
    cr_assert_eq(taken, LINES + 2);
    fclose(f);
    safepoint_log_close(&log_);
}
