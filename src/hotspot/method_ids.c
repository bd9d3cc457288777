#include "hotspot/method_ids.h"

#include "base/guarded.h"
#include "base/hash.h"
#include "hotspot/methods.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 8192, WORD = sizeof(uintptr_t), NUMBERS_SINCE = 26, CODE_MAX = 4096 };

/* An id names its method, so the ids alone are kept, where their methods' hashes say. */
struct method_ids {
    const struct layout *layout;
    uintptr_t ids_offset; /* of the array in an InstanceKlass */
    uint32_t obsolete;    /* bit of a Method's access flags; 0: they do not say (JDK 21) */
    bool numbers;         /* ids are not addresses: */
    struct class_methods classes;
    _Atomic uintptr_t known[ENTRIES];
};

int method_ids_open(struct method_ids **out, const struct walker *w, const struct vmstructs *vs,
                    struct err *err)
{
    const struct layout *l = walker_layout(w);
    long at = vmstructs_offset(vs, "InstanceKlass", "_methods_jmethod_ids", NULL);
    *out = NULL;
    if (at < 0)
        return err_set(err, -ENOTSUP,
                       "this JVM does not describe InstanceKlass::_methods_jmethod_ids");
    struct method_ids *m = calloc(1, sizeof *m);
    if (!m)
        return err_set(err, -ENOMEM, "out of memory");
    m->layout = l;
    m->numbers = l->major >= NUMBERS_SINCE || vmstructs_hides("jmethodID", "address");
    if (m->numbers && !class_methods_open(&m->classes, vs)) {
        free(m);
        return err_set(
            err, -ENOTSUP,
            "no method ids: they are numbers on JDK %d, which this collector or JVM does "
            "not let Orca verify",
            l->major);
    }
    m->ids_offset = (uintptr_t)at;
    int32_t obsolete;
    m->obsolete = vmstructs_constant(vs, "JVM_ACC_IS_OBSOLETE", &obsolete) ? (uint32_t)obsolete : 0;
    *out = m;
    return 0;
}

static bool names(uintptr_t id, uintptr_t method)
{
    uintptr_t named;
    return id && id % WORD == 0 && guarded_word(id, &named) && named == method;
}

/* Bytecodes that the interpreter has rewritten in one of the two are not the same, either. */
static bool same_code(const struct method_view *a, const struct method_view *b)
{
    uint8_t one, other;
    bool same = a->code_size == b->code_size && a->code_size <= CODE_MAX;
    for (uint32_t i = 0; same && i < a->code_size; i++)
        same = guarded_u8(a->code + i, &one) && guarded_u8(b->code + i, &other) && one == other;
    return same;
}

/* A method that was redefined to the same and then to another has kept the first's number. */
static bool is_replaced(const struct method_ids *m, const struct method_view *v,
                        const struct method_view *successor)
{
    uint32_t flags;
    if (!m->obsolete)
        return !same_code(v, successor);
    return !guarded_u32(v->method + (uintptr_t)m->layout->m_access, &flags) || flags & m->obsolete;
}

/* Whether it is a newer version of the method, with the same code. */
static bool is_successor(const struct method_ids *m, uintptr_t successor,
                         const struct method_view *v, uint16_t number)
{
    const struct layout *l = m->layout;
    struct method_view s;
    struct method_symbols mine, its;
    uint16_t its_number;
    return successor && method_view(l, successor, &s) && s.klass == v->klass &&
           s.code_size == v->code_size && method_symbols(l, v, &mine) &&
           method_symbols(l, &s, &its) && mine.name == its.name &&
           mine.signature == its.signature &&
           guarded_u16(s.constants + (uintptr_t)l->cm_idnum, &its_number) && its_number == number &&
           !is_replaced(m, v, &s);
}

/* Whether the word of the id names a newer version of the method, with the same code. */
static bool names_successor(const struct method_ids *m, uintptr_t id, const struct method_view *v,
                            uint16_t number)
{
    uintptr_t successor;
    return id % WORD == 0 && guarded_word(id, &successor) && is_successor(m, successor, v, number);
}

/* The array was not replaced while it was read. */
static uintptr_t look_up_number(const struct method_ids *m, const struct method_view *v,
                                uint16_t number)
{
    uintptr_t before, after, id, newest;
    if (!guarded_word(v->klass + m->ids_offset, &before))
        return 0;
    id = method_id_of_number(v->klass + m->ids_offset, number);
    newest = class_methods_numbered(&m->classes, v->klass, number);
    if (!id || !guarded_word(v->klass + m->ids_offset, &after) || after != before)
        return 0;
    return newest == v->method || is_successor(m, newest, v, number) ? id : 0;
}

static uintptr_t look_up(const struct method_ids *m, uintptr_t method)
{
    const struct layout *l = m->layout;
    struct method_view v;
    uint16_t number;
    if (!method_view(l, method, &v) || !guarded_u16(v.constants + (uintptr_t)l->cm_idnum, &number))
        return 0;
    if (m->numbers)
        return look_up_number(m, &v, number);
    uintptr_t id = method_id_of_number(v.klass + m->ids_offset, number);
    return id && (names(id, method) || names_successor(m, id, &v, number)) ? id : 0;
}

uintptr_t method_ids_find(struct method_ids *m, uintptr_t method)
{
    if (m->numbers)
        return look_up(m, method);
    _Atomic uintptr_t *known = &m->known[hash_u64(method) % ENTRIES];
    uintptr_t id = atomic_load_explicit(known, memory_order_relaxed);
    if (names(id, method))
        return id;
    id = look_up(m, method);
    if (id)
        atomic_store_explicit(known, id, memory_order_relaxed);
    return id;
}

const struct class_methods *method_ids_classes(const struct method_ids *m)
{
    return m->numbers ? &m->classes : NULL;
}

bool method_ids_agree(struct method_ids *m, uintptr_t method, uintptr_t id, const char *name,
                      const char *signature)
{
    struct method_view v;
    struct method_symbols s;
    return method_view(m->layout, method, &v) && method_symbols(m->layout, &v, &s) &&
           method_symbol_is(m->layout, s.name, name) &&
           method_symbol_is(m->layout, s.signature, signature) && method_ids_find(m, method) == id;
}
