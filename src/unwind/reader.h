/* reader.h - the numbers of DWARF's unwind tables, read where they lie.
 *
 *     at <= end                 nothing at or behind `end` is read
 * Each read is guarded (base/guarded.h): the tables may be unmapped at any time.  An unreadable
 * number is 0 and sets `failed`, which stays: it is enough to look at it at the end of a loop's
 * turn. Async-signal-safe. */
#ifndef ORCA_UNWIND_READER_H
#define ORCA_UNWIND_READER_H

#include "base/guarded_x86_64.h"

struct reader {
    uintptr_t at, end;
    bool failed;
};

#define READER(type, name, load)                                                                   \
    static inline type name(struct reader *r)                                                      \
    {                                                                                              \
        type v = 0;                                                                                \
        if (r->failed || r->end - r->at < sizeof v || r->at > r->end || !load(r->at, &v))          \
            r->failed = true;                                                                      \
        else                                                                                       \
            r->at += sizeof v;                                                                     \
        return v;                                                                                  \
    }

READER(uint8_t, read_u8, guarded_u8)
READER(uint16_t, read_u16, guarded_u16)
READER(uint32_t, read_u32, guarded_u32)
READER(uint64_t, read_u64, guarded_u64)

#undef READER

uint64_t read_uleb(struct reader *r);
int64_t read_sleb(struct reader *r);

/* A number of 1, 2, 4 or 8 bytes; signed ones are extended. */
uint64_t read_sized(struct reader *r, uint32_t bytes, bool is_signed);

/* Move on; further than the end fails. */
void read_skip(struct reader *r, uint64_t bytes);

/* How a pointer is stored: DW_EH_PE_*, the low four bits its form, the next three what it is
 * relative to, the highest whether it is the address of the pointer. */
enum {
    POINTER_ABSOLUTE = 0x00,
    POINTER_ULEB = 0x01,
    POINTER_U2 = 0x02,
    POINTER_U4 = 0x03,
    POINTER_U8 = 0x04,
    POINTER_SLEB = 0x09,
    POINTER_S2 = 0x0a,
    POINTER_S4 = 0x0b,
    POINTER_S8 = 0x0c,
    POINTER_SIGNED = 0x08, /* a bit of the form */
    POINTER_FORM = 0x0f,
    POINTER_RELATIVE = 0x70,
    POINTER_TO_PLACE = 0x10, /* of itself */
    POINTER_TO_DATA = 0x30,  /* of `data` */
    POINTER_INDIRECT = 0x80,
    POINTER_NONE = 0xff,
};

/* A pointer; other relations than those above, and indirect ones, fail. */
uintptr_t read_pointer(struct reader *r, uint8_t encoding, uintptr_t data);

/* Bytes of a pointer of that form; 0: they differ, or it is not a form. */
uint32_t pointer_bytes(uint8_t encoding);

#endif
