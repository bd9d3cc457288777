/* cf.h - a class file as ranges of the caller's bytes (JVMS 4.1): where each constant, each method
 * and each method's Code attribute is.  Nothing is copied or changed.
 *
 * The bytes are from outside: every offset in a struct cf_class was checked against `len`, what an
 * attribute contains was not.  A parsed class borrows its bytes and the arena. */
#ifndef ORCA_CLASSFILE_CF_H
#define ORCA_CLASSFILE_CF_H

#include "base/arena.h"
#include "base/err.h"
#include "classfile/be.h"

/* Constants, JVMS table 4.4-A. */
enum cf_tag {
    CF_UTF8 = 1,
    CF_INTEGER = 3,
    CF_FLOAT = 4,
    CF_LONG = 5,
    CF_DOUBLE = 6,
    CF_CLASS = 7,
    CF_STRING = 8,
    CF_FIELDREF = 9,
    CF_METHODREF = 10,
    CF_INTERFACE_METHODREF = 11,
    CF_NAME_AND_TYPE = 12,
    CF_METHOD_HANDLE = 15,
    CF_METHOD_TYPE = 16,
    CF_DYNAMIC = 17,
    CF_INVOKE_DYNAMIC = 18,
    CF_MODULE = 19,
    CF_PACKAGE = 20,
};

enum cf_access {
    CF_ACC_STATIC = 0x0008,
    CF_ACC_SYNCHRONIZED = 0x0020,
    CF_ACC_NATIVE = 0x0100,
    CF_ACC_INTERFACE = 0x0200,
    CF_ACC_ABSTRACT = 0x0400,
};

/* Modified UTF-8, no NUL behind it; p is NULL without such a text. */
struct cf_text {
    const char *p;
    uint32_t len;
};

struct cf_method {
    uint32_t start, end; /* of its bytes in the class */
    uint32_t code;       /* offset of its Code attribute's name index; 0: none */
    uint16_t access;
    struct cf_text name, desc;
};

struct cf_class {
    const uint8_t *p;
    uint32_t len;
    uint16_t minor, major, access;
    uint16_t n_pool;      /* constant_pool_count: indices are 1 .. n_pool - 1 */
    const uint32_t *pool; /* offset of each constant's tag; 0: no constant has this index */
    uint32_t pool_end;    /* offset of access_flags */
    struct cf_text name;  /* internal form: java/lang/Object */
    struct cf_text super; /* p NULL: java/lang/Object, module-info */
    uint16_t n_methods;
    struct cf_method *methods;
};

/* One attribute of a table (JVMS 4.7): name, and the range of its content. */
struct cf_attr {
    struct cf_text name;
    uint32_t start;     /* of the whole attribute, its name index */
    uint32_t data, end; /* of the content */
};

/* -EINVAL: no class file, or one whose parts do not fit together; -ENOMEM. */
int cf_parse(struct cf_class *c, const uint8_t *p, size_t len, struct arena *a, struct err *err);

/* The same of constants alone, n - 1 of them as JVMTI's GetConstantPool gives them: a class that
 * has nothing else.  The bytes are copied. */
int cf_parse_constants(struct cf_class *c, const uint8_t *p, size_t len, uint16_t n,
                       struct arena *a, struct err *err);

/* The next attribute at r's place; r->bad is set when it does not fit or its name is not a Utf8. */
struct cf_attr cf_next_attr(const struct cf_class *c, struct be_reader *r);

/* The bytes of constant `index` after its tag, or NULL when its tag is not `tag`. */
const uint8_t *cf_constant(const struct cf_class *c, uint32_t index, enum cf_tag tag);
struct cf_text cf_utf8(const struct cf_class *c, uint32_t index);
struct cf_text cf_class_at(const struct cf_class *c, uint32_t index);

/* Whether a constant is a float or double that is not a number, and so not equal to itself. */
bool cf_has_nan(const struct cf_class *c);

/* The class, name and descriptor of a Fieldref, Methodref or InterfaceMethodref. */
struct cf_ref {
    struct cf_text cls, name, desc;
};
bool cf_ref_at(const struct cf_class *c, uint32_t index, struct cf_ref *out);

bool cf_text_is(struct cf_text t, const char *s);
bool cf_text_equal(struct cf_text a, struct cf_text b);

/* The reader over [start, end) of the class. */
static inline struct be_reader cf_reader(const struct cf_class *c, uint32_t start, uint32_t end)
{
    return (struct be_reader){.p = c->p, .pos = start, .end = end};
}

#endif
