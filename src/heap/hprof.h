/* hprof.h - the records of an HPROF heap dump, one after the other.
 *
 * The format is described in the JDK's heapDumper.cpp and in its older hprof manual: a header
 * ("JAVA PROFILE 1.0.1" or "1.0.2", the size of ids, the time), then records of tag, time and
 * length.  The heap is in records HEAP_DUMP (1.0.1) or any number of HEAP_DUMP_SEGMENT (1.0.2),
 * which consist of sub-records without a length of their own.  All numbers are big-endian.
 *
 * A reader gives an item a record and an item a sub-record.  It looks at the bytes of an array only
 * when asked to, so the histogram of a dump full of large arrays costs next to nothing.  A file
 * that ends too early or has impossible content is not an error here: the reader stops, reports why
 * in `problem`, and what came before is used.
 *
 *     struct hprof_item it;
 *     while ((rc = hprof_next(&r, &it)) > 0) ...
 *
 * One reader belongs to one thread. */
#ifndef ORCA_HEAP_HPROF_H
#define ORCA_HEAP_HPROF_H

#include "base/err.h"
#include "heap/hprof_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hprof_tag { /* of a record */
                 HPROF_UTF8 = 0x01,
                 HPROF_LOAD_CLASS = 0x02,
                 HPROF_UNLOAD_CLASS = 0x03,
                 HPROF_FRAME = 0x04,
                 HPROF_TRACE = 0x05,
                 HPROF_ALLOC_SITES = 0x06,
                 HPROF_HEAP_SUMMARY = 0x07,
                 HPROF_START_THREAD = 0x0a,
                 HPROF_END_THREAD = 0x0b,
                 HPROF_HEAP_DUMP = 0x0c,
                 HPROF_CPU_SAMPLES = 0x0d,
                 HPROF_CONTROL_SETTINGS = 0x0e,
                 HPROF_HEAP_DUMP_SEGMENT = 0x1c,
                 HPROF_HEAP_DUMP_END = 0x2c,
};

enum hprof_sub { /* of a sub-record: roots, then what the heap holds */
                 HPROF_ROOT_UNKNOWN = 0xff,
                 HPROF_ROOT_JNI_GLOBAL = 0x01,
                 HPROF_ROOT_JNI_LOCAL = 0x02,
                 HPROF_ROOT_JAVA_FRAME = 0x03,
                 HPROF_ROOT_NATIVE_STACK = 0x04,
                 HPROF_ROOT_STICKY_CLASS = 0x05,
                 HPROF_ROOT_THREAD_BLOCK = 0x06,
                 HPROF_ROOT_MONITOR_USED = 0x07,
                 HPROF_ROOT_THREAD_OBJ = 0x08,
                 HPROF_CLASS = 0x20,
                 HPROF_INSTANCE = 0x21,
                 HPROF_OBJECT_ARRAY = 0x22,
                 HPROF_PRIMITIVE_ARRAY = 0x23,
};

enum hprof_type { /* of a field or an array element */
                  HPROF_OBJECT = 2,
                  HPROF_BOOLEAN = 4,
                  HPROF_CHAR = 5,
                  HPROF_FLOAT = 6,
                  HPROF_DOUBLE = 7,
                  HPROF_BYTE = 8,
                  HPROF_SHORT = 9,
                  HPROF_INT = 10,
                  HPROF_LONG = 11,
                  HPROF_TYPES = 12,
};

/* Bytes in the file, 0 for anything but a type. */
static inline uint32_t hprof_type_size(uint8_t type, uint32_t id_size)
{
    static const uint8_t size[HPROF_TYPES] = {0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8};
    return type == HPROF_OBJECT ? id_size : type < HPROF_TYPES ? size[type] : 0;
}

static inline bool hprof_is_root(uint8_t sub)
{
    return (sub >= HPROF_ROOT_JNI_GLOBAL && sub <= HPROF_ROOT_THREAD_OBJ) ||
           sub == HPROF_ROOT_UNKNOWN;
}

struct hprof_item {
    bool sub;                /* a sub-record; else a record that is not a heap dump */
    uint8_t tag;             /* enum hprof_sub or enum hprof_tag */
    uint8_t type;            /* primitive array: of its elements */
    uint64_t offset;         /* of the tag, in the dump */
    uint64_t id;             /* sub-records: the object */
    uint64_t class_id;       /* instance: its class; object array: the array's class */
    uint32_t n;              /* arrays: elements */
    uint64_t stated;         /* not a root, of a converted dump: its size in the heap */
    uint32_t thread, depth;  /* roots: serial number of the thread (JNI local, frame, thread: 0 for
                                none), depth of the frame; thread object: of its trace */
    uint64_t body, body_len; /* offset and bytes of what follows: fields, elements, or the record's
                                content; class: what follows the class id and trace */
};

struct hprof {
    struct hprof_file *file;
    struct hprof_cursor *cursor;
    uint32_t id_size;  /* 4 or 8 */
    uint32_t version;  /* 101 or 102 */
    uint64_t time_ms;  /* of the dump, since 1970 */
    uint64_t first;    /* offset of the first record */
    bool stated;       /* the dump was converted: see hprof_file_stated */
    uint64_t heap_at;  /* the first HEAP_DUMP that was met, 0: none yet; */
    uint64_t heap_len; /* how long it is, which its record may not say */

    uint64_t end;           /* of what is to be read */
    uint64_t segment_end;   /* sub-records go up to here; 0: between records */
    char problem[256];      /* why it ended too early, "" for the end; begins with the offset */
    uint64_t problem_at;    /* the offset */
    bool system_error, cut; /* the last read failed; gave less than was asked for: what is behind
                               the problem is not damaged but not there */

    /* The bytes [base, base + len) of the dump; `at` is the next to be read. */
    uint8_t *window;
    uint64_t base;
    size_t len, at;
    size_t ahead;      /* bytes read at once: HPROF_WINDOW; few for single objects here and there */
    uint64_t body_end; /* of the current item; what of it is not read is skipped */
};

enum { HPROF_WINDOW = 1 << 20 };

/* Read the header.  A file that is not a heap dump is an error that names it and says what it may
 * be; so is a dump of Android, which has other sub-records.  The file is borrowed. */
int hprof_open(struct hprof *h, struct hprof_file *file, struct err *err);

/* Another reader of the same dump, for another thread; also closed with hprof_close. */
int hprof_clone(struct hprof *h, const struct hprof *of, struct err *err);

void hprof_close(struct hprof *h);

/* Read from the record at `from` up to `to`; UINT64_MAX: to the end of the dump. */
void hprof_seek(struct hprof *h, uint64_t from, uint64_t to);

/* Read from the sub-record at `from`, whose heap-dump record ends at `segment_end`, up to `to`. */
void hprof_seek_sub(struct hprof *h, uint64_t from, uint64_t segment_end, uint64_t to);

/* Whether what stands where hprof_seek_sub went begins as the record of this object does. */
bool hprof_is_object(struct hprof *h, uint64_t id);

/* The next item: 1, or 0 at the end or at a problem, or a negative errno of the system with the
 * text in `problem`. */
int hprof_next(struct hprof *h, struct hprof_item *it);

/* The offset where the next item begins, when the current one's body is done with. */
uint64_t hprof_position(const struct hprof *h);

/* The next bytes of the current item's body, at least `want` of them (at most HPROF_WINDOW) unless
 * the body ends before: sets *p and returns how many there are, at most `most`, a multiple of
 * `want` where they are more; 0 when the body is
 * at its end, or the dump (see problem).  They are taken, and valid until the next call. */
size_t hprof_body(struct hprof *h, const uint8_t **p, size_t want, size_t most);

/* Skip from record to record without looking into heap dumps, to share the work: one call gives
 * the offset of a record and where it ends, at most the end of the file, and then `cut` is set. For
 * files that are not compressed.  1, 0 at the end or at a problem. */
int hprof_next_record(struct hprof *h, uint8_t *tag, uint64_t *from, uint64_t *to);

/* --- bytes of a body, which the caller has counted -------------------------------------------- */

static inline uint16_t hprof_u2(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t hprof_u4(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t hprof_u8(const uint8_t *p)
{
    return (uint64_t)hprof_u4(p) << 32 | hprof_u4(p + 4);
}

static inline uint64_t hprof_id(const uint8_t *p, uint32_t id_size)
{
    return id_size == 8 ? hprof_u8(p) : hprof_u4(p);
}

#endif
