/* main.c - finds the subcommand, runs it, and prints the one line that a failure ends with. */
#include "base/log.h"
#include "base/near.h"
#include "base/util.h"
#include "base/version.h"
#include "cli/cmd.h"
#include "cli/screen.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cmd *find(const char *name)
{
    for (const struct cmd *const *c = cmd_all(); *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *best = NULL;
    size_t least = SIZE_MAX;
    for (const struct cmd *const *c = cmd_all(); *c; c++) {
        size_t d = near_distance(name, strlen(name), (*c)->name, strlen((*c)->name));
        if (d < least) {
            least = d;
            best = (*c)->name;
        }
    }
    if (best && near_close(least, strlen(name)))
        log_line("unknown command '%s'; did you mean '%s'?", name, best);
    else
        log_line("unknown %s '%s'; 'orca --help' lists them", name[0] == '-' ? "option" : "command",
                 name);
    return EXIT_USAGE;
}

/* Print a generated text; a closed pipe or a full disk is an error like any other. */
static int print(struct buf *b)
{
    bool ok = !b->oom && fwrite(b->p, 1, b->len, stdout) == b->len && fflush(stdout) == 0;
    buf_fini(b);
    if (ok)
        return 0;
    log_line("cannot write to stdout");
    return CMD_FAILED;
}

static int run_command(const struct cmd *c, int argc, char **argv)
{
    struct err err = {""};
    screen_begin();
    int rc = c->run(argc, argv, &err);
    if (rc == CMD_HELP) {
        struct buf b;
        buf_init(&b);
        cmd_help(c, &b);
        return print(&b);
    }
    if (rc == CMD_USAGE) {
        log_line("%s: %s; 'orca %s --help' lists the options", c->name, err.msg, c->name);
        return EXIT_USAGE;
    }
    if (rc >= 0)
        return rc;
    log_line("%s", err.msg[0] ? err.msg : strerror(-rc));
    return CMD_FAILED;
}

/* --- words other than subcommands: for the user, and (hidden) for the build ------------------- */

static int say_version(int argc, char **argv, struct buf *b, struct err *err)
{
    UNUSED(argc);
    UNUSED(argv);
    UNUSED(err);
    buf_puts(b, "orca " ORCA_VERSION "\n");
    return 0;
}

static int say_help(int argc, char **argv, struct buf *b, struct err *err)
{
    if (argc < 2) {
        cmd_overview(b);
        return 0;
    }
    const struct cmd *c = find(argv[1]);
    if (!c)
        return err_set(err, -EINVAL, "unknown command '%s'; 'orca --help' lists them", argv[1]);
    cmd_help(c, b);
    return 0;
}

static int say_man(int argc, char **argv, struct buf *b, struct err *err)
{
    UNUSED(argc);
    UNUSED(argv);
    UNUSED(err);
    cmd_man(b);
    return 0;
}

static int say_docs(int argc, char **argv, struct buf *b, struct err *err)
{
    UNUSED(argc);
    UNUSED(argv);
    UNUSED(err);
    cmd_docs(b);
    return 0;
}

static int say_complete(int argc, char **argv, struct buf *b, struct err *err)
{
    return cmd_complete(argc > 1 ? argv[1] : "", b, err);
}

static const struct {
    const char *word;
    int (*say)(int argc, char **argv, struct buf *b, struct err *err);
} words[] = {
    {"--help", say_help}, {"-h", say_help},   {"help", say_help},   {"--version", say_version},
    {"-V", say_version},  {"__man", say_man}, {"__docs", say_docs}, {"__complete", say_complete},
};

int main(int argc, char **argv)
{
    struct buf b;
    buf_init(&b);
    if (argc < 2) {
        cmd_overview(&b);
        fwrite(b.p, 1, b.len, stderr);
        buf_fini(&b);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(argv[1], words[i].word) != 0)
            continue;
        struct err err = {""};
        if (words[i].say(argc - 1, argv + 1, &b, &err) == 0)
            return print(&b);
        log_line("%s", err.msg);
        buf_fini(&b);
        return EXIT_USAGE;
    }
    const struct cmd *c = find(argv[1]);
    return c ? run_command(c, argc - 1, argv + 1) : unknown_command(argv[1]);
}
