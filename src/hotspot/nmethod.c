#include "hotspot/nmethod.h"

#include "base/guarded.h"
#include "base/util.h"
#include "hotspot/methods.h"

enum {
    STATE_MAX = 2, /* in use, not used (17), not entrant; not zombie, not unloaded */
    PC_OFFSET = 0, /* in a PcDesc */
    SCOPE_OFFSET = 4,
    SCOPES_MAX = 1000, /* of one place: HotSpot inlines at most 15 deep, forced methods more */
    UNSIGNED5_BYTES = 5,
    UNSIGNED5_SHIFT = 6,
};

static bool word(const struct nmethod *nm, int32_t at, uintptr_t *v)
{
    return guarded_word(nm->blob.at + (uintptr_t)at, v);
}

static bool number(const struct nmethod *nm, int32_t at, int32_t *v)
{
    return guarded_i32(nm->blob.at + (uintptr_t)at, v);
}

/* JDK 23 and later: debug information outside of the code cache. */
static bool read_outside(const struct layout *l, struct nmethod *nm)
{
    uintptr_t data;
    int32_t size, pcs, scopes;
    if (!word(nm, l->nm_immutable, &data) || !number(nm, l->nm_immutable_size, &size) ||
        !number(nm, l->nm_scopes_pcs, &pcs) || !number(nm, l->nm_scopes_data, &scopes) || pcs < 0 ||
        scopes < pcs || size < scopes)
        return false;
    nm->pcs_begin = data + (uintptr_t)pcs;
    nm->pcs_end = nm->scopes_begin = data + (uintptr_t)scopes;
    nm->scopes_end = data + (uintptr_t)size;
    return true;
}

static bool read_inside(const struct layout *l, struct nmethod *nm)
{
    int32_t pcs, pcs_end;
    if (!word(nm, l->nm_scopes_data_begin, &nm->scopes_begin) ||
        !number(nm, l->nm_scopes_pcs, &pcs) || !number(nm, l->nm_dependencies, &pcs_end))
        return false;
    nm->pcs_begin = nm->scopes_end = nm->blob.at + (uintptr_t)pcs;
    nm->pcs_end = nm->blob.at + (uintptr_t)pcs_end;
    return pcs >= 0 && pcs_end >= pcs && (uint32_t)pcs_end <= nm->blob.size &&
           nm->scopes_begin >= nm->blob.at && nm->scopes_begin <= nm->scopes_end;
}

static bool read_metadata(const struct layout *l, struct nmethod *nm)
{
    uintptr_t data;
    int32_t size, relocation, at;
    if (l->blob_mutable_data < 0) {
        if (!number(nm, l->nm_metadata, &at))
            return false;
        nm->meta_begin = nm->blob.at + (uintptr_t)at;
        nm->meta_end = l->nm_immutable < 0 ? nm->scopes_begin : nm->blob.at + nm->blob.size;
        return at >= 0 && nm->meta_begin <= nm->meta_end;
    }
    if (!word(nm, l->blob_mutable_data, &data) || !number(nm, l->blob_mutable_size, &size) ||
        !number(nm, l->blob_relocation_size, &relocation) || relocation < 0 || size < relocation)
        return false;
    nm->meta_begin = data + ALIGN_UP((uintptr_t)relocation, sizeof(uintptr_t));
    nm->meta_end = data + (uintptr_t)size;
    return true;
}

/* An address that is stored as such (`begin`) or as an offset from the blob. */
static bool read_place(const struct nmethod *nm, int32_t begin, int32_t offset, uintptr_t *place)
{
    *place = 0;
    if (begin >= 0)
        return word(nm, begin, place);
    int32_t v = -1;
    if (offset >= 0 && !number(nm, offset, &v))
        return false;
    if (v > 0)
        *place = nm->blob.at + (uintptr_t)v;
    return true;
}

bool nmethod_read_entries(const struct layout *l, struct nmethod *nm)
{
    enum { NOT_OSR = -1 };
    uint16_t offset;
    int32_t entry_bci;
    if (!number(nm, l->nm_entry_bci, &entry_bci) || !word(nm, l->nm_osr_entry, &nm->osr_entry))
        return false;
    if (entry_bci == NOT_OSR)
        nm->osr_entry = 0;
    if (l->nm_verified_entry >= 0)
        return word(nm, l->nm_verified_entry, &nm->verified_entry);
    if (!guarded_u16(nm->blob.at + (uintptr_t)l->nm_verified, &offset))
        return false;
    nm->verified_entry = nm->blob.code_begin + offset;
    return true;
}

bool nmethod_read(const struct layout *l, const struct blob *b, struct nmethod *nm)
{
    uint8_t state;
    nm->blob = *b;
    nm->verified_entry = nm->osr_entry = 0;
    if (!guarded_u8(b->at + (uintptr_t)l->nm_state, &state) || state > STATE_MAX ||
        !guarded_u8(b->at + (uintptr_t)l->nm_level, &nm->level) ||
        !number(nm, l->nm_compile_id, &nm->compile_id) ||
        !number(nm, l->nm_orig_pc, &nm->orig_pc) || !word(nm, l->nm_method, &nm->method) ||
        !nm->method)
        return false;
    if (b->native) { /* without descriptions; whatever the fields say */
        nm->pcs_begin = nm->pcs_end = nm->scopes_begin = nm->scopes_end = 0;
        nm->meta_begin = nm->meta_end = nm->deopt = nm->deopt_mh = 0;
        return true;
    }
    return read_place(nm, l->nm_deopt_begin, l->nm_deopt, &nm->deopt) &&
           read_place(nm, l->nm_deopt_mh_begin, l->nm_deopt_mh, &nm->deopt_mh) &&
           (l->nm_immutable >= 0 ? read_outside(l, nm) : read_inside(l, nm)) &&
           read_metadata(l, nm);
}

/* --- places ----------------------------------------------------------------------------------- */

static bool pc_desc(const struct layout *l, const struct nmethod *nm, size_t i, int32_t *pc_offset)
{
    return guarded_i32(nm->pcs_begin + i * (size_t)l->pc_desc_size + PC_OFFSET, pc_offset);
}

/* The index of the first description at `wanted` or behind it; their number when there is none. */
static size_t first_at(const struct layout *l, const struct nmethod *nm, int32_t wanted)
{
    int32_t found;
    size_t low = 0, high = (nm->pcs_end - nm->pcs_begin) / (size_t)l->pc_desc_size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (!pc_desc(l, nm, middle, &found))
            return SIZE_MAX;
        if (found < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int32_t scope_at(const struct layout *l, const struct nmethod *nm, size_t i)
{
    int32_t scope;
    uintptr_t at = nm->pcs_begin + i * (size_t)l->pc_desc_size;
    if (i == SIZE_MAX || at >= nm->pcs_end || !guarded_i32(at + SCOPE_OFFSET, &scope) || scope < 0)
        return -1;
    return scope;
}

static int32_t offset_of(const struct nmethod *nm, uintptr_t pc)
{
    return (int32_t)(pc - nm->blob.code_begin);
}

int32_t nmethod_scope(const struct layout *l, const struct nmethod *nm, uintptr_t pc)
{
    int32_t wanted = offset_of(nm, pc), found;
    size_t i = first_at(l, nm, wanted);
    int32_t scope = scope_at(l, nm, i);
    return scope >= 0 && pc_desc(l, nm, i, &found) && found == wanted ? scope : -1;
}

/* --- scopes ----------------------------------------------------------------------------------- */

/* HotSpot's UNSIGNED5: up to five bytes, all but the last at least `low_codes`.  JDK 20 took the
 * byte 0 out of use. */
static bool read_unsigned5(const struct layout *l, const struct nmethod *nm, uintptr_t *at,
                           uint32_t *value)
{
    uint32_t excluded = l->major >= 20 ? 1 : 0, low_codes = 256 - 64 - excluded;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < UNSIGNED5_BYTES; i++) {
        uint8_t byte;
        if (*at >= nm->scopes_end || !guarded_u8((*at)++, &byte) || byte < excluded)
            return false;
        uint32_t digit = byte - excluded;
        sum += digit << (i * UNSIGNED5_SHIFT);
        if (digit < low_codes || i == UNSIGNED5_BYTES - 1)
            break;
    }
    *value = sum;
    return true;
}

/* One scope: (offset of the caller's scope, method, bci + 1, where its locals are described, 0:
 * nowhere).  A caller's scope is written first. */
static bool read_scope(const struct layout *l, const struct nmethod *nm, uint32_t *scope,
                       struct walk_frame *f, uint32_t *locals)
{
    uintptr_t at = nm->scopes_begin + *scope;
    uint32_t caller, method, bci;
    if (at >= nm->scopes_end || !read_unsigned5(l, nm, &at, &caller) ||
        !read_unsigned5(l, nm, &at, &method) || !read_unsigned5(l, nm, &at, &bci) ||
        !read_unsigned5(l, nm, &at, locals) || caller >= *scope || method == 0 ||
        bci > UINT16_MAX + 1u)
        return false;
    uintptr_t slot = nm->meta_begin + (method - 1) * sizeof(uintptr_t);
    if (slot >= nm->meta_end || !guarded_word(slot, &f->method) || !f->method)
        return false;
    f->bci = bci ? (int32_t)bci - 1 : 0; /* 0: the lock at a synchronized method's entry */
    f->kind = caller ? WALK_INLINED : WALK_COMPILED;
    f->level = nm->level;
    f->pc = 0;
    f->stamp = 0;
    *scope = caller;
    return true;
}

int32_t nmethod_frames(const struct layout *l, const struct nmethod *nm, int32_t scope,
                       struct walk_frame *out, int32_t max)
{
    uint32_t at = (uint32_t)scope, locals;
    for (int32_t n = 0; n < SCOPES_MAX; n++) {
        struct walk_frame f;
        if (!read_scope(l, nm, &at, &f, &locals))
            return -1;
        if (n < max)
            out[n] = f;
        if (at == 0)
            return f.method == nm->method ? n + 1 : -1;
    }
    return -1;
}

/* --- between two places ----------------------------------------------------------------------- */

/* Whether nothing can be done there but to ask which bytecode it is.  The compilers describe the
 * locals of a place that can be stopped at or deoptimized, dead ones too (PhaseOutput::
 * Process_OopMap_Node in output.cpp, LinearScan::compute_debug_info_for_scope in
 * c1_LinearScan.cpp), and none where only a profiler asks (NonSafepointEmitter, LIR_Assembler::
 * record_non_safepoint_debug_info). */
static bool is_for_profilers(const struct layout *l, const struct nmethod *nm, int32_t scope)
{
    uint32_t at = (uint32_t)scope, locals;
    uint16_t max_locals;
    uintptr_t constants;
    struct walk_frame f;
    return scope > 0 && l->cm_max_locals >= 0 && read_scope(l, nm, &at, &f, &locals) &&
           locals == 0 && guarded_word(f.method + (uintptr_t)l->m_const, &constants) &&
           guarded_u16(constants + (uintptr_t)l->cm_max_locals, &max_locals) && max_locals > 0;
}

/* Whether a scope is of a bytecode that calls something. */
static bool is_call(const struct layout *l, const struct nmethod *nm, int32_t scope)
{
    enum { INVOKEVIRTUAL = 0xb6, INVOKEDYNAMIC = 0xba };
    uint32_t at = (uint32_t)scope, locals;
    struct method_view v;
    struct walk_frame f;
    uint8_t code;
    return read_scope(l, nm, &at, &f, &locals) && method_view(l, f.method, &v) &&
           (uint32_t)f.bci < v.code_size && guarded_u8(v.code + (uintptr_t)f.bci, &code) &&
           code >= INVOKEVIRTUAL && code <= INVOKEDYNAMIC;
}

/* How often a scope stands among others, and the most frequent one of these. */
static void count_scopes(const int32_t *v, size_t n, int32_t scope, unsigned *own, unsigned *most)
{
    *own = *most = 0;
    for (size_t k = 0; k < n; k++) {
        unsigned same = 0;
        for (size_t j = 0; j < n; j++)
            same += v[j] == v[k];
        unsigned *to = v[k] == scope ? own : most;
        *to = same > *to ? same : *to;
    }
}

/* C2 gives what it makes without a place of its own that of the call that it inlined last
 * (Compile::default_node_notes, LateInlineCallGenerator in callGenerator.cpp): one scope stands
 * again and again between others, and says nothing of where it stands.  The next description in
 * direction `step` that says something; `i` itself where none does. */
static size_t saying(const struct layout *l, const struct nmethod *nm, size_t i, int step)
{
    enum { AROUND = 8, ROOM = 2 * AROUND + 1, LEAST = 3 };
    int32_t scopes[ROOM], self = scope_at(l, nm, i);
    size_t from = i > AROUND ? i - AROUND : 0, n = 0;
    unsigned own, most;
    if (!is_for_profilers(l, nm, self) || !is_call(l, nm, self))
        return i;
    while (n < ROOM && (scopes[n] = scope_at(l, nm, from + n)) >= 0)
        n++;
    count_scopes(scopes, n, self, &own, &most);
    if (own < LEAST || own < most)
        return i;
    for (size_t k = i - from; k < n; k += (size_t)step)
        if (scopes[k] != self)
            return from + k;
    return i;
}

struct nmethod_near nmethod_near(const struct layout *l, const struct nmethod *nm, uintptr_t pc)
{
    size_t after = first_at(l, nm, offset_of(nm, pc) + 1), before = after - 1;
    int32_t offset;
    bool all = is_for_profilers(l, nm, scope_at(l, nm, after)) ||
               is_for_profilers(l, nm, scope_at(l, nm, before));
    if (all) {
        after = saying(l, nm, after, 1);
        before = saying(l, nm, before, -1);
    }
    struct nmethod_near near = {
        .before = scope_at(l, nm, before), .after = scope_at(l, nm, after), .all = all};
    if (near.after > 0 && pc_desc(l, nm, after, &offset))
        near.after_pc = nm->blob.code_begin + (uintptr_t)offset;
    return near;
}
