#include "hotspot/methods.h"

#include "base/guarded.h"

#include <string.h>

enum { POOL_SLOT = sizeof(uintptr_t) };

/* A class names its pool, and the pool names the class.  A method that was replaced by a
 * redefinition keeps its old pool, which goes on naming the class. */
static bool is_class_of(const struct layout *l, uintptr_t klass, uintptr_t pool)
{
    uintptr_t current, back;
    if (!guarded_word(klass + (uintptr_t)l->klass_constants, &current))
        return false;
    return current == pool ||
           (current && current % sizeof(uintptr_t) == 0 &&
            guarded_word(current + (uintptr_t)l->pool_holder, &back) && back == klass);
}

static bool aligned(uintptr_t at)
{
    return at >= UINT16_MAX && at % sizeof(uintptr_t) == 0;
}

bool method_view(const struct layout *l, uintptr_t method, struct method_view *v)
{
    uint16_t size;
    v->method = method;
    if (!aligned(method) || !guarded_word(method + (uintptr_t)l->m_const, &v->constants) ||
        !aligned(v->constants) ||
        !guarded_word(v->constants + (uintptr_t)l->cm_constants, &v->pool) || !aligned(v->pool) ||
        !guarded_word(v->pool + (uintptr_t)l->pool_holder, &v->klass) || !aligned(v->klass) ||
        !is_class_of(l, v->klass, v->pool))
        return false;
    if (!guarded_u16(v->constants + (uintptr_t)l->cm_code_size, &size) ||
        !guarded_u16(method + (uintptr_t)l->m_access, &v->access))
        return false;
    v->code = v->constants + (uintptr_t)l->cm_header;
    v->code_size = size;
    return true;
}

bool method_is_linker(const struct layout *l, uintptr_t method)
{
    uint16_t id;
    return guarded_u16(method + (uintptr_t)l->m_intrinsic, &id) &&
           id >= l->first_handle_intrinsic && id <= l->last_handle_intrinsic;
}

/* --- symbols ---------------------------------------------------------------------------------- */

/* A slot of the constant pool, named by a 16-bit field somewhere. */
static bool pool_symbol(const struct layout *l, const struct method_view *v, uintptr_t field,
                        uintptr_t *symbol)
{
    uint16_t index;
    int32_t length;
    return guarded_u16(field, &index) &&
           guarded_i32(v->pool + (uintptr_t)l->pool_length, &length) && index > 0 &&
           index < length &&
           guarded_word(v->pool + (uintptr_t)l->pool_header + (uintptr_t)index * POOL_SLOT,
                        symbol) &&
           *symbol;
}

bool method_symbols(const struct layout *l, const struct method_view *v, struct method_symbols *s)
{
    return guarded_word(v->klass + (uintptr_t)l->klass_name, &s->class_name) && s->class_name &&
           pool_symbol(l, v, v->constants + (uintptr_t)l->cm_name, &s->name) &&
           pool_symbol(l, v, v->constants + (uintptr_t)l->cm_signature, &s->signature);
}

bool method_symbol_is(const struct layout *l, uintptr_t symbol, const char *text)
{
    enum { LONGEST = 64 };
    char found[LONGEST];
    uint16_t length;
    size_t n = strlen(text);
    return guarded_u16(symbol + (uintptr_t)l->symbol_length, &length) && length == n &&
           n <= sizeof found && guarded_bytes(symbol + (uintptr_t)l->symbol_body, found, n) &&
           memcmp(found, text, n) == 0;
}

bool method_enters_continuation(const struct layout *l, uintptr_t method)
{
    struct method_view v;
    struct method_symbols s;
    return method_view(l, method, &v) && method_symbols(l, &v, &s) &&
           method_symbol_is(l, s.name, "enterSpecial") &&
           method_symbol_is(l, s.class_name, "jdk/internal/vm/Continuation");
}

uintptr_t method_source(const struct layout *l, const struct method_view *v)
{
    uintptr_t symbol;
    bool is =
        l->pool_source >= 0 && pool_symbol(l, v, v->pool + (uintptr_t)l->pool_source, &symbol);
    return is ? symbol : 0;
}

/* --- the stamp -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * 0x9e3779b97f4a7c15u + (h >> 29);
}

/* The first of its compressed line numbers, 8 bytes at most; 0: it has none.  A version of a class
 * with the same code elsewhere in the file begins with others.  The table ends with a byte 0; what
 * is behind that may be anything. */
static uint64_t first_lines(const struct layout *l, const struct method_view *v)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    uint32_t flags;
    uint64_t lines;
    if (!guarded_u32(v->constants + (uintptr_t)l->cm_flags, &flags) ||
        !(flags & (uint32_t)l->has_line_table) || !guarded_u64(v->code + v->code_size, &lines))
        return 0;
    uint64_t zero = (lines - ones) & ~lines & ones << 7; /* the lowest one set is a byte 0 */
    return zero ? lines & (((zero & -zero) >> 7) - 1) : lines;
}

uintptr_t method_id_of_number(uintptr_t ids_at, uint16_t number)
{
    uintptr_t ids, count, id;
    bool is = guarded_word(ids_at, &ids) && ids && guarded_word(ids, &count) && number < count &&
              guarded_word(ids + (1 + (uintptr_t)number) * sizeof(uintptr_t), &id);
    return is ? id : 0;
}

uintptr_t method_own_id(const struct layout *l, const struct method_view *v)
{
    uint16_t number;
    uintptr_t named, id = 0;
    if (l->klass_method_ids >= 0 && guarded_u16(v->constants + (uintptr_t)l->cm_idnum, &number))
        id = method_id_of_number(v->klass + (uintptr_t)l->klass_method_ids, number);
    return id && id % sizeof(uintptr_t) == 0 && guarded_word(id, &named) && named == v->method ? id
                                                                                               : 0;
}

/* Of one without a jmethodID: whatever tells it from others. */
static uint64_t stamp_of_text(const struct layout *l, const struct method_view *v)
{
    struct method_symbols s;
    uintptr_t loader;
    uint64_t sizes, first;
    if (!method_symbols(l, v, &s) ||
        !guarded_word(v->klass + (uintptr_t)l->klass_loader_data, &loader) ||
        !guarded_u64(v->constants + (uintptr_t)l->cm_code_size, &sizes) ||
        !guarded_u64(s.class_name + (uintptr_t)l->symbol_length, &first))
        return 0;
    uint64_t h = mix(v->constants, v->pool);
    h = mix(h, v->klass);
    h = mix(h, loader);
    h = mix(h, first_lines(l, v));
    h = mix(h, sizes); /* code size, indices of name and signature, idnum */
    h = mix(h, s.class_name);
    h = mix(h, s.name);
    h = mix(h, s.signature);
    h = mix(h,
            first); /* the class name's length and first bytes: the symbol may be another's too */
    h &= ~(uint64_t)METHOD_STAMP_LASTS;
    return h ? h : METHOD_STAMP_LASTS + 1;
}

uint64_t method_stamp_at(const struct layout *l, uintptr_t method)
{
    struct method_view v;
    if (!method_view(l, method, &v))
        return 0;
    uintptr_t id = method_own_id(l, &v);
    return id ? mix(v.constants, id) | METHOD_STAMP_LASTS : stamp_of_text(l, &v);
}
