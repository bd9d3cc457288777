#include "hotspot/codecache.h"

#include "base/guarded.h"
#include "base/util.h"

#include <string.h>

enum { FREE_SEGMENT = 0xff, NAME_BYTES = 32, FRAME_WORDS_MAX = 1 << 20 };

struct heap {
    uintptr_t low, high, map;
    uint32_t shift;
};

static bool read_heap(const struct layout *l, uintptr_t at, struct heap *h)
{
    uintptr_t memory = at + (uintptr_t)l->heap_memory;
    return guarded_word(memory + (uintptr_t)l->space_low, &h->low) &&
           guarded_word(memory + (uintptr_t)l->space_high, &h->high);
}

static bool find_heap(const struct layout *l, uintptr_t pc, struct heap *h)
{
    for (int32_t i = 0; i < l->n_heaps; i++) {
        uintptr_t at = l->heaps[i];
        if (!read_heap(l, at, h) || pc < h->low || pc >= h->high)
            continue;
        return guarded_word(at + (uintptr_t)l->heap_segmap + (uintptr_t)l->space_low, &h->map) &&
               guarded_u32(at + (uintptr_t)l->heap_segment_shift, &h->shift) && h->shift < 32;
    }
    return false;
}

bool codecache_contains(const struct layout *l, uintptr_t pc)
{
    struct heap h;
    return find_heap(l, pc, &h);
}

/* The block that `pc` is in: the map holds the distance back to its first segment, in steps. */
static bool find_block(const struct layout *l, const struct heap *h, uintptr_t pc, uintptr_t *block)
{
    uintptr_t segment = (pc - h->low) >> h->shift;
    for (;;) {
        uint8_t back;
        if (!guarded_u8(h->map + segment, &back) || back == FREE_SEGMENT || back > segment)
            return false;
        if (back == 0)
            break;
        segment -= back;
    }
    *block = h->low + (segment << h->shift);
    uint8_t used;
    return guarded_u8(*block + (uintptr_t)l->block_used, &used) && used == 1;
}

static bool read_code(const struct layout *l, struct blob *b)
{
    if (l->blob_code_offset < 0)
        return guarded_word(b->at + (uintptr_t)l->blob_code_begin, &b->code_begin) &&
               guarded_word(b->at + (uintptr_t)l->blob_code_end, &b->code_end);
    uint32_t begin, end;
    if (!guarded_u32(b->at + (uintptr_t)l->blob_code_offset, &begin) ||
        !guarded_u32(b->at + (uintptr_t)l->blob_data_offset, &end))
        return false;
    b->code_begin = b->at + begin;
    b->code_end = b->at + end;
    return true;
}

static bool read_frame(const struct layout *l, struct blob *b)
{
    uintptr_t complete = b->at + (uintptr_t)l->blob_frame_complete;
    uint16_t narrow = 0;
    bool ok = guarded_i32(b->at + (uintptr_t)l->blob_frame_size, &b->frame_words) &&
              (l->frame_complete_is_short ? guarded_u16(complete, &narrow)
                                          : guarded_i32(complete, &b->frame_complete));
    if (l->frame_complete_is_short)
        b->frame_complete = (int16_t)narrow;
    if (b->frame_words < 0)
        b->frame_words = 0;
    return ok && b->frame_words < FRAME_WORDS_MAX;
}

/* By name on every JDK: the numbers of CodeBlob::_kind differ between releases. */
static const struct {
    const char *prefix;
    enum blob_kind kind;
    bool native;
} names[] = {
    {"nmethod", BLOB_NMETHOD, false},
    {"native nmethod", BLOB_NMETHOD, true},
    {"I2C/C2I adapter", BLOB_ADAPTER, false},
    {"vtable chunks", BLOB_VTABLE, false},
    {"MethodHandles ad", BLOB_METHOD_HANDLES, false},
    {"StubRoutines (continuation", BLOB_CONTINUATION, false}, /* "...n stubs)", "...nstubs)" */
    {"StubRoutines", BLOB_STUBS, false},
    {"DeoptimizationBl", BLOB_DEOPT, false},
    {"UncommonTrapBlob", BLOB_DEOPT, false},
    {"upcall_stub", BLOB_UPCALL, false},
    {"optimized_upcall", BLOB_UPCALL, false},
    {"native signature", BLOB_SIGNATURES, false},
};

static bool read_kind(const struct layout *l, struct blob *b)
{
    uintptr_t name;
    uint64_t first, nmethod;
    char text[NAME_BYTES] = "";
    memcpy(&nmethod, "nmethod", sizeof nmethod); /* with its end; nearly all that is asked for */
    if (!guarded_word(b->at + (uintptr_t)l->blob_name, &name))
        return false;
    if (guarded_u64(name, &first) && first == nmethod) {
        b->kind = BLOB_NMETHOD;
        b->native = false;
        return true;
    }
    for (size_t i = 0; i < sizeof text; i++)
        if (!guarded_u8(name + i, (uint8_t *)&text[i]))
            return false;
        else if (!text[i])
            break;
    b->native = false;
    b->kind = b->frame_words > 0 ? BLOB_RUNTIME : BLOB_OTHER;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strncmp(text, names[i].prefix, min_u64(strlen(names[i].prefix), sizeof text)) == 0) {
            b->kind = names[i].kind;
            b->native = names[i].native;
            break;
        }
    return true;
}

bool codecache_find(const struct layout *l, uintptr_t pc, struct blob *b)
{
    struct heap h;
    uintptr_t block;
    if (!find_heap(l, pc, &h) || !find_block(l, &h, pc, &block))
        return false;
    b->at = block + (uintptr_t)l->block_size;
    return guarded_u32(b->at + (uintptr_t)l->blob_size, &b->size) && b->at + b->size <= h.high &&
           read_code(l, b) && b->code_begin >= b->at && b->code_end <= b->at + b->size &&
           pc >= b->code_begin && pc < b->code_end && read_frame(l, b) && read_kind(l, b);
}
