#include "hotspot/layout.h"

#include "base/guarded.h"
#include "base/util.h"

#include <string.h>

/* A field goes by one of several names, newest JDK first.  17 to 22 say "CompiledMethod" where 23
 * and later say "nmethod". */
struct field {
    size_t at;
    const char *type, *field;
    enum { OPTIONAL, NEEDED } need;
};

static const struct field fields[] = {
#define THREAD(member, type, name, proof, lost)
#define OTHER(type, name, proof, lost)
#define WALKER(member, need, type, name, proof, lost)                                              \
    {offsetof(struct layout, member), type, name, need},
#include "hotspot/facts.def"
#undef THREAD
#undef OTHER
#undef WALKER
};

static const struct {
    size_t at;
    const char *type;
} sizes[] = {
    {offsetof(struct layout, block_size), "HeapBlock"},
    {offsetof(struct layout, pc_desc_size), "PcDesc"},
    {offsetof(struct layout, cm_header), "ConstMethod"},
    {offsetof(struct layout, pool_header), "ConstantPool"},
    {offsetof(struct layout, m_size), "Method"},
};

static int32_t *member(struct layout *l, size_t at)
{
    return (int32_t *)(void *)((char *)l + at);
}

static int unknown(struct err *err, const char *type, const char *field)
{
    return err_set(err, -ENOTSUP, "no stack walks: this JVM does not describe %s::%s", type, field);
}

static int read_fields(struct layout *l, const struct vmstructs *vs, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        *member(l, fields[i].at) = -1;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const struct field *f = &fields[i];
        int32_t *to = member(l, f->at);
        if (*to < 0)
            *to = (int32_t)vmstructs_offset(vs, f->type, f->field, NULL);
        if (*to < 0 && f->need == NEEDED)
            return unknown(err, f->type, f->field);
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        *member(l, sizes[i].at) = (int32_t)vmstructs_sizeof(vs, sizes[i].type);
        if (*member(l, sizes[i].at) <= 0)
            return unknown(err, sizes[i].type, "size");
    }
    const char *type = NULL;
    vmstructs_offset(vs, "CodeBlob", "_frame_complete_offset", &type);
    l->frame_complete_is_short = type && strcmp(type, "int16_t") == 0;
    return 0;
}

/* The one or the other form of what moved between releases must be there. */
static int check_forms(const struct layout *l, struct err *err)
{
    const struct {
        bool known;
        const char *what;
    } forms[] = {
        {l->blob_code_offset >= 0 || (l->blob_code_begin >= 0 && l->blob_code_end >= 0),
         "_code_begin"},
        {l->nm_method >= 0, "_method"},
        {l->nm_scopes_data >= 0 ? l->nm_immutable < 0 || l->nm_immutable_size >= 0
                                : l->nm_scopes_data_begin >= 0 && l->nm_dependencies >= 0,
         "_scopes_data"},
        {l->nm_metadata >= 0 || (l->blob_mutable_data >= 0 && l->blob_mutable_size >= 0 &&
                                 l->blob_relocation_size >= 0),
         "_metadata_offset"},
        {l->nm_deopt >= 0 || l->nm_deopt_begin >= 0, "_deopt_handler_begin"},
        {l->nm_verified >= 0 || l->nm_verified_entry >= 0, "_verified_entry_point"},
        {l->cm_flags >= 0, "ConstMethod flags"},
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (!forms[i].known)
            return unknown(err, "nmethod", forms[i].what);
    return 0;
}

static int read_heaps(struct layout *l, const struct vmstructs *vs, struct err *err)
{
    uintptr_t array, data;
    int32_t n = 0;
    long len = vmstructs_offset(vs, "GrowableArrayBase", "_len", NULL);
    long at = vmstructs_offset(vs, "GrowableArray<int>", "_data", NULL);
    if (len < 0 || at < 0 || !vmstructs_word(vs, "CodeCache", "_heaps", &array) ||
        !guarded_i32(array + (uintptr_t)len, &n) || !guarded_word(array + (uintptr_t)at, &data) ||
        n < 1 || n > LAYOUT_HEAPS)
        return unknown(err, "CodeCache", "_heaps");
    for (int32_t i = 0; i < n; i++)
        if (!guarded_word(data + (uintptr_t)i * sizeof(uintptr_t), &l->heaps[i]))
            return unknown(err, "CodeCache", "_heaps");
    l->n_heaps = n;
    return 0;
}

static int read_interpreter(struct layout *l, const struct vmstructs *vs, struct err *err)
{
    uintptr_t queue;
    int32_t end;
    long buffer = vmstructs_offset(vs, "StubQueue", "_stub_buffer", NULL);
    long used = vmstructs_offset(vs, "StubQueue", "_queue_end", NULL);
    if (buffer < 0 || used < 0 || !vmstructs_word(vs, "AbstractInterpreter", "_code", &queue) ||
        !guarded_word(queue + (uintptr_t)buffer, &l->interpreter_begin) ||
        !guarded_i32(queue + (uintptr_t)used, &end) || end <= 0)
        return unknown(err, "AbstractInterpreter", "_code");
    l->interpreter_end = l->interpreter_begin + (uintptr_t)end;
    return 0;
}

/* The slots of frames that the JVM describes must be where frames_x86_64.c expects them. */
static int check_slots(const struct vmstructs *vs, struct err *err)
{
    static const struct {
        const char *name;
        int32_t value;
    } slots[] = {
        {"frame::entry_frame_call_wrapper_offset", -6},
        {"frame::interpreter_frame_sender_sp_offset", -1},
        {"frame::interpreter_frame_last_sp_offset", -2},
    };
    for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
        int32_t v;
        if (!vmstructs_constant(vs, slots[i].name, &v) || v != slots[i].value)
            return err_set(err, -ENOTSUP, "no stack walks: this JVM's %s is not %d", slots[i].name,
                           slots[i].value);
    }
    return 0;
}

static int read_addresses(struct layout *l, const struct vmstructs *vs, struct err *err)
{
    uintptr_t major;
    if (!vmstructs_word(vs, "StubRoutines", "_call_stub_return_address", &l->call_stub_return))
        return unknown(err, "StubRoutines", "_call_stub_return_address");
    if (!vmstructs_word(vs, "Abstract_VM_Version", "_vm_major_version", &major))
        return unknown(err, "Abstract_VM_Version", "_vm_major_version");
    l->major = (int32_t)major;
    return 0;
}

int layout_read(struct layout *l, const struct vmstructs *vs, struct err *err)
{
    memset(l, 0, sizeof *l);
    TRY(read_fields(l, vs, err));
    TRY(check_forms(l, err));
    TRY(check_slots(vs, err));
    TRY(read_addresses(l, vs, err));
    TRY(read_heaps(l, vs, err));
    TRY(read_interpreter(l, vs, err));
    if (!vmstructs_constant(vs, "ConstMethodFlags::_misc_has_linenumber_table",
                            &l->has_line_table) &&
        !vmstructs_constant(vs, "ConstMethod::_has_linenumber_table", &l->has_line_table))
        l->has_line_table = 0;
    if (!vmstructs_constant(vs, "vmIntrinsics::_invokeBasic", &l->first_handle_intrinsic) ||
        !vmstructs_constant(vs, "vmIntrinsics::_linkToNative", &l->last_handle_intrinsic))
        return unknown(err, "vmIntrinsics", "_invokeBasic");
    enum { IDS_ARE_NUMBERS = 26 };
    if (l->major >= IDS_ARE_NUMBERS) /* never followed: each would be a fault */
        l->klass_method_ids = -1;
    if (!vmstructs_constant(vs, "JavaThread::_not_terminated", &l->not_terminated))
        return unknown(err, "JavaThread", "_not_terminated");
    if (!thread_states_read(&l->states, vs))
        return unknown(err, "JavaThread", "_thread_state's numbers");
    return l->major >= 17 ? 0 : err_set(err, -ENOTSUP, "no stack walks on JDK %d", l->major);
}
