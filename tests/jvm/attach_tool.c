/* attach_tool.c - the attach library as a command, for test_attach_protocol.sh.
 *
 *   attach_tool [-t MS] list                     pid ns_pid uid state java name
 *   attach_tool [-t MS] describe PID             the same, and libjvm
 *   attach_tool [-t MS] command PID WORDS...     the text of the answer; its status other than 0:
 *                                                exit 3
 *   attach_tool [-t MS] place PID LIBRARY        the path where the JVM sees it
 *   attach_tool [-t MS] load PID LIBRARY [OPTIONS]
 *
 * -t: the timeout in milliseconds.  Exit 1 with one line on stderr: "attach_tool: ERRNO:
 * sentence". */
#include "attach/attach.h"
#include "attach/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t timeout_ns = (uint64_t)ATTACH_TIMEOUT_MS * 1000000;

static int print_jvm(void *ctx, const struct jvm *j)
{
    (void)ctx;
    printf("%d %d %u %c %s %s\n", (int)j->pid, (int)j->ns_pid, (unsigned)j->uid, j->state,
           j->java[0] ? j->java : "?", j->name);
    return 0;
}

static int find(const char *pid, struct jvm *j, struct err *err)
{
    return jvm_find_wait((pid_t)strtol(pid, NULL, 10), timeout_ns, j, err);
}

static int describe(char **argv, struct err *err)
{
    struct jvm j;
    TRY(find(argv[0], &j, err));
    print_jvm(NULL, &j);
    printf("%s\n", j.libjvm);
    return 0;
}

static int command(int argc, char **argv, struct err *err)
{
    const char *words[1 + ATTACH_ARGUMENTS] = {NULL};
    for (int i = 1; i < argc && i <= 1 + ATTACH_ARGUMENTS; i++)
        words[i - 1] = argv[i];
    struct jvm j;
    struct attach_reply reply;
    TRY(find(argv[0], &j, err));
    attach_reply_init(&reply);
    int rc = attach_command(&j, words, timeout_ns, &reply, err);
    if (rc == 0)
        fwrite(reply.text.p, 1, reply.text.len, stdout);
    if (rc == 0 && reply.cut)
        fprintf(stderr, "cut\n");
    if (rc == 0 && reply.status != 0)
        rc = 3;
    attach_reply_fini(&reply);
    return rc;
}

static int load(int argc, char **argv, bool place_only, struct err *err)
{
    struct jvm j;
    char seen[4096];
    TRY(find(argv[0], &j, err));
    if (strcmp(argv[1], "/nonexistent/library.so") == 0)
        snprintf(seen, sizeof seen, "%s", argv[1]);
    else
        TRY(library_place(&j, argv[1], seen, sizeof seen, err));
    printf("%s\n", seen);
    return place_only ? 0 : attach_load(&j, seen, argc > 2 ? argv[2] : NULL, timeout_ns, err);
}

static int run(int argc, char **argv, struct err *err)
{
    if (argc >= 1 && strcmp(argv[0], "list") == 0)
        return jvm_list(print_jvm, NULL, err);
    if (argc >= 2 && strcmp(argv[0], "describe") == 0)
        return describe(argv + 1, err);
    if (argc >= 3 && strcmp(argv[0], "command") == 0)
        return command(argc - 1, argv + 1, err);
    if (argc >= 3 && strcmp(argv[0], "place") == 0)
        return load(argc - 1, argv + 1, true, err);
    if (argc >= 3 && strcmp(argv[0], "load") == 0)
        return load(argc - 1, argv + 1, false, err);
    fprintf(stderr, "usage: see the head of attach_tool.c\n");
    return 2;
}

int main(int argc, char **argv)
{
    int first = 1;
    if (argc > 3 && strcmp(argv[1], "-t") == 0) {
        timeout_ns = strtoull(argv[2], NULL, 10) * 1000000;
        first = 3;
    }
    struct err err = {""};
    int rc = run(argc - first, argv + first, &err);
    if (rc >= 0)
        return rc;
    fprintf(stderr, "attach_tool: %s: %s\n", strerrorname_np(-rc), err.msg);
    return 1;
}
