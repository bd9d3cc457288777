/* heap_view_fuzz.c - heap dumps of arbitrary bytes in the viewer, each compared with itself: every
 * answer about each object is JSON, or an error that says something.
 *
 * Input: the file.  One that begins with "JAVA PROFILE" only has a chance. */
#include "base/fdio.h"
#include "view/heap_view.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OBJECTS = 24, LONGEST = 16 << 20 };

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* Whether there is such an answer. */
static bool ask(struct heap_view *h, const char *answer, const char *name, unsigned number)
{
    char text[16];
    struct buf b = {0};
    struct err err = {""};
    struct view_param p = {name, text};
    const struct view_question q = {&p, name ? 1 : 0};
    snprintf(text, sizeof text, "%u", number);
    int rc = heap_view_json(h, answer, &q, &b, &err);
    check(rc == 0 || (rc < 0 && err.msg[0] && b.len == 0));
    if (rc == 0) {
        json_t *j = json_loadb((const char *)b.p, b.len, 0, NULL);
        check(json_is_object(j) && b.len < LONGEST);
        json_decref(j);
    }
    buf_fini(&b);
    return rc != -ENOENT;
}

static void ask_everything(struct heap_view *h)
{
    static const char *const of_object[] = {"object", "elements", "referrers",
                                            "path",   "tree",     "icicle"};
    static const char *const of_all[] = {"overview", "classes", "tree",        "icicle", "suspects",
                                         "threads",  "strings", "collections", "diff"};
    for (size_t k = 0; k < sizeof of_all / sizeof of_all[0]; k++)
        ask(h, of_all[k], NULL, 0);
    for (unsigned i = 0; i < OBJECTS && ask(h, "thread", "thread", i); i++)
        ;
    for (unsigned i = 0; i < OBJECTS && ask(h, "instances", "class", i); i++)
        ;
    for (unsigned i = 0; i < OBJECTS && ask(h, "tree", "object", i); i++)
        for (size_t k = 0; k < sizeof of_object / sizeof of_object[0]; k++)
            ask(h, of_object[k], "object", i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct heap_view *h;
    struct err err = {""};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    fdio_write_all(fd, data, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (heap_view_new(&h, path, path, &err) < 0) {
        check(err.msg[0] != 0);
    } else {
        heap_view_read(h);
        ask_everything(h);
        heap_view_free(h);
    }
    close(fd);
    return 0;
}
