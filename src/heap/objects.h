/* objects.h - single objects of a dump: their classes and where they stand, and reading one.
 *
 * objects_locate takes one pass over the dump and six to eight bytes an object.  A place is kept as
 * a multiple of 8 bytes (more in dumps of over 32 GB); the record itself is found there by its tag
 * and id.
 *
 * `struct objects` is read only afterwards; each thread reads through an object_reader of its
 * own. */
#ifndef ORCA_HEAP_OBJECTS_H
#define ORCA_HEAP_OBJECTS_H

#include "base/buf.h"
#include "heap/dump.h"

struct objects {
    const struct dump *d;
    uint32_t
        *places; /* of each object: offset in the dump >> shift; UINT32_MAX: it has no record */
    unsigned shift;
    uint16_t *narrow; /* class numbers, when there are few */
    uint32_t *wide;   /* and else */
};

struct object_reader {
    const struct objects *o;
    struct hprof h;
    struct buf body, more;
};

struct object {
    uint32_t number;
    const struct dump_class *c; /* its class; NULL when the dump does not have it */
    struct hprof_item item;     /* tag: HPROF_CLASS, INSTANCE, OBJECT_ARRAY or PRIMITIVE_ARRAY */
    uint64_t size;              /* shallow, in the heap */
    const uint8_t *fields;      /* an instance: its body; else NULL.  Valid until the next read */
    size_t fields_len;
};

/* -ENOMEM, or an error of the system.  The dump was opened without counts_only. */
int objects_locate(struct objects *o, const struct dump *d, struct err *err);

/* The same, and the shallow size of each object, in eighths of it (sizes are multiples of 8), in an
 * array of the caller, which holds zeros. */
int objects_locate_sized(struct objects *o, const struct dump *d, uint32_t *eighths,
                         struct err *err);
void objects_release(struct objects *o);

/* The class of an object, or DUMP_NONE for one without a record. */
static inline uint32_t objects_class(const struct objects *o, uint32_t number)
{
    if (o->narrow)
        return o->narrow[number] == UINT16_MAX ? DUMP_NONE : o->narrow[number];
    return o->wide[number];
}

int object_reader_open(struct object_reader *r, const struct objects *o, struct err *err);
void object_reader_close(struct object_reader *r);

/* Read an object.  -ENOENT when the dump has no record of it, -EIO. */
int object_read(struct object_reader *r, uint32_t number, struct object *out, struct err *err);

/* The bits of a field of an instance (objects: the id); false when there is none of this name.
 * declaring: the class that declares it, NULL for the nearest. */
bool object_field(const struct object_reader *r, const struct object *x, const char *declaring,
                  const char *name, uint64_t *value);

/* Elements [first, first + n) of an array, n cut to what there is: the bytes as in the dump, in a
 * buffer of the reader that is valid until the next call (object_read does not touch it).  Returns
 * the number of elements, or a negative errno. */
int64_t object_elements(struct object_reader *r, const struct object *array, uint64_t first,
                        uint64_t n, const uint8_t **p);

/* How the array of a String holds its characters. */
enum text_form { TEXT_CHARS, TEXT_LATIN1, TEXT_UTF16 };

/* Append n elements of such an array (chars or bytes), which are in the form of the dump, as
 * UTF-8. */
void object_text(enum text_form form, const uint8_t *p, size_t n, struct buf *into);

/* Append the text of a java.lang.String as UTF-8, at most `most` of its characters; both forms, of
 * char[] (JDK 8) and of byte[] with a coder.  Returns its length in characters, -EINVAL when the
 * object is not a String or has no value, or a negative errno. */
int64_t object_string(struct object_reader *r, uint32_t number, struct buf *into, uint64_t most);

#endif
