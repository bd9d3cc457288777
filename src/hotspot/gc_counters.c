#include "hotspot/gc_counters.h"

#include "base/guarded_x86_64.h"

#include <stdio.h>
#include <string.h>

/* --- finding them ----------------------------------------------------------------------------- */

/* Offsets in PerfDataPrologue and PerfDataEntry. */
struct shape {
    long first, count, length, name, data;
};

static bool find_shape(const struct vmstructs *vs, struct shape *s)
{
    s->first = vmstructs_offset(vs, "PerfDataPrologue", "entry_offset", NULL);
    s->count = vmstructs_offset(vs, "PerfDataPrologue", "num_entries", NULL);
    s->length = vmstructs_offset(vs, "PerfDataEntry", "entry_length", NULL);
    s->name = vmstructs_offset(vs, "PerfDataEntry", "name_offset", NULL);
    s->data = vmstructs_offset(vs, "PerfDataEntry", "data_offset", NULL);
    return s->first >= 0 && s->count >= 0 && s->length >= 0 && s->name >= 0 && s->data >= 0;
}

/* A text in the JVM's memory, cut to the room there is. */
static bool read_text(uintptr_t from, char text[GC_TEXT])
{
    for (size_t i = 0; i < GC_TEXT; i++) {
        uint8_t c;
        if (!guarded_u8(from + i, &c))
            return false;
        text[i] = (char)c;
        if (!c)
            return true;
    }
    text[GC_TEXT - 1] = 0;
    return true;
}

static void take_name(struct gc_kind *k, uintptr_t data)
{
    static const char pauses[] = " pauses";
    size_t n = read_text(data, k->name) ? strlen(k->name) : 0, tail = sizeof pauses - 1;
    k->name[n] = 0;
    if (n > tail && strcmp(k->name + n - tail, pauses) == 0)
        k->name[n - tail] = 0;
}

static void take(struct gc_counters *c, const char *name, uintptr_t data)
{
    unsigned number;
    int end = 0;
    if (strcmp(name, "sun.gc.cause") == 0)
        c->cause = data;
    if (strcmp(name, "sun.gc.lastCause") == 0)
        c->last_cause = data;
    if (sscanf(name, "sun.gc.collector.%1u.%n", &number, &end) != 1 || !end)
        return;
    struct gc_kind *k = number < GC_COUNTERS ? &c->kinds[number] : NULL;
    if (k && strcmp(name + end, "name") == 0)
        take_name(k, data);
    if (k && strcmp(name + end, "lastEntryTime") == 0)
        k->entered = data;
}

void gc_counters_open(struct gc_counters *c, const struct vmstructs *vs)
{
    enum { MOST = 10000 };
    struct shape s;
    uintptr_t start = 0;
    int32_t first = 0, count = 0, length, name, data;
    char text[GC_TEXT];
    long at = vmstructs_offset(vs, "PerfMemory", "_start", NULL);
    memset(c, 0, sizeof *c);
    if (at == -1 || !find_shape(vs, &s) || !guarded_word((uintptr_t)at, &start) || !start ||
        !guarded_i32(start + (uintptr_t)s.first, &first) ||
        !guarded_i32(start + (uintptr_t)s.count, &count) || first < 0)
        return;
    uintptr_t p = start + (uintptr_t)first;
    for (int i = 0; i < count && i < MOST; i++, p += (uintptr_t)length) {
        if (!guarded_i32(p + (uintptr_t)s.length, &length) || length <= 0 ||
            !guarded_i32(p + (uintptr_t)s.name, &name) ||
            !guarded_i32(p + (uintptr_t)s.data, &data))
            return;
        if (name > 0 && data > 0 && read_text(p + (uintptr_t)name, text))
            take(c, text, p + (uintptr_t)data);
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool read_cause(uintptr_t at, char text[GC_TEXT])
{
    return at && read_text(at, text) && *text && strcmp(text, "No GC") != 0;
}

bool gc_counters_cause(const struct gc_counters *c, char text[GC_TEXT])
{
    return read_cause(c->cause, text);
}

bool gc_counters_last_cause(const struct gc_counters *c, char text[GC_TEXT])
{
    return read_cause(c->last_cause, text);
}

int gc_counters_kind(struct gc_counters *c)
{
    int last = -1;
    uint64_t when = 0, entered;
    for (int i = 0; i < GC_COUNTERS; i++) {
        struct gc_kind *k = &c->kinds[i];
        if (!k->entered || !*k->name || !guarded_u64(k->entered, &entered) || entered == k->seen)
            continue;
        k->seen = entered;
        if (entered > when) {
            when = entered;
            last = i;
        }
    }
    return last;
}
