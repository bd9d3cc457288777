#include "heap/missing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char missing_why[] =
    "Without these parts Orca cannot say what keeps memory alive: no dominators, retained sizes, "
    "suspects or unreachable objects. All numbers are lower bounds.";

const char missing_remedy[] =
    "Make the dump again, with enough room on the disk: orca heap dump PID, or jcmd PID "
    "GC.heap_dump FILE. If the file is a copy, compare its size with the original's and copy it "
    "again.";

const char missing_contents[] =
    "This dump is XML, which has only sizes and references: no values of primitive fields and "
    "elements, texts of Strings, lengths of arrays or stacks.";

static void line(struct missing_lines *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void line(struct missing_lines *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->v[out->n], sizeof out->v[out->n], fmt, ap);
    va_end(ap);
    out->n++;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

void missing_tell(const struct dump *d, struct missing_lines *out)
{
    const struct dump_missing *m = &d->missing;
    out->n = 0;
    if (m->end)
        line(out, "its end: the dump was truncated at offset 0x%" PRIx64, m->end_at);
    if (m->damaged)
        line(out, "%" PRIu64 " damaged part%s, which begin%s at offset 0x%" PRIx64, m->damaged,
             plural(m->damaged), m->damaged == 1 ? "s" : "", m->damaged_at);
    if (m->roots)
        line(out, "the roots: threads with their local variables, JNI globals, classes of the JVM");
    if (m->classes)
        line(out,
             "what %" PRIu32 " class%s consist%s of, and with it what %" PRIu64
             " object%s refer%s to",
             m->classes, m->classes == 1 ? "" : "es", m->classes == 1 ? "s" : "", m->instances,
             plural(m->instances), m->instances == 1 ? "s" : "");
    if (m->names)
        line(out, "%" PRIu64 " name%s of classes and fields, by which Orca knows weak references",
             m->names, plural(m->names));
}
