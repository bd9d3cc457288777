/* orca_text_fuzz.c - the importer of Orca's text files.
 *
 * An input is an event log; its companions follow behind lines "=methods", "=classtable",
 * "=meta" and "=calltable". Whatever it holds must become a trace that can be read to its end, or
 * an error with a text. */
#include "format/trace.h"
#include "import/orca_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The part behind the line "=NAME", up to the next such line; absent when there is none. */
static struct text_source part(const char *text, size_t size, const char *name)
{
    struct text_source s = {NULL, -1, NULL, 0};
    const char *at = memmem(text, size, name, strlen(name));
    if (!at)
        return s;
    at += strlen(name);
    const char *end = memmem(at, (size_t)(text + size - at), "\n=", 2);
    s.name = name + 2;
    s.p = at;
    s.len = (size_t)((end ? end + 1 : text + size) - at);
    return s;
}

static void check(int holds)
{
    if (!holds)
        abort();
}

static void read_all(struct trace *t)
{
    struct trace_iter *it;
    struct event e;
    struct err err;
    uint64_t n = 0, last = 0;
    check(trace_iter_open(&it, t, &err) == 0);
    for (; trace_iter_next(it, &e, NULL, &err) > 0; n++) {
        check(e.time >= last && e.thread.v < t->n_threads + (t->n_threads == 0));
        last = e.time;
    }
    trace_iter_close(it);
    check(n == t->n_events && t->n_problems <= 100);
    for (size_t i = 0; i < t->n_stacks; i++)
        for (uint32_t k = 0; k < t->stacks[i].n_frames; k++)
            trace_line(t, t->stacks[i].frames[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Exactly as long as each part, so that a read beyond it is seen. */
    const char *text = (const char *)data;
    const char *end = memmem(text, size, "\n=", 2);
    struct orca_sources s = {
        .log = {"app.orca", -1, text, end ? (size_t)(end + 1 - text) : size},
        .methods = part(text, size, "\n=methods\n"),
        .classtable = part(text, size, "\n=classtable\n"),
        .meta = part(text, size, "\n=meta\n"),
        .calltable = part(text, size, "\n=calltable\n"),
    };
    struct trace *t;
    struct err err = {""};
    int rc = import_orca_from(&t, &s, NULL, &err);
    check(rc < 0 ? !t && err.msg[0] : t != NULL);
    if (t)
        read_all(t);
    trace_close(t);
    return 0;
}
