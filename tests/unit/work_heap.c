#include "work_heap.h"

#ifdef ORCA_COUNT_WORK

#include "base/fdio.h"
#include "base/util.h"
#include "cli/cmd.h"
#include "printed.h"
#include "view/heap_view.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void ask(struct heap_view *h, const char *answer, const char *param, const char *value)
{
    struct buf out = {0};
    struct err err;
    const struct view_param p = {param, value};
    const struct view_question q = {&p, param ? 1 : 0};
    heap_view_json(h, answer, &q, &out, &err);
    buf_fini(&out);
}

static void ask_all(const char *path)
{
    static const char *const of_all[] = {"overview", "classes", "tree",        "icicle", "suspects",
                                         "threads",  "strings", "collections", "diff"};
    static const char *const of_one[] = {"object", "referrers", "path", "tree", "icicle"};
    static const char *const objects[] = {"0", "9", "99", "999"};
    struct heap_view *h;
    struct err err;
    if (heap_view_new(&h, path, path, &err) < 0)
        return;
    heap_view_read(h);
    for (size_t i = 0; i < ARRAY_LEN(of_all); i++)
        ask(h, of_all[i], NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(of_one); i++)
        for (size_t k = 0; k < ARRAY_LEN(objects); k++)
            ask(h, of_one[i], "object", objects[k]);
    ask(h, "thread", "thread", "0");
    ask(h, "instances", "class", "7");
    heap_view_free(h);
}

static uint64_t unpacked_size(const struct buf *file)
{
    uint64_t n = 0;
    if (file->p[0] == 0x1f) /* the last word of a gzip file */
        for (int i = 4; i > 0; i--)
            n = n << 8 | file->p[file->len - 5 + (size_t)i];
    return n ? n : file->len;
}

static void report(char *path, bool json)
{
    char words[][16] = {"heap",      "--classes", "--biggest",     "--dominators", "--suspects",
                        "--threads", "--strings", "--collections", "--json"};
    char *argv[ARRAY_LEN(words) + 2];
    int n = 0;
    struct err err = {""};
    for (size_t i = 0; i + !json < ARRAY_LEN(words); i++)
        argv[n++] = words[i];
    argv[n++] = path;
    argv[n] = NULL;
    struct printed p = printed_begin(true);
    int rc = cmd_heap.run(n, argv, &err);
    free(printed_end(&p));
    cr_assert(rc >= 0 || err.msg[0]);
}

uint64_t work_read_heap(const struct buf *file)
{
    char path[64];
    int fd = memfd_create("dump", MFD_CLOEXEC);
    cr_assert_eq(fdio_write_all(fd, file->p, file->len), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    report(path, false);
    report(path, true);
    ask_all(path);
    close(fd);
    return unpacked_size(file);
}

#else
typedef int work_is_counted_in_the_variant_test;
#endif
