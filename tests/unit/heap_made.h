/* heap_made.h - heap dumps made by hand, for tests: a file that is gone with its descriptor, and
 * the classes that every dump has. */
#ifndef ORCA_TESTS_HEAP_MADE_H
#define ORCA_TESTS_HEAP_MADE_H

#include "../hprof_writer.h"

#include <stdint.h>
#include <stdio.h>

/* Ids of the classes of made_begin; a test's own ones begin at MADE_OWN. */
enum {
    OBJECT = 0x100,
    KLASS = 0x180,
    STRING = 0x200,
    BYTES = 0x280,
    REFERENCE = 0x300,
    WEAK = 0x380,
    NODE = 0x400,
    NODES = 0x480,
    THREAD = 0x500,
    MADE_OWN = 0x580,
};

struct made {
    struct hprof_writer w;
    FILE *f;
    char path[64];
    uint64_t next; /* for tests that give ids out: the next free one */
};

/* An empty file with the head of a dump; fclose(m->f) is its end. */
void made_open(struct made *m, uint32_t id_size);

/* The same, and the classes above; Node has these fields, of hw_class. */
void made_begin(struct made *m, uint32_t id_size, const char *node_fields);

/* An id with room for that number of bytes behind it; an instance with the values of its fields,
 * and a byte[], at such ids. */
uint64_t made_place(struct made *m, uint64_t size);
uint64_t made_instance(struct made *m, uint64_t class_id, const uint64_t *values);
uint64_t made_bytes(struct made *m, const void *p, uint32_t n);

/* A frame of method `name` of the class with this serial number (classes count from 1), at this
 * line of Node.java; its id. */
uint64_t made_frame(struct made *m, const char *name, uint32_t class_serial, uint32_t line);

/* The stack trace of a serial number, the youngest frame first; of dumps with ids of 8 bytes. */
void made_trace(struct made *m, uint32_t serial, const uint64_t *frames, uint32_t n);

#endif
