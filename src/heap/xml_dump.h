/* xml_dump.h - a heap dump in TPTP's XML (docs/concepts/heap.md), made into an HPROF file that the
 * reader of such files reads: so there is one implementation of every answer.
 *
 * The HPROF file is a temporary one without a name.  It is as those of the JVM but for this: where
 * these have the serial number of a stack trace, of which there are none, it has an object's size
 * (`stated` of hprof.h), as the XML says sizes and not fields.  A class has the fields that some
 * instance refers by; arrays are as long as the last element that refers to something, those of
 * primitive types are empty.
 *
 *   xml_parse.c    the XML -> facts (xml_parts.h): objects and references in temporary files
 *   xml_fields.c   which class declares which field
 *   xml_write.c    facts -> HPROF
 *
 * Memory: a bit and eight bytes an object, and the classes; on the disk 24 bytes an object and 40 a
 * reference beside the file that is made. */
#ifndef ORCA_HEAP_XML_DUMP_H
#define ORCA_HEAP_XML_DUMP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { XML_PROBLEMS = 4, XML_LOOK = 64 << 10 };

struct xml_problem {
    uint64_t offset, line;
    char text[200]; /* "line 12: what" */
};

struct xml_dump {
    int fd; /* the HPROF file */
    bool cut;
    struct xml_problem end;                    /* why nothing behind it could be read */
    struct xml_problem problems[XML_PROBLEMS]; /* what was left out; the first ones */
    uint64_t n_problems;                       /* all of them */
};

/* Whether a file that begins with these bytes is a heap dump in XML, and not a trace. */
bool xml_dump_is(const uint8_t *p, size_t n);

/* Called with bytes done and to be done. */
typedef void (*xml_progress_fn)(void *ctx, uint64_t done, uint64_t total);

/* Convert the file open at `fd`.  Unreadable parts are left out and reported; errors (a file
 * without a heap dump, the system's) name the file.  The caller closes out->fd. */
int xml_dump_convert(struct xml_dump *out, int fd, const char *path, xml_progress_fn progress,
                     void *ctx, struct err *err);

#endif
