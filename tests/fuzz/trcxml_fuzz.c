/* trcxml_fuzz.c - the importer of TPTP's XML.
 *
 * Whatever an input holds must become a trace that can be read to its end, or an error with a
 * text. */
#include "format/trace.h"
#include "import/trcxml.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
        check(e.time >= last);
        last = e.time;
    }
    trace_iter_close(it);
    check(n == t->n_events && t->n_problems <= 100);
    for (size_t i = 0; i < t->n_problems; i++)
        check(t->problems[i].text[0] != 0);
    for (size_t i = 0; i < t->n_stacks; i++)
        for (uint32_t k = 0; k < t->stacks[i].n_frames; k++)
            trace_line(t, t->stacks[i].frames[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct text_source s = {"app.trcxml", -1, (const char *)data, size};
    struct trace *t;
    struct err err = {""};
    int rc = import_trcxml_from(&t, &s, NULL, &err);
    check(rc < 0 ? !t && err.msg[0] : t != NULL);
    if (t)
        read_all(t);
    trace_close(t);
    return 0;
}
