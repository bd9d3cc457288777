/* heap_file.h - the file of a heap dump, which a JVM or the agent in it writes: where, under what
 * name until it is whole, and what is left of it when it never gets so.
 *
 *     heap_file_open    nothing is written yet
 *     (the JVM writes `path`)
 *     heap_file_publish the file has its name, whole     heap_file_discard    nothing is there
 *
 * The folder is the one that the JVM sees.  In a container that is another one than here: then an
 * absolute path means the one there. */
#ifndef ORCA_CLI_HEAP_FILE_H
#define ORCA_CLI_HEAP_FILE_H

#include "attach/jvm.h"
#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct heap_file {
    int dir;             /* the folder; -1: closed */
    char path[PATH_MAX]; /* what the JVM is to write: the temporary name, as the JVM sees it */
    char here[PATH_MAX]; /* the file once it is whole, as it is from here */
    char name[256], temp[256];
    bool replace;
};

/* -EEXIST unless `replace`; -ENOENT no such folder, or the JVM does not see it; -EACCES. */
int heap_file_open(struct heap_file *f, const struct jvm *jvm, const char *path, bool replace,
                   struct err *err);

/* Bytes of what is written so far, parts that HotSpot writes beside it included. */
uint64_t heap_file_size(const struct heap_file *f);

/* Give the file its name.  -ENOENT: there is none. */
int heap_file_publish(struct heap_file *f, struct err *err);

/* Remove what there is of an unfinished file.  A published or closed one is fine. */
void heap_file_discard(struct heap_file *f);

/* While this one is written, a signal that ends the command removes it first; NULL: none. */
void heap_file_guard(const struct heap_file *f);

#endif
