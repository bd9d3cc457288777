#include "classfile/desc.h"

#include <string.h>

/* The end of the field type at `at`, or 0; *kind is its computational type. */
static uint32_t type_end(struct cf_text t, uint32_t at, char *kind)
{
    uint32_t i = at;
    while (i < t.len && t.p[i] == '[')
        i++;
    if (i >= t.len)
        return 0;
    char c = t.p[i];
    *kind = c;
    if (c == 'L') {
        const char *end = memchr(t.p + i, ';', t.len - i);
        if (!end)
            return 0;
        i = (uint32_t)(end - t.p);
    } else if (!strchr("BCDFIJSZ", c) || !c) {
        return 0;
    }
    if (c == 'L' || t.p[at] == '[')
        *kind = 'A';
    else if (strchr("BCSZ", c))
        *kind = 'I';
    return i + 1;
}

bool desc_parse(struct desc *d, struct cf_text t)
{
    uint32_t i = 1;
    d->n = d->slots = 0;
    if (!t.p || t.len < 3 || t.p[0] != '(')
        return false;
    while (i < t.len && t.p[i] != ')') {
        char kind;
        uint32_t end = type_end(t, i, &kind);
        if (!end || d->slots + desc_kind_slots(kind) > DESC_MAX_PARAMS)
            return false;
        d->kind[d->n] = kind;
        d->at[d->n] = (uint16_t)i;
        d->slot[d->n++] = (uint16_t)d->slots;
        d->slots += desc_kind_slots(kind);
        i = end;
    }
    if (++i >= t.len)
        return false;
    d->result = 'V';
    return (t.p[i] == 'V' && i + 1 == t.len) || type_end(t, i, &d->result) == t.len;
}

struct cf_text desc_class(struct cf_text text, uint32_t at)
{
    char kind;
    uint32_t end = type_end(text, at, &kind);
    bool plain = end && text.p[at] == 'L';
    return (struct cf_text){text.p + at + plain, end ? end - at - 2 * plain : 0};
}
