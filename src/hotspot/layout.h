/* layout.h - where the walker finds what it reads: offsets, sizes and addresses of HotSpot's data,
 * looked up by name when the walker is opened (vmstructs.h).
 *
 * Internal to the walker's files.  An offset is -1 when this JVM has no such field; layout_read
 * refuses the JVM when one is missing that nothing replaces. */
#ifndef ORCA_HOTSPOT_LAYOUT_H
#define ORCA_HOTSPOT_LAYOUT_H

#include "hotspot/thread_states.h"
#include "hotspot/vmstructs.h"

enum { LAYOUT_HEAPS = 8 };

struct layout {
    int32_t major; /* of the JDK */
    /* JavaThread and its anchor */
    int32_t anchor, stack_base, stack_size, vframe_array_head, thread_state, terminated;
    int32_t not_terminated; /* value of JavaThread::_terminated */
    struct thread_states states;
    int32_t last_sp, last_pc, last_fp;
    int32_t wrapper_anchor; /* JavaCallWrapper */
    /* code */
    int32_t heap_memory, heap_segmap, heap_segment_shift, space_low, space_high;
    int32_t block_used, block_size;
    int32_t blob_name, blob_size, blob_frame_size, blob_frame_complete, blob_code_begin,
        blob_code_end, blob_code_offset, blob_data_offset, blob_kind, blob_mutable_data,
        blob_mutable_size, blob_relocation_size;
    bool frame_complete_is_short;
    int32_t nm_method, nm_state, nm_level, nm_compile_id, nm_orig_pc, nm_entry_bci;
    int32_t nm_scopes_pcs, nm_scopes_data, nm_scopes_data_begin, nm_dependencies, nm_metadata,
        nm_immutable, nm_immutable_size;
    int32_t nm_deopt, nm_deopt_begin, nm_deopt_mh, nm_deopt_mh_begin;
    int32_t nm_verified, nm_verified_entry, nm_osr_entry;
    int32_t pc_desc_size;
    int32_t upcall_frame_data, upcall_anchor;
    /* methods */
    int32_t m_const, m_access, m_size, m_intrinsic;
    int32_t cm_constants, cm_flags, cm_code_size, cm_name, cm_signature, cm_idnum, cm_total,
        cm_max_locals, cm_header;
    int32_t pool_holder, pool_cache, pool_length, pool_header, pool_source;
    int32_t klass_name, klass_loader_data, klass_constants;
    int32_t klass_method_ids; /* -1: not known */
    int32_t symbol_length, symbol_body;
    int32_t has_line_table;                                /* bit of the ConstMethod's flags */
    int32_t first_handle_intrinsic, last_handle_intrinsic; /* invokeBasic, linkTo... */
    /* addresses */
    uintptr_t call_stub_return;
    bool entry_saves; /* entry frames keep C's registers where native_x86_64.c expects them */
    uintptr_t heaps[LAYOUT_HEAPS]; /* the CodeHeaps */
    int32_t n_heaps;
    uintptr_t interpreter_begin, interpreter_end;
};

struct walker;
const struct layout *walker_layout(const struct walker *w);

int layout_read(struct layout *l, const struct vmstructs *vs, struct err *err);

#endif
