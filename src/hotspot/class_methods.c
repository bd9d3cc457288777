#include "hotspot/class_methods.h"

#include "base/guarded.h"

#define WORD sizeof(uintptr_t)

bool class_methods_open(struct class_methods *c, const struct vmstructs *vs)
{
    long at = vmstructs_offset(vs, "java_lang_Class", "_klass_offset", NULL);
    *c = (struct class_methods){
        .methods = vmstructs_offset(vs, "InstanceKlass", "_methods", NULL),
        .ids = vmstructs_offset(vs, "InstanceKlass", "_methods_jmethod_ids", NULL),
        .array_data = vmstructs_offset(vs, "Array<Method*>", "_data", NULL),
        .const_method = vmstructs_offset(vs, "Method", "_constMethod", NULL),
        .number = vmstructs_offset(vs, "ConstMethod", "_method_idnum", NULL)};
    oops_open(&c->oops, vs);
    return at != -1 && guarded_i32((uintptr_t)at, &c->mirror_klass) && c->mirror_klass > 0 &&
           c->methods >= 0 && c->ids >= 0 && c->array_data >= (long)sizeof(int32_t) &&
           c->const_method >= 0 && c->number >= 0 && c->oops.known;
}

/* The class that the mirror stands for.  A local reference has its address as it is, also under
 * ZGC, until objects are moved the next time. */
static bool find_class(const struct class_methods *c, uintptr_t mirror, uint64_t before,
                       uintptr_t *klass)
{
    uint64_t after;
    uintptr_t object;
    return guarded_word(mirror, &object) && object &&
           guarded_word(object + (uintptr_t)c->mirror_klass, klass) && *klass &&
           oops_count(&c->oops, false, &after) && before == after;
}

/* The number of the method with that id.  The array: how many there are, then the ids. */
static bool find_number(const struct class_methods *c, uintptr_t klass, uintptr_t id,
                        uintptr_t *number)
{
    uintptr_t ids, after, n, found = 0;
    if (!guarded_word(klass + (uintptr_t)c->ids, &ids) || !ids || !guarded_word(ids, &n) ||
        n > UINT16_MAX + 1u)
        return false;
    for (*number = 0; *number < n; ++*number)
        if (!guarded_word(ids + (*number + 1) * WORD, &found) || found == id)
            break;
    return found == id && guarded_word(klass + (uintptr_t)c->ids, &after) && after == ids;
}

/* The method at that place in the array, and its number. */
static bool method_at(const struct class_methods *c, uintptr_t methods, int32_t i,
                      uintptr_t *method, uint16_t *number)
{
    uintptr_t constants;
    return guarded_word(methods + (uintptr_t)c->array_data + (uintptr_t)i * WORD, method) &&
           guarded_word(*method + (uintptr_t)c->const_method, &constants) &&
           guarded_u16(constants + (uintptr_t)c->number, number);
}

/* Mostly a method's number is its place. */
uintptr_t class_methods_numbered(const struct class_methods *c, uintptr_t klass, uint16_t number)
{
    uintptr_t methods, method;
    int32_t n;
    uint16_t its;
    if (!guarded_word(klass + (uintptr_t)c->methods, &methods) || !guarded_i32(methods, &n))
        return 0;
    if (number < n && method_at(c, methods, number, &method, &its) && its == number)
        return method;
    for (int32_t i = 0; i < n && i <= UINT16_MAX; i++)
        if (!method_at(c, methods, i, &method, &its))
            return 0;
        else if (its == number)
            return method;
    return 0;
}

uintptr_t class_methods_find(const struct class_methods *c, uintptr_t mirror, uint64_t count,
                             uintptr_t id)
{
    uintptr_t klass = 0, number;
    if (!find_class(c, mirror, count, &klass) || !find_number(c, klass, id, &number) ||
        number > UINT16_MAX)
        return 0;
    return class_methods_numbered(c, klass, (uint16_t)number);
}
