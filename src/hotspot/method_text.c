#include "hotspot/method_text.h"

#include "base/guarded.h"
#include "base/hash.h"
#include "hotspot/methods.h"

uint64_t method_stamp(const struct walker *w, uintptr_t method)
{
    return method_stamp_at(walker_layout(w), method);
}

int32_t method_bytecode(const struct walker *w, uintptr_t method, int32_t bci)
{
    struct method_view v;
    uint8_t byte;
    if (bci < 0 || !method_view(walker_layout(w), method, &v) || (uint32_t)bci >= v.code_size ||
        !guarded_u8(v.code + (uintptr_t)bci, &byte))
        return -1;
    return byte;
}

/* --- the text --------------------------------------------------------------------------------- */

struct out {
    char *at;
    size_t left;
    int rc;
};

static const char *copy(struct out *o, uintptr_t from, size_t n)
{
    char *to = o->at;
    if (o->rc < 0)
        return to;
    if (n > o->left)
        o->rc = -ENOSPC;
    else if (!guarded_bytes(from, to, n))
        o->rc = -EFAULT;
    if (o->rc < 0)
        return to;
    o->at += n;
    o->left -= n;
    return to;
}

static const char *copy_symbol(const struct layout *l, struct out *o, uintptr_t symbol,
                               uint16_t *len)
{
    *len = 0;
    if (!guarded_u16(symbol + (uintptr_t)l->symbol_length, len))
        o->rc = -EFAULT;
    return copy(o, symbol + (uintptr_t)l->symbol_body, *len);
}

/* --- line numbers ----------------------------------------------------------------------------- */

/* A signed number in HotSpot's UNSIGNED5 (see nmethod.c). */
static bool read_signed(const struct layout *l, uintptr_t *at, uintptr_t end, int32_t *value)
{
    uint32_t excluded = l->major >= 20 ? 1 : 0, sum = 0;
    for (uint32_t i = 0; i < 5; i++) {
        uint8_t byte;
        if (*at >= end || !guarded_u8((*at)++, &byte) || byte < excluded)
            return false;
        uint32_t digit = byte - excluded;
        sum += digit << (i * 6);
        if (digit < 192 - excluded)
            break;
    }
    *value = (int32_t)(sum >> 1) ^ -(int32_t)(sum & 1);
    return true;
}

/* A byte of 5 bits bci and 3 bits line; 0xff: two numbers follow; 0: the end. */
static bool read_line(const struct layout *l, uintptr_t *at, uintptr_t end, int32_t *bci,
                      int32_t *line)
{
    enum { END = 0, LONG = 0xff, LINE_BITS = 3 };
    uint8_t byte;
    if (*at >= end || !guarded_u8((*at)++, &byte) || byte == END)
        return false;
    if (byte == LONG)
        return read_signed(l, at, end, bci) && read_signed(l, at, end, line);
    *bci = byte >> LINE_BITS;
    *line = byte & ((1 << LINE_BITS) - 1);
    return true;
}

bool method_lines_next(const struct walker *w, const struct method_text *t, struct method_lines *m)
{
    uintptr_t begin = (uintptr_t)t->lines, at = begin + m->at;
    int32_t bci, line;
    if (!read_line(walker_layout(w), &at, begin + t->lines_len, &bci, &line))
        return false;
    int64_t next_bci = (int64_t)m->bci + bci, next_line = (int64_t)m->line + line;
    if (next_bci < 0 || next_bci > UINT16_MAX || next_line < 0 || next_line > UINT16_MAX)
        return false;
    m->at = (uint32_t)(at - begin);
    m->bci = (int32_t)next_bci;
    m->line = (int32_t)next_line;
    return true;
}

/* The table stands behind the bytecodes; how long it is shows only when it is read. */
static const uint8_t *copy_lines(const struct layout *l, struct out *o, const struct method_view *v,
                                 uint32_t *len)
{
    uintptr_t from = v->code + v->code_size, at = from;
    uint32_t words, flags;
    int32_t bci, line;
    *len = 0;
    if (!guarded_u32(v->constants + (uintptr_t)l->cm_flags, &flags) ||
        !(flags & (uint32_t)l->has_line_table) ||
        !guarded_u32(v->constants + (uintptr_t)l->cm_total, &words))
        return NULL;
    uintptr_t end = v->constants + (uintptr_t)words * sizeof(uintptr_t);
    while (read_line(l, &at, end, &bci, &line))
        ;
    *len = (uint32_t)(at - from);
    return (const uint8_t *)copy(o, from, *len);
}

/* --- all of it -------------------------------------------------------------------------------- */

static struct method_key key_of(const struct layout *l, const char *text, size_t n,
                                const struct method_view *v, uintptr_t loader)
{
    struct hash128 h = hash_bytes128(text, n);
    uint64_t with[] = {h.lo, h.hi, loader, v->code_size, v->access, (uint64_t)l->major};
    h = hash_bytes128(with, sizeof with);
    return (struct method_key){h.lo, h.hi};
}

int method_describe(const struct walker *w, uintptr_t method, char *buf, size_t size,
                    struct method_text *out)
{
    const struct layout *l = walker_layout(w);
    struct method_view v;
    struct method_symbols s;
    struct out o = {buf, size, 0};
    out->stamp = method_stamp(w, method);
    if (!out->stamp || !method_view(l, method, &v) || !method_symbols(l, &v, &s) ||
        !guarded_word(v.klass + (uintptr_t)l->klass_loader_data, &out->loader))
        return -EFAULT;
    out->access = v.access;
    out->code_size = v.code_size;
    out->class_name = copy_symbol(l, &o, s.class_name, &out->class_name_len);
    out->name = copy_symbol(l, &o, s.name, &out->name_len);
    out->signature = copy_symbol(l, &o, s.signature, &out->signature_len);
    out->lines = copy_lines(l, &o, &v, &out->lines_len);
    if (o.rc < 0)
        return o.rc;
    out->key = key_of(l, buf, (size_t)(o.at - buf), &v, out->loader);
    uintptr_t source = method_source(l, &v);
    out->source_len = 0;
    out->source = source ? copy_symbol(l, &o, source, &out->source_len) : buf;
    out->size = (uint32_t)(o.at - buf);
    if (o.rc < 0)
        return o.rc;
    return method_stamp(w, method) == out->stamp ? 0 : -EFAULT;
}
