/* cmd_clean.c - removes what recordings that are over left on this machine. */
#include "attach/left_sockets.h"
#include "base/human.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/cmd.h"
#include "cli/left_behind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct args {
    bool dry_run;
};

static const struct opt opts[] = {
    {"dry-run", 'n', OPT_FLAG, offsetof(struct args, dry_run), NULL,
     "print what would be removed, and remove nothing", NULL, 0, 0},
};

/* What is named: folders, and rings by their paths. */
struct named {
    const char **folders, **rings;
    size_t n_folders, n_rings;
};

static void say(const char *what, const struct left_item *i)
{
    struct buf b;
    buf_init(&b);
    buf_printf(&b, "%s %s: ", what, i->rings.path);
    left_behind_words(i, &b);
    printable_put(stdout, buf_str(&b));
    putchar('\n');
    buf_fini(&b);
}

static void say_removed(void *ctx, const char *path)
{
    struct left_item i = {.is_rings = false};
    snprintf(i.rings.path, sizeof i.rings.path, "%s", path);
    say("removed", &i);
    ++*(size_t *)ctx;
}

/* Each of its own: one that cannot be removed does not keep the others. */
static int clean_rings(const struct left_behind *l, const struct leftover_search *s, size_t named,
                       bool dry_run, size_t *removed)
{
    int rc = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct err err = {""};
        const struct left_item *x = &l->v[i];
        bool goes = left_behind_goes(x) || (i < named && x->rings.kind == LEFTOVER_UNKNOWN);
        if (!x->is_rings && !dry_run)
            continue;
        int failed = goes && !dry_run ? leftover_remove(&x->rings, s, &err) : 0;
        if (failed < 0)
            log_line("%s", err.msg);
        else
            say(!goes ? "kept" : dry_run ? "would remove" : "removed", x);
        *removed += goes && failed == 0;
        rc = failed < 0 ? failed : rc;
    }
    return rc;
}

static int clean(const struct named *n, bool dry_run, struct err *err)
{
    struct left_behind l = {.v = NULL};
    struct leftover one;
    size_t removed = 0;
    const struct leftover_search s = {n->folders, n->n_folders};
    int rc = 0;
    for (size_t i = 0; i < n->n_rings && rc == 0; i++)
        if ((rc = leftover_find(&one, n->rings[i], &s, err)) == 0)
            rc = left_behind_add(&l, &one);
    size_t named = l.n;
    if (rc == 0 && !n->n_rings)
        rc = left_behind_find(&l, &s, err);
    if (rc == 0) {
        rc = clean_rings(&l, &s, named, dry_run, &removed);
        if (!dry_run && !n->n_rings)
            left_sockets(true, say_removed, &removed);
        if (!l.n && !removed)
            log_line("nothing was left behind");
        rc = rc < 0 ? CMD_FAILED : 0;
    }
    left_behind_fini(&l);
    return rc;
}

static int run(int argc, char **argv, struct err *err)
{
    struct args o = {false};
    struct named n = {NULL, NULL, 0, 0};
    struct stat st;
    int words = cmd_parse(&cmd_clean, argc, argv, &o, err);
    if (words < 0)
        return words;
    n.folders = calloc((size_t)words + 1, sizeof *n.folders);
    n.rings = calloc((size_t)words + 1, sizeof *n.rings);
    int rc = n.folders && n.rings ? 0 : err_set(err, -ENOMEM, "out of memory");
    for (int i = 1; i <= words && rc == 0 && n.folders && n.rings; i++) {
        if (stat(argv[i], &st) < 0)
            rc = err_set(err, -errno, "%s: %s", argv[i], strerror(errno));
        else if (S_ISDIR(st.st_mode))
            n.folders[n.n_folders++] = argv[i];
        else
            n.rings[n.n_rings++] = argv[i];
    }
    rc = rc < 0 ? rc : clean(&n, o.dry_run, err);
    free(n.folders);
    free(n.rings);
    return rc;
}

const struct cmd cmd_clean = {
    .name = "clean",
    .summary = "remove the files that ended recordings left behind",
    .args = "[FOLDER|RINGS]...",
    .description =
        "Removes the ring files that killed JVMs left in /dev/shm after their traces were "
        "deleted, and control sockets and their folders of earlier versions. Other ring files "
        "need no cleaning: the next command that reads their trace adds them to it and "
        "removes them.\n"
        "\n"
        "Removes only your own files, and only of JVMs that have exited. A ring file stays "
        "while its trace is there and incomplete; the command that completes the trace is "
        "printed. A trace is looked for where it was recorded, under any name in that folder, "
        "and in each FOLDER; ring files are also looked for in FOLDER (ringdir=). Name the "
        "folder to which you moved a trace. Ring files whose trace may be on a disk that is "
        "not mounted, or in a container, stay unless you name them.",
    .examples = "orca clean --dry-run         # what there is\n"
                "orca clean /srv/traces       # traces were moved there",
    .opts = OPT_TABLE(opts),
    .run = run,
};
