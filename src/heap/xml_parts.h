/* xml_parts.h - what xml_*.c share, private to them: the facts of a heap dump in XML. */
#ifndef ORCA_HEAP_XML_PARTS_H
#define ORCA_HEAP_XML_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "heap/dump.h"
#include "heap/ids.h"
#include "heap/xml_dump.h"

/* A temporary file without a name that is only appended to, and then mapped. */
struct xml_tape {
    int fd;
    struct buf buf;
    uint64_t len; /* bytes, those in buf included */
    void *map;
    int rc;
};

int xml_tape_open(struct xml_tape *t, struct err *err);
void xml_tape_put(struct xml_tape *t, const void *p, size_t n);
/* All of it, to be read and written; `len` may be set before, for a file of zeros. */
int xml_tape_map(struct xml_tape *t);
void xml_tape_close(struct xml_tape *t);

enum xml_ref_kind { /* by the word that the XML has */
                    XML_FIELD,
                    XML_STATIC_FIELD,
                    XML_ARRAY_ELEMENT,
                    XML_CLASS_LOADER,
                    XML_SIGNERS,
                    XML_PROTECTION_DOMAIN,
                    XML_INTERFACE,
                    XML_CONSTANT_POOL,
                    XML_SUPERCLASS,
                    XML_OTHER,
                    XML_REF_KINDS
};

struct xml_object {
    uint64_t id, size;
    uint32_t class_number; /* in the order of classDefs; DUMP_NONE */
    uint8_t kind;          /* JVMPI's: 0 instance, 2 array of references, 4 to 11 primitive */
};

struct xml_ref {
    uint64_t from, to;
    uint32_t name; /* in names */
    uint32_t index;
    uint8_t kind;
};

struct xml_link { /* a reference, beside the others of its object */
    uint64_t to;
    uint32_t name, index;
    uint8_t kind;
};

struct xml_class {
    uint64_t id;     /* as objects name it: classId */
    uint64_t object; /* of the Class object; 2^63 + id: the XML does not say */
    uint32_t name;
    uint32_t super; /* DUMP_NONE */
    uint32_t depth;
    uint64_t loader, signers, domain; /* objects */
    uint32_t n_fields, first;         /* in fields */
    uint64_t instances;
    bool told; /* its Class object is an objDef */
};

struct xml_root {
    uint64_t object, thread;
    uint32_t depth;
    uint8_t kind; /* enum hprof_sub */
};

struct xml_thread {
    uint64_t id, object;
    uint32_t name;
};

struct xml_facts {
    struct xml_dump *out;
    uint64_t file_size, time_ms;
    struct arena arena;
    struct buf names;   /* const char * */
    struct map name_of; /* hash -> number + 1 */
    struct buf classes; /* struct xml_class; the last one is for objects that name none */
    struct map class_by_id, class_by_object; /* -> number + 1 */
    struct buf roots, threads;
    struct xml_tape objects, refs, links;
    struct ids ids;
    uint64_t *begins; /* of the links of each object */
    struct map
        owned; /* class, name, how many of that name came before -> place in its fields + 1 */
    struct map places; /* the same -> place in the body + 1 */
    struct buf fields; /* uint32_t: names, class by class */
    bool seen;         /* anything of a heap dump */
};

#define XML_VEC(buf_, type) ((type *)(void *)(buf_).p)
#define XML_LEN(buf_, type) ((uint32_t)((buf_).len / sizeof(type)))

/* The number of a text, the same for equal ones; UINT32_MAX: memory is out. */
uint32_t xml_name(struct xml_facts *f, const char *text);

/* Keep what was left out. */
void xml_problem_at(struct xml_facts *f, uint64_t offset, uint64_t line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* 0, or -ENOMEM, -EINVAL, an error of the system. */
int xml_parse(struct xml_facts *f, int fd, const char *path, xml_progress_fn progress, void *ctx,
              struct err *err);
int xml_fields_find(struct xml_facts *f);
int xml_write(struct xml_facts *f);

/* The links of an object; NULL for what is not in the XML. */
struct xml_link *xml_links(const struct xml_facts *f, uint64_t id, size_t *n);

/* Sort by name, and those of one name as they came. */
void xml_links_by_name(struct xml_link *v, size_t n);

/* The class of an object as numbers go; the last one for those that name none. */
static inline uint32_t xml_class_of(const struct xml_facts *f, const struct xml_object *o)
{
    uint32_t last = XML_LEN(f->classes, struct xml_class) - 1;
    return o->class_number < last ? o->class_number : last;
}

/* Whether it is the Class object of a class: its number + 1. */
static inline uint32_t xml_own_class(const struct xml_facts *f, uint64_t object)
{
    const uint64_t *number = map_find(&f->class_by_object, object);
    return number ? (uint32_t)*number : 0;
}

/* Fields of the class and its supers; where in the body of an instance a field stands. */
uint64_t xml_body_fields(const struct xml_facts *f, uint32_t class_number);
uint32_t xml_field_place(struct xml_facts *f, uint32_t class_number, uint32_t name,
                         uint32_t before);

#endif
