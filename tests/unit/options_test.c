#include "base/options.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const formats[] = {"otrace", "orca", "tptp", NULL};
static const char *const groups[] = {"threads", "monitors", "waits", NULL};

struct o {
    bool quiet, json;
    const char *file;
    uint64_t depth, ring, duration, format, events;
};

static const struct opt rows[] = {
    {"quiet", 'q', OPT_FLAG, offsetof(struct o, quiet), NULL, "say nothing", NULL, 0, 0},
    {"json", 'j', OPT_FLAG, offsetof(struct o, json), NULL, "as JSON", NULL, 0, 0},
    {"file", 'o', OPT_STR, offsetof(struct o, file), "FILE", "where to", NULL, 0, 0},
    {"depth", 0, OPT_UINT, offsetof(struct o, depth), "N", "frames", NULL, 1, 2048},
    {"ring", 0, OPT_SIZE, offsetof(struct o, ring), "SIZE", "ring", NULL, 4096, 1ull << 30},
    {"duration", 'd', OPT_TIME, offsetof(struct o, duration), "TIME", "how long", NULL, 0, 0},
    {"format", 0, OPT_CHOICE, offsetof(struct o, format), "FORMAT", "format", formats, 0, 0},
    {"events", 'e', OPT_SET, offsetof(struct o, events), "GROUPS", "what", groups, 0, 0},
    {"usual", 0, OPT_SET, offsetof(struct o, events), "GROUPS", "what", groups, 2, 0},
    {"session", 0, OPT_STR, offsetof(struct o, file), NULL, NULL, NULL, 0, 0},
};
#define TABLE OPT_TABLE(rows)

static struct o o;
static struct err err;

/* Parses up to 15 words; returns what opt_parse_args does and leaves the operands in words[1..]. */
static char *words[17];
static int args(enum opt_order order, ...)
{
    va_list ap;
    va_start(ap, order);
    int n = 0;
    words[n++] = (char *)"cmd";
    for (char *w; n < 16 && (w = va_arg(ap, char *)) != NULL;)
        words[n++] = w;
    va_end(ap);
    words[n] = NULL;
    memset(&o, 0, sizeof o);
    err.msg[0] = 0;
    return opt_parse_args(TABLE, n, words, order, &o, &err);
}

static int keys(const char *text)
{
    static char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    memset(&o, 0, sizeof o);
    err.msg[0] = 0;
    return opt_parse_keys(TABLE, copy, &o, &err);
}

static bool says(const char *part)
{
    if (strstr(err.msg, part))
        return true;
    fprintf(stderr, "message is: %s\n", err.msg);
    return false;
}

/* --- argv ------------------------------------------------------------------------------------- */

Test(options, all_forms_of_a_value)
{
    cr_assert_eq(args(OPT_MIXED, "--file=a", NULL), 0);
    cr_assert_str_eq(o.file, "a");
    cr_assert_eq(args(OPT_MIXED, "--file", "b", NULL), 0);
    cr_assert_str_eq(o.file, "b");
    cr_assert_eq(args(OPT_MIXED, "-o", "c", NULL), 0);
    cr_assert_str_eq(o.file, "c");
    cr_assert_eq(args(OPT_MIXED, "-od", NULL), 0);
    cr_assert_str_eq(o.file, "d");
    cr_assert_eq(args(OPT_MIXED, "-qje", "waits", NULL), 0);
    cr_assert(o.quiet && o.json && o.events == 4);
    cr_assert_eq(args(OPT_MIXED, "--file", "--json", NULL), 0);
    cr_assert_str_eq(o.file, "--json");
}

Test(options, operands_keep_their_order)
{
    cr_assert_eq(args(OPT_MIXED, "x", "-q", "y", "--file=a", "-", "z", NULL), 4);
    cr_assert_str_eq(words[1], "x");
    cr_assert_str_eq(words[2], "y");
    cr_assert_str_eq(words[3], "-");
    cr_assert_str_eq(words[4], "z");
    cr_assert_null(words[5]);
    cr_assert(o.quiet);
}

Test(options, two_dashes_end_the_options)
{
    cr_assert_eq(args(OPT_MIXED, "-q", "--", "--json", "--", NULL), 2);
    cr_assert_str_eq(words[1], "--json");
    cr_assert_str_eq(words[2], "--");
    cr_assert(o.quiet && !o.json);
}

Test(options, the_first_operand_ends_them_where_the_rest_is_a_command)
{
    cr_assert_eq(args(OPT_OPERANDS_LAST, "-q", "java", "-j", "--help", "--", "x", NULL), 5);
    cr_assert_str_eq(words[1], "java");
    cr_assert_str_eq(words[2], "-j");
    cr_assert_str_eq(words[4], "--");
    cr_assert(!o.json);
}

Test(options, help_is_always_there)
{
    cr_assert_eq(args(OPT_MIXED, "x", "--help", NULL), OPT_WANTS_HELP);
    cr_assert_eq(args(OPT_MIXED, "-h", NULL), OPT_WANTS_HELP);
    cr_assert_eq(args(OPT_MIXED, "-qh", NULL), OPT_WANTS_HELP);
    cr_assert_eq(args(OPT_MIXED, "--", "-h", NULL), 1);
}

Test(options, bad_arguments_are_named)
{
    cr_assert_eq(args(OPT_MIXED, "--fiel=x", NULL), -EINVAL);
    cr_assert(says("unknown option '--fiel'; did you mean '--file'?"));
    cr_assert_eq(args(OPT_MIXED, "--zzzzzz", NULL), -EINVAL);
    cr_assert(says("known are: --quiet, --json, --file"));
    cr_assert_not(strstr(err.msg, "session"));
    cr_assert_eq(args(OPT_MIXED, "-x", NULL), -EINVAL);
    cr_assert(says("unknown option '-x'"));
    cr_assert_eq(args(OPT_MIXED, "--file", NULL), -EINVAL);
    cr_assert(says("--file needs a value: --file=FILE"));
    cr_assert_eq(args(OPT_MIXED, "-o", NULL), -EINVAL);
    cr_assert(says("--file needs a value"));
    cr_assert_eq(args(OPT_MIXED, "--file=", NULL), -EINVAL);
}

/* --- values ----------------------------------------------------------------------------------- */

Test(options, flags)
{
    static const char *const on[] = {"on", "yes", "true", "1"};
    static const char *const off[] = {"off", "no", "false", "0"};
    char text[32];
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "quiet=%s", on[i]);
        cr_assert_eq(keys(text), 0);
        cr_assert(o.quiet);
        snprintf(text, sizeof text, "quiet,quiet=%s", off[i]);
        cr_assert_eq(keys(text), 0);
        cr_assert_not(o.quiet);
    }
    cr_assert_eq(keys("quiet=maybe"), -EINVAL);
    cr_assert(says("quiet=maybe: it takes on or off"));
}

Test(options, sizes)
{
    static const struct {
        const char *text;
        uint64_t v;
    } good[] = {{"ring=4096", 4096},      {"ring=64k", 65536},   {"ring=64K", 65536},
                {"ring=16m", 16u << 20},  {"ring=1g", 1u << 30}, {"ring=1.5m", 3u << 19},
                {"ring=0.25g", 1u << 28}, {"ring=8.0k", 8192}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cr_assert_eq(keys(good[i].text), 0, "%s: %s", good[i].text, err.msg);
        cr_assert_eq(o.ring, good[i].v, "%s", good[i].text);
    }
    static const char *const bad[] = {"ring=",
                                      "ring=k",
                                      "ring=12q",
                                      "ring=-4k",
                                      "ring=4 k",
                                      "ring=0x1000",
                                      "ring=1.5",
                                      "ring=1.k",
                                      "ring=4095",
                                      "ring=1.1g",
                                      "ring=1..5k",
                                      "ring=20000000t",
                                      "ring=99999999999999999999999",
                                      "ring=4kk"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_eq(keys(bad[i]), -EINVAL, "%s", bad[i]);
        cr_assert(says(bad[i]));
        cr_assert(says("it takes a size such as 64k, 16m or 1g from 4k to 1g"));
    }
}

Test(options, times)
{
    cr_assert_eq(keys("duration=500ms"), 0);
    cr_assert_eq(o.duration, 500000000u);
    cr_assert_eq(keys("duration=1.5s"), 0);
    cr_assert_eq(o.duration, 1500000000u);
    cr_assert_eq(keys("duration=10m"), 0);
    cr_assert_eq(o.duration, 600000000000u);
    cr_assert_eq(keys("duration=2h"), 0);
    cr_assert_eq(o.duration, 7200000000000u);
    cr_assert_eq(keys("duration=7us"), 0);
    cr_assert_eq(o.duration, 7000u);
    cr_assert_eq(keys("duration=3ns"), 0);
    cr_assert_eq(o.duration, 3u);
    cr_assert_eq(keys("duration=0"), 0);
    cr_assert_eq(o.duration, 0u);
    cr_assert_eq(keys("duration=30"), -EINVAL);
    cr_assert(says("duration=30: it takes a time such as 500ms, 30s, 10m or 2h"));
    cr_assert_eq(keys("duration=1.5ns"), -EINVAL);
    cr_assert_eq(keys("duration=9999999999999h"), -EINVAL);
}

Test(options, numbers)
{
    cr_assert_eq(keys("depth=2048"), 0);
    cr_assert_eq(o.depth, 2048);
    cr_assert_eq(keys("depth=0"), -EINVAL);
    cr_assert(says("depth=0: it takes a number from 1 to 2048"));
    cr_assert_eq(keys("depth=2049"), -EINVAL);
    cr_assert_eq(keys("depth=1k"), -EINVAL);
    cr_assert_eq(keys("depth=-1"), -EINVAL);
    cr_assert_eq(keys("depth=18446744073709551616"), -EINVAL);
}

Test(options, choices_and_sets)
{
    cr_assert_eq(keys("format=tptp"), 0);
    cr_assert_eq(o.format, 2);
    cr_assert_eq(keys("format=tpt"), -EINVAL);
    cr_assert(says("format=tpt: it takes one of otrace, orca, tptp"));
    cr_assert_eq(keys("events=threads+waits"), 0);
    cr_assert_eq(o.events, 5);
    cr_assert_eq(keys("events=all"), 0);
    cr_assert_eq(o.events, 7);
    cr_assert_eq(keys("usual=all"), 0); /* "all" leaves monitors out, and nothing that is named */
    cr_assert_eq(o.events, 5);
    cr_assert_eq(keys("usual=all+monitors"), 0);
    cr_assert_eq(o.events, 7);
    cr_assert_eq(keys("usual=monitors+all"), 0);
    cr_assert_eq(o.events, 7);
    cr_assert_eq(keys("usual=monitors+none"), 0);
    cr_assert_eq(o.events, 2);
    cr_assert_eq(keys("events=none"), 0);
    cr_assert_eq(o.events, 0);
    cr_assert_eq(args(OPT_MIXED, "-e", "threads,monitors", NULL), 0);
    cr_assert_eq(o.events, 3);
    cr_assert_eq(keys("events=threads+"), -EINVAL);
    cr_assert_eq(keys("events=thread"), -EINVAL);
    cr_assert(says("one or more, joined by '+', of threads, monitors, waits, all, none"));
}

/* --- the agent's text ------------------------------------------------------------------------- */

Test(options, keys_and_flags_alone)
{
    cr_assert_eq(keys(""), 0);
    cr_assert_eq(keys("file=a.otrace,quiet,depth=9"), 0);
    cr_assert_str_eq(o.file, "a.otrace");
    cr_assert(o.quiet);
    cr_assert_eq(o.depth, 9);
    cr_assert_eq(keys(",quiet,,depth=9,"), 0);
    cr_assert(o.quiet && o.depth == 9);
    cr_assert_eq(keys("file=a=b"), 0);
    cr_assert_str_eq(o.file, "a=b");
}

Test(options, a_backslash_takes_the_meaning_off_a_comma)
{
    cr_assert_eq(keys("file=a\\,b,quiet"), 0);
    cr_assert_str_eq(o.file, "a,b");
    cr_assert(o.quiet);
    cr_assert_eq(keys("file=a\\\\,quiet"), 0);
    cr_assert_str_eq(o.file, "a\\");
    cr_assert(o.quiet);
    cr_assert_eq(keys("file=c:\\x\\"), 0);
    cr_assert_str_eq(o.file, "c:\\x\\");
}

Test(options, escape_is_undone_by_the_parser)
{
    static const char *const values[] = {"a", "a,b", "\\", "\\\\", ",", "\\,", "a\\,,\\b", "=,\\="};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct buf b;
        buf_init(&b);
        buf_puts(&b, "file=");
        opt_escape(&b, values[i]);
        buf_puts(&b, ",quiet");
        cr_assert_eq(keys(buf_str(&b)), 0, "%s: %s", values[i], err.msg);
        cr_assert_str_eq(o.file, values[i]);
        cr_assert(o.quiet);
        buf_fini(&b);
    }
}

Test(options, bad_keys_are_named)
{
    cr_assert_eq(keys("rnig=4k"), -EINVAL);
    cr_assert(says("unknown key 'rnig'; did you mean 'ring'?"));
    cr_assert_eq(keys("pingpong"), -EINVAL);
    cr_assert(says("unknown key 'pingpong'; known are: quiet, json, file"));
    cr_assert_eq(keys("quiet,depth"), -EINVAL);
    cr_assert(says("depth needs a value: depth=N"));
    cr_assert_eq(keys("=x"), -EINVAL);
    cr_assert(says("unknown key ''"));
}

Test(options, err_may_be_null)
{
    char text[] = "nonsense=1";
    cr_assert_eq(opt_parse_keys(TABLE, text, &o, NULL), -EINVAL);
}

/* --- names and help --------------------------------------------------------------------------- */

Test(options, find_needs_the_whole_name)
{
    cr_assert_eq(opt_find(TABLE, "ring", 4), &rows[4]);
    cr_assert_null(opt_find(TABLE, "rin", 3));
    cr_assert_null(opt_find(TABLE, "rings", 5));
}

Test(options, help_shows_every_row_but_the_hidden_and_fits)
{
    struct buf b;
    buf_init(&b);
    opt_help(TABLE, &b);
    const char *text = buf_str(&b);
    cr_assert_not_null(strstr(text, "  -o, --file=FILE           where to\n"));
    cr_assert_not_null(strstr(text, "      --depth=N             frames\n"));
    cr_assert_null(strstr(text, "session"));
    buf_fini(&b);
}

Test(options, wrap_breaks_between_words)
{
    struct buf b;
    buf_init(&b);
    char text[400] = "";
    for (int i = 0; i < 60; i++)
        strcat(text, i % 7 == 0 ? "abcdefgh " : "xyz ");
    opt_wrap(&b, text, 10, 10);
    size_t column = 10;
    for (const char *p = buf_str(&b); *p; p++) {
        column = *p == '\n' ? 0 : column + 1;
        cr_assert(column <= 100);
    }
    buf_fini(&b);
}
