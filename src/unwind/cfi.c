#include "unwind/cfi.h"

#include "base/util.h"
#include "unwind/reader.h"

#include <string.h>

/* --- entries ---------------------------------------------------------------------------------- */

/* A CIE: what its FDEs have in common. */
struct common {
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointers; /* the encoding of addresses in its FDEs */
    bool augmented;   /* FDEs have a length and data before their instructions */
    bool signal;
    struct reader initial; /* its instructions */
};

struct entry {
    struct common common;
    uintptr_t begin, end; /* of the code */
    struct reader instructions;
};

/* The contents of the entry at `at`, without its length. */
static bool open_entry(const struct library *lib, uintptr_t at, struct reader *r)
{
    enum { LONG = 0xffffffff };
    *r = (struct reader){.at = at, .end = lib->end, .failed = at < lib->begin};
    uint64_t bytes = read_u32(r);
    if (bytes == LONG)
        bytes = read_u64(r);
    if (r->failed || bytes == 0 || bytes > r->end - r->at)
        return false;
    r->end = r->at + bytes;
    return true;
}

/* The data that the letters after 'z' announce.  An unknown letter ends them: its data cannot be
 * read, but their length is known. */
static bool read_augmentation(struct reader *r, const char *letters, struct common *c)
{
    for (; *letters; letters++)
        switch (*letters) {
        case 'R':
            c->pointers = read_u8(r);
            break;
        case 'L':
            read_u8(r);
            break;
        case 'P': {
            uint8_t encoding = read_u8(r);
            read_pointer(r, encoding & POINTER_FORM, 0);
            break;
        }
        case 'S':
            c->signal = true;
            break;
        default:
            return true;
        }
    return !r->failed;
}

static bool read_letters(struct reader *r, char *to, size_t room)
{
    for (size_t i = 0; i < room; i++) {
        to[i] = (char)read_u8(r);
        if (r->failed)
            return false;
        if (!to[i])
            return true;
    }
    return false;
}

static bool read_common(const struct library *lib, uintptr_t at, struct common *c)
{
    enum { OLD = 1, NEW = 3, LETTERS = 16 };
    struct reader r;
    char letters[LETTERS];
    if (!open_entry(lib, at, &r) || read_u32(&r) != 0)
        return false;
    memset(c, 0, sizeof *c);
    uint8_t version = read_u8(&r);
    if ((version != OLD && version != NEW) || !read_letters(&r, letters, sizeof letters))
        return false;
    c->code_align = read_uleb(&r);
    c->data_align = read_sleb(&r);
    uint64_t return_column = version == OLD ? read_u8(&r) : read_uleb(&r);
    c->augmented = letters[0] == 'z';
    if (return_column != CFI_RETURN || (letters[0] && !c->augmented) || r.failed)
        return false;
    if (c->augmented) {
        uint64_t bytes = read_uleb(&r);
        struct reader data = r;
        read_skip(&r, bytes);
        data.end = r.at;
        if (r.failed || !read_augmentation(&data, letters + 1, c))
            return false;
    }
    c->initial = r;
    return true;
}

static bool read_entry(const struct library *lib, uintptr_t at, struct entry *e)
{
    struct reader r;
    if (!open_entry(lib, at, &r))
        return false;
    uintptr_t place = r.at;
    uint32_t back = read_u32(&r);
    if (r.failed || back == 0 || back > place - lib->begin ||
        !read_common(lib, place - back, &e->common))
        return false;
    e->begin = read_pointer(&r, e->common.pointers, 0);
    e->end = e->begin + read_pointer(&r, e->common.pointers & POINTER_FORM, 0);
    if (e->common.augmented)
        read_skip(&r, read_uleb(&r));
    e->instructions = r;
    return !r.failed && e->begin <= e->end;
}

/* --- the sorted table ----------------------------------------------------------------------------
 * version, three encodings, the address of .eh_frame, a count, then pairs: where code begins, its
 * FDE. */

struct index {
    uintptr_t at, end, hdr;
    uint8_t encoding;
    uint32_t bytes; /* of each half of a pair */
    uint64_t n;
};

static bool open_index(const struct library *lib, struct index *x)
{
    enum { VERSION = 1 };
    struct reader r = {.at = lib->frame_hdr, .end = lib->frame_hdr_end};
    if (lib->frame_hdr == 0 || read_u8(&r) != VERSION)
        return false;
    uint8_t frame = read_u8(&r), count = read_u8(&r);
    x->encoding = read_u8(&r);
    x->hdr = lib->frame_hdr;
    x->bytes = pointer_bytes(x->encoding);
    if (frame == POINTER_NONE || count == POINTER_NONE || x->encoding == POINTER_NONE || !x->bytes)
        return false;
    read_pointer(&r, frame, x->hdr);
    x->n = read_pointer(&r, count, x->hdr);
    x->at = r.at;
    x->end = r.end;
    return !r.failed && x->n <= (x->end - x->at) / (2 * (uint64_t)x->bytes);
}

/* One half of a pair.  The form that every linker writes has a way of its own. */
static bool index_at(const struct index *x, uint64_t i, bool second, uintptr_t *v)
{
    enum { USUAL = POINTER_TO_DATA | POINTER_S4 };
    if (x->encoding == USUAL) {
        int32_t distance;
        bool ok = guarded_i32(x->at + (2 * i + second) * sizeof distance, &distance);
        *v = ok ? x->hdr + (uintptr_t)(intptr_t)distance : 0;
        return ok;
    }
    struct reader r = {.at = x->at + (2 * i + second) * (uint64_t)x->bytes, .end = x->end};
    *v = read_pointer(&r, x->encoding, x->hdr);
    return !r.failed;
}

/* The FDE of the last pair that begins at or before `place`. */
static enum cfi_result search(const struct index *x, uintptr_t place, uintptr_t *fde)
{
    uint64_t low = 0, high = x->n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        uintptr_t begin;
        if (!index_at(x, middle, false, &begin))
            return CFI_BAD;
        if (begin <= place)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return CFI_NONE;
    return index_at(x, low - 1, true, fde) ? CFI_FOUND : CFI_BAD;
}

/* --- instructions ----------------------------------------------------------------------------- */

enum operand { NONE, ULEB, DATA, SIGNED_DATA, U1, U2, U4, ADDRESS, BLOCK };

enum action {
    NOTHING,
    GO_TO,
    ADVANCE,
    SET, /* a rule of a register: how, n */
    RESTORE,
    REMEMBER,
    RECALL,
    CFA_BOTH, /* register and offset */
    CFA_REGISTER,
    CFA_OFFSET,
    CFA_EXPRESSION,
};

struct opcode {
    bool known;
    enum operand first, second;
    enum action action;
    enum cfi_how how;
};

/* DW_CFA_*, those whose two highest bits are 0. */
static const struct opcode opcodes[] = {
    [0x00] = {true, NONE, NONE, NOTHING, CFI_SAME},
    [0x01] = {true, ADDRESS, NONE, GO_TO, CFI_SAME},
    [0x02] = {true, U1, NONE, ADVANCE, CFI_SAME},
    [0x03] = {true, U2, NONE, ADVANCE, CFI_SAME},
    [0x04] = {true, U4, NONE, ADVANCE, CFI_SAME},
    [0x05] = {true, ULEB, DATA, SET, CFI_AT_CFA},
    [0x06] = {true, ULEB, NONE, RESTORE, CFI_SAME},
    [0x07] = {true, ULEB, NONE, SET, CFI_UNDEFINED},
    [0x08] = {true, ULEB, NONE, SET, CFI_SAME},
    [0x09] = {true, ULEB, ULEB, SET, CFI_IN_REGISTER},
    [0x0a] = {true, NONE, NONE, REMEMBER, CFI_SAME},
    [0x0b] = {true, NONE, NONE, RECALL, CFI_SAME},
    [0x0c] = {true, ULEB, ULEB, CFA_BOTH, CFI_SAME},
    [0x0d] = {true, ULEB, NONE, CFA_REGISTER, CFI_SAME},
    [0x0e] = {true, ULEB, NONE, CFA_OFFSET, CFI_SAME},
    [0x0f] = {true, BLOCK, NONE, CFA_EXPRESSION, CFI_SAME},
    [0x10] = {true, ULEB, BLOCK, SET, CFI_AT_EXPRESSION},
    [0x11] = {true, ULEB, SIGNED_DATA, SET, CFI_AT_CFA},
    [0x12] = {true, ULEB, SIGNED_DATA, CFA_BOTH, CFI_SAME},
    [0x13] = {true, SIGNED_DATA, NONE, CFA_OFFSET, CFI_SAME},
    [0x14] = {true, ULEB, DATA, SET, CFI_IS_CFA},
    [0x15] = {true, ULEB, SIGNED_DATA, SET, CFI_IS_CFA},
    [0x16] = {true, ULEB, BLOCK, SET, CFI_IS_EXPRESSION},
    [0x2e] = {true, ULEB, NONE, NOTHING, CFI_SAME}, /* GNU_args_size: says nothing here */
};

/* The three whose first operand is in the opcode's low six bits. */
static const struct opcode short_opcodes[] = {
    [1] = {true, NONE, NONE, ADVANCE, CFI_SAME},
    [2] = {true, NONE, DATA, SET, CFI_AT_CFA},
    [3] = {true, NONE, NONE, RESTORE, CFI_SAME},
};

enum { REMEMBERED = 8 };

struct state {
    struct cfi_rule cfa;
    int64_t cfa_offset;
    struct cfi_rule registers[CFI_REGISTERS];
};

struct machine {
    const struct common *common;
    uintptr_t place, location;
    uint32_t steps, depth;
    struct state now, initial, remembered[REMEMBERED];
};

static int64_t read_operand(struct reader *r, enum operand kind, const struct common *c)
{
    switch (kind) {
    case ULEB:
        return (int64_t)read_uleb(r);
    case DATA:
        return (int64_t)(read_uleb(r) * (uint64_t)c->data_align);
    case SIGNED_DATA:
        return (int64_t)((uint64_t)read_sleb(r) * (uint64_t)c->data_align);
    case U1:
        return read_u8(r);
    case U2:
        return read_u16(r);
    case U4:
        return read_u32(r);
    case ADDRESS:
        return (int64_t)read_pointer(r, c->pointers, 0);
    case BLOCK: {
        int64_t at = (int64_t)r->at;
        read_skip(r, read_uleb(r));
        return at;
    }
    default:
        return 0;
    }
}

/* Registers that are not followed (of vectors) have a place of their own, which is never read. */
static struct cfi_rule *rule_of(struct state *s, int64_t number, struct cfi_rule *other)
{
    return number >= 0 && number < CFI_REGISTERS ? &s->registers[number] : other;
}

static bool set_cfa_register(struct machine *m, int64_t number)
{
    m->now.cfa = (struct cfi_rule){number, CFI_IN_REGISTER};
    return number >= 0 && number < CFI_RETURN;
}

/* False: not valid. */
static bool act(struct machine *m, const struct opcode *op, int64_t first, int64_t second)
{
    struct cfi_rule other = {0};
    switch (op->action) {
    case NOTHING:
        return true;
    case GO_TO:
        m->location = (uintptr_t)first;
        return true;
    case ADVANCE:
        m->location += (uintptr_t)first * m->common->code_align;
        return true;
    case SET:
        *rule_of(&m->now, first, &other) = (struct cfi_rule){second, op->how};
        return op->how != CFI_IN_REGISTER || (second >= 0 && second < CFI_REGISTERS);
    case RESTORE:
        *rule_of(&m->now, first, &other) = *rule_of(&m->initial, first, &other);
        return true;
    case REMEMBER:
        if (m->depth == REMEMBERED)
            return false;
        m->remembered[m->depth++] = m->now;
        return true;
    case RECALL:
        if (m->depth == 0)
            return false;
        m->now = m->remembered[--m->depth];
        return true;
    case CFA_BOTH:
        m->now.cfa_offset = second;
        return set_cfa_register(m, first);
    case CFA_REGISTER:
        return m->now.cfa.how == CFI_IN_REGISTER && set_cfa_register(m, first);
    case CFA_OFFSET:
        m->now.cfa_offset = first;
        return m->now.cfa.how == CFI_IN_REGISTER;
    case CFA_EXPRESSION:
        m->now.cfa = (struct cfi_rule){first, CFI_IS_EXPRESSION};
        return true;
    }
    return false;
}

/* Up to the first instruction that is about a later place. */
static bool execute(struct machine *m, struct reader r)
{
    enum { SHORT = 6, LOW = 0x3f };
    while (r.at < r.end && m->location <= m->place) {
        uint8_t byte = read_u8(&r);
        const struct opcode *op = &short_opcodes[byte >> SHORT];
        int64_t first = byte & LOW;
        if (++m->steps > CFI_STEPS)
            return false;
        if (byte >> SHORT == 0) {
            if (byte >= ARRAY_LEN(opcodes) || !opcodes[byte].known)
                return false;
            op = &opcodes[byte];
            first = read_operand(&r, op->first, m->common);
        }
        int64_t second = read_operand(&r, op->second, m->common);
        if (r.failed || !act(m, op, first, second))
            return false;
    }
    return true;
}

static bool interpret(const struct entry *e, uintptr_t place, struct cfi_row *row)
{
    struct machine m;
    m.common = &e->common;
    m.place = place;
    m.location = e->begin;
    m.steps = m.depth = 0;
    memset(&m.now, 0, sizeof m.now);
    if (!execute(&m, e->common.initial) || m.location != e->begin)
        return false;
    m.initial = m.now;
    if (!execute(&m, e->instructions) || m.now.cfa.how == CFI_SAME)
        return false;
    row->cfa = m.now.cfa;
    row->cfa_offset = m.now.cfa_offset;
    memcpy(row->registers, m.now.registers, sizeof row->registers);
    row->signal = e->common.signal;
    row->begin = e->begin;
    row->end = e->end;
    return true;
}

enum cfi_result cfi_find(const struct library *lib, uintptr_t place, struct cfi_row *row)
{
    struct index x;
    struct entry e;
    uintptr_t fde = 0;
    if (lib->frame_hdr == 0)
        return CFI_NONE;
    if (!open_index(lib, &x))
        return CFI_BAD;
    enum cfi_result found = search(&x, place, &fde);
    if (found != CFI_FOUND)
        return found;
    if (!read_entry(lib, fde, &e))
        return CFI_BAD;
    if (place < e.begin || place >= e.end)
        return CFI_NONE;
    return interpret(&e, place, row) ? CFI_FOUND : CFI_BAD;
}
