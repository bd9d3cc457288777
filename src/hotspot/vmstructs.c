#include "hotspot/vmstructs.h"

#include "base/guarded_x86_64.h"
#include "base/util.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The exported symbols: the tables, and how their entries are laid out. */
struct entry_shape {
    uint64_t stride, type_name, field_name, type_string, is_static, offset, address;
};

struct vmstructs {
    void *lib;
    const char *structs, *types, *constants;
    struct entry_shape shape;
    uint64_t type_stride, type_name, type_size;
    uint64_t constant_stride, constant_name, constant_value;
};

static const struct {
    const char *symbol;
    size_t at;
} symbols[] = {
    {"gHotSpotVMStructs", offsetof(struct vmstructs, structs)},
    {"gHotSpotVMStructEntryArrayStride", offsetof(struct vmstructs, shape.stride)},
    {"gHotSpotVMStructEntryTypeNameOffset", offsetof(struct vmstructs, shape.type_name)},
    {"gHotSpotVMStructEntryFieldNameOffset", offsetof(struct vmstructs, shape.field_name)},
    {"gHotSpotVMStructEntryTypeStringOffset", offsetof(struct vmstructs, shape.type_string)},
    {"gHotSpotVMStructEntryIsStaticOffset", offsetof(struct vmstructs, shape.is_static)},
    {"gHotSpotVMStructEntryOffsetOffset", offsetof(struct vmstructs, shape.offset)},
    {"gHotSpotVMStructEntryAddressOffset", offsetof(struct vmstructs, shape.address)},
    {"gHotSpotVMTypes", offsetof(struct vmstructs, types)},
    {"gHotSpotVMTypeEntryArrayStride", offsetof(struct vmstructs, type_stride)},
    {"gHotSpotVMTypeEntryTypeNameOffset", offsetof(struct vmstructs, type_name)},
    {"gHotSpotVMTypeEntrySizeOffset", offsetof(struct vmstructs, type_size)},
    {"gHotSpotVMIntConstants", offsetof(struct vmstructs, constants)},
    {"gHotSpotVMIntConstantEntryArrayStride", offsetof(struct vmstructs, constant_stride)},
    {"gHotSpotVMIntConstantEntryNameOffset", offsetof(struct vmstructs, constant_name)},
    {"gHotSpotVMIntConstantEntryValueOffset", offsetof(struct vmstructs, constant_value)},
};

int vmstructs_open(struct vmstructs **out, const void *inside, struct err *err)
{
    Dl_info info;
    *out = NULL;
    if (!dladdr(inside, &info) || !info.dli_fname)
        return err_set(err, -ENOTSUP, "cannot find the JVM's library");
    struct vmstructs *vs = calloc(1, sizeof *vs);
    if (!vs)
        return err_set(err, -ENOMEM, "out of memory");
    vs->lib = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        const void *p = vs->lib ? dlsym(vs->lib, symbols[i].symbol) : NULL;
        if (!p) {
            err_set(err, -ENOTSUP, "%s does not export %s: not a HotSpot JVM", info.dli_fname,
                    symbols[i].symbol);
            vmstructs_close(vs);
            return -ENOTSUP;
        }
        memcpy((char *)vs + symbols[i].at, p, sizeof(uint64_t));
    }
    *out = vs;
    return 0;
}

void vmstructs_close(struct vmstructs *vs)
{
    if (!vs)
        return;
    if (vs->lib)
        dlclose(vs->lib);
    free(vs);
}

void *vmstructs_symbol(const struct vmstructs *vs, const char *name)
{
    return dlsym(vs->lib, name);
}

static const char *text_at(const char *entry, uint64_t at)
{
    const char *s;
    memcpy(&s, entry + at, sizeof s);
    return s;
}

bool vmstructs_hides(const char *type, const char *field)
{
#ifdef ORCA_DEBUG
    const char *at = getenv("ORCA_HIDE");
    size_t n = strlen(type), m = strlen(field);
    for (; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, type, n) == 0 && strncmp(at + n, "::", 2) == 0 &&
            strncmp(at + n + 2, field, m) == 0 && strchr(",", at[n + 2 + m]))
            return true;
#else
    (void)type, (void)field;
#endif
    return false;
}

long vmstructs_offset(const struct vmstructs *vs, const char *type, const char *field,
                      const char **type_string)
{
    if (vmstructs_hides(type, field))
        return -1;
    for (const char *e = vs->structs;; e += vs->shape.stride) {
        const char *t = text_at(e, vs->shape.type_name), *f = text_at(e, vs->shape.field_name);
        if (!t || !f)
            return -1;
        if (strcmp(t, type) != 0 || strcmp(f, field) != 0)
            continue;
        if (type_string)
            *type_string = text_at(e, vs->shape.type_string);
        int32_t is_static;
        uint64_t value;
        memcpy(&is_static, e + vs->shape.is_static, sizeof is_static);
        memcpy(&value, e + (is_static ? vs->shape.address : vs->shape.offset), sizeof value);
        return (long)value;
    }
}

bool vmstructs_word(const struct vmstructs *vs, const char *type, const char *field,
                    uintptr_t *value)
{
    long at = vmstructs_offset(vs, type, field, NULL);
    return at != -1 && guarded_word((uintptr_t)at, value);
}

bool vmstructs_narrow_oop(const struct vmstructs *vs, uintptr_t *base, uint32_t *shift)
{
    /* JDK 25, and before. */
    static const char *const names[][2] = {{"_base", "_shift"},
                                           {"_narrow_oop._base", "_narrow_oop._shift"}};
    enum { SHIFT_MAX = 8 };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        long at = vmstructs_offset(vs, "CompressedOops", names[i][1], NULL);
        if (vmstructs_word(vs, "CompressedOops", names[i][0], base))
            return at != -1 && guarded_u32((uintptr_t)at, shift) && *shift <= SHIFT_MAX;
    }
    return false;
}

long vmstructs_sizeof(const struct vmstructs *vs, const char *type)
{
    if (vmstructs_hides("sizeof", type))
        return -1;
    for (const char *e = vs->types;; e += vs->type_stride) {
        const char *t = text_at(e, vs->type_name);
        if (!t)
            return -1;
        if (strcmp(t, type) == 0) {
            uint64_t size;
            memcpy(&size, e + vs->type_size, sizeof size);
            return (long)size;
        }
    }
}

bool vmstructs_constant(const struct vmstructs *vs, const char *name, int32_t *value)
{
    if (vmstructs_hides("constant", name))
        return false;
    for (const char *e = vs->constants;; e += vs->constant_stride) {
        const char *n = text_at(e, vs->constant_name);
        if (!n)
            return false;
        if (strcmp(n, name) == 0) {
            memcpy(value, e + vs->constant_value, sizeof *value);
            return true;
        }
    }
}

/* Where the flag's value is; NULL: there is none of that name. */
static const char *flag_at(const struct vmstructs *vs, const char *name)
{
    long flags = vmstructs_offset(vs, "JVMFlag", "flags", NULL);
    long count = vmstructs_offset(vs, "JVMFlag", "numFlags", NULL);
    long name_at = vmstructs_offset(vs, "JVMFlag", "_name", NULL);
    long addr_at = vmstructs_offset(vs, "JVMFlag", "_addr", NULL);
    long size = vmstructs_sizeof(vs, "JVMFlag");
    if (flags == -1 || count == -1 || name_at < 0 || addr_at < 0 || size <= 0)
        return NULL;
    const char *f = *(const char *const *)flags;
    size_t n = *(const size_t *)count;
    for (size_t i = 0; f && i < n; i++, f += size) {
        const char *flag = text_at(f, (uint64_t)name_at), *addr = text_at(f, (uint64_t)addr_at);
        if (flag && addr && strcmp(flag, name) == 0)
            return addr;
    }
    return NULL;
}

bool vmstructs_flag(const struct vmstructs *vs, const char *name, bool otherwise)
{
    const char *at = flag_at(vs, name);
    return at ? *at != 0 : otherwise;
}

int64_t vmstructs_number(const struct vmstructs *vs, const char *name, int64_t otherwise)
{
    const char *at = flag_at(vs, name);
    if (at)
        memcpy(&otherwise, at, sizeof otherwise);
    return otherwise;
}

const char *vmstructs_text(const struct vmstructs *vs, const char *name)
{
    const char *at = flag_at(vs, name), *text = NULL;
    if (at)
        memcpy(&text, at, sizeof text);
    return text;
}

/* The red, yellow and reserved zones; a page of the flags has 4 KiB. */
static size_t guard_of(const struct vmstructs *vs)
{
    enum { RED = 1, YELLOW = 2, RESERVED = 1, PAGE = 4096 };
    int64_t pages = vmstructs_number(vs, "StackRedPages", RED) +
                    vmstructs_number(vs, "StackYellowPages", YELLOW) +
                    vmstructs_number(vs, "StackReservedPages", RESERVED);
    return (size_t)pages * PAGE;
}

void vmstructs_layout(const struct vmstructs *vs, struct vm_layout *l)
{
    static const struct {
        size_t at;
        const char *type, *field;
    } fields[] = {
        {offsetof(struct vm_layout, pending_monitor), "JavaThread", "_current_pending_monitor"},
        {offsetof(struct vm_layout, lock_stack), "JavaThread", "_lock_stack"},
        {offsetof(struct vm_layout, monitor_owner_id), "JavaThread", "_monitor_owner_id"},
        {offsetof(struct vm_layout, stack_base), "JavaThread", "_stack_base"},
        {offsetof(struct vm_layout, stack_size), "JavaThread", "_stack_size"},
        {offsetof(struct vm_layout, osthread), "JavaThread", "_osthread"},
        {offsetof(struct vm_layout, thread_obj), "JavaThread", "_threadObj"},
        {offsetof(struct vm_layout, vthread), "JavaThread", "_vthread"},
        {offsetof(struct vm_layout, jvmti_vthread), "JavaThread", "_jvmti_vthread"},
        {offsetof(struct vm_layout, terminated), "JavaThread", "_terminated"},
        {offsetof(struct vm_layout, state), "JavaThread", "_thread_state"},
        {offsetof(struct vm_layout, lock_stack_top), "LockStack", "_top"},
        {offsetof(struct vm_layout, lock_stack_base), "LockStack", "_base[0]"},
        {offsetof(struct vm_layout, os_thread_id), "OSThread", "_thread_id"},
        {offsetof(struct vm_layout, monitor_owner), "ObjectMonitor", "_owner"},
    };
    const char *owner_type = NULL;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        long v = vmstructs_offset(vs, fields[i].type, fields[i].field, &owner_type);
        memcpy((char *)l + fields[i].at, &v, sizeof v);
    }
    if (l->osthread < 0) /* JDK 25 */
        l->osthread = vmstructs_offset(vs, "Thread", "_osthread", NULL);
    /* _owner is last in the table: its type says which of its two meanings it has. */
    l->owner_is_tid = owner_type && strstr(owner_type, "int64_t");
    l->tid = -1;
    l->oops = (struct oops){0};
    l->stack_guard = guard_of(vs);
    l->moving = vmstructs_flag(vs, "UseZGC", false) || vmstructs_flag(vs, "UseShenandoahGC", false);
}
