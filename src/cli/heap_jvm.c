#include "cli/heap_jvm.h"

#include "base/log.h"
#include "base/util.h"

#include <stdio.h>
#include <string.h>

const struct cmd *heap_jvm_find(int argc, char **argv)
{
    static const struct cmd *const all[] = {&heap_dump, &heap_live};
    static const char *const words[] = {"dump", "live"};
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(all); i++)
        if (strcmp(argv[1], words[i]) == 0)
            return all[i];
    return NULL;
}

/* main only knows the help of `orca heap`. */
static int print_help(const struct cmd *c)
{
    struct buf b;
    buf_init(&b);
    cmd_help(c, &b);
    bool ok = !b.oom && fwrite(b.p, 1, b.len, stdout) == b.len && fflush(stdout) == 0;
    buf_fini(&b);
    if (ok)
        return 0;
    log_line("cannot write to stdout");
    return CMD_FAILED;
}

int heap_jvm_run(const struct cmd *c, int argc, char **argv, struct err *err)
{
    int rc = c->run(argc - 1, argv + 1, err);
    if (rc == CMD_USAGE) {
        log_line("heap %s: %s; 'orca heap %s --help' lists the options", argv[1], err->msg,
                 argv[1]);
        return EXIT_USAGE;
    }
    return rc == CMD_HELP ? print_help(c) : rc;
}
