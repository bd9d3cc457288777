/* cpool.h - the constants that an edit adds to a class: each is looked for among the class's own
 * constants and the ones added before, and appended when it is not there.
 *
 * The class's constants keep their indices.  An index that does not fit (JVMS 4.1: at most 65535
 * entries) or a failed allocation sets `full` or `out.oom`; the index returned then is 0 and the
 * caller looks at cpool_check once, at the end. */
#ifndef ORCA_CLASSFILE_CPOOL_H
#define ORCA_CLASSFILE_CPOOL_H

#include "base/map.h"
#include "classfile/cf.h"

struct cpool {
    const struct cf_class *c;
    struct map index; /* hash of a constant -> its index; built at the first question */
    bool indexed, full;
    uint32_t n;     /* constant_pool_count with the added ones */
    struct buf out; /* the added constants */
};

void cpool_init(struct cpool *p, const struct cf_class *c);
void cpool_fini(struct cpool *p);

uint32_t cpool_utf8(struct cpool *p, const char *s, size_t len);
uint32_t cpool_integer(struct cpool *p, int32_t v);
uint32_t cpool_long(struct cpool *p, const uint8_t value[8]); /* the first of its two indices */
uint32_t cpool_class(struct cpool *p, const char *name, size_t len);
uint32_t cpool_method(struct cpool *p, const char *cls, const char *name, const char *desc);

int cpool_check(const struct cpool *p, struct err *err);

#endif
