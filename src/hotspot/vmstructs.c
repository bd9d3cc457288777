#include "hotspot/vmstructs.h"

#include "base/guarded_x86_64.h"
#include "base/util.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The exported symbols: the tables, and how their entries are laid out. */
struct entry_shape {
    uint64_t stride, type_name, field_name, type_string, is_static, offset, address;
};

enum { REFUTED_MAX = 64 };

struct vmstructs {
    void *lib;
    const char *structs, *types, *constants;
    struct entry_shape shape;
    uint64_t type_stride, type_name, type_size;
    uint64_t constant_stride, constant_name, constant_value;
    uintptr_t begin, end; /* of the library in memory */
    struct name {
        const char *type, *field;
    } refuted[REFUTED_MAX];
    size_t n_refuted;
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

/* --- the JVM's flags ---------------------------------------------------------------------------- */

/* They are a table in the library, with names and values in the library: read without a guard,
 * which is not there before VMInit. */
struct flags {
    uintptr_t at;
    size_t n, size, name, value;
};

static bool is_in_library(const struct vmstructs *vs, uintptr_t at, size_t bytes)
{
    return at >= vs->begin && at < vs->end && bytes <= vs->end - at;
}

static bool find_flags(const struct vmstructs *vs, struct flags *f)
{
    enum { MOST = 1 << 14 };
    long flags = vmstructs_offset(vs, "JVMFlag", "flags", NULL);
    long count = vmstructs_offset(vs, "JVMFlag", "numFlags", NULL);
    long name = vmstructs_offset(vs, "JVMFlag", "_name", NULL);
    long value = vmstructs_offset(vs, "JVMFlag", "_addr", NULL);
    long size = vmstructs_sizeof(vs, "JVMFlag");
    if (!is_in_library(vs, (uintptr_t)flags, sizeof f->at) ||
        !is_in_library(vs, (uintptr_t)count, sizeof f->n) || name < 0 || value < 0 || size <= 0 ||
        name > size - (long)sizeof(char *) || value > size - (long)sizeof(char *))
        return false;
    memcpy(&f->at, (const void *)flags, sizeof f->at);
    memcpy(&f->n, (const void *)count, sizeof f->n);
    f->name = (size_t)name;
    f->value = (size_t)value;
    f->size = (size_t)size;
    return f->n && f->n < MOST && is_in_library(vs, f->at, f->n * f->size);
}

static const char *flag_word(const struct flags *f, size_t i, size_t at)
{
    const char *p;
    memcpy(&p, (const char *)f->at + i * f->size + at, sizeof p);
    return p;
}

/* Where the flag's value is; NULL: there is none of that name. */
static const char *flag_at(const struct vmstructs *vs, const char *name)
{
    struct flags f;
    bool known = find_flags(vs, &f);
    for (size_t i = 0; known && i < f.n; i++) {
        const char *is = flag_word(&f, i, f.name);
        if (is && strcmp(is, name) == 0)
            return flag_word(&f, i, f.value);
    }
    return NULL;
}

/* All entries (the last one may be empty) lead into the library, and what depends on the collector
 * and on compressed references is among them. */
static bool flags_hold(const struct vmstructs *vs)
{
    static const char *const needed[] = {"UseCompressedOops", "UseSerialGC", "CheckJNICalls"};
    struct flags f;
    if (!find_flags(vs, &f))
        return false;
    for (size_t i = 0; i < f.n; i++) {
        const char *name = flag_word(&f, i, f.name), *value = flag_word(&f, i, f.value);
        bool empty = !name && i == f.n - 1;
        if (!empty &&
            (!is_in_library(vs, (uintptr_t)name, 1) || !is_in_library(vs, (uintptr_t)value, 1)))
            return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
        const char *value = flag_at(vs, needed[i]);
        if (!value || (*value != 0 && *value != 1))
            return false;
    }
    return true;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct vmstructs *vs = arg;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        begin = at < begin ? at : begin;
        end = at + p->p_memsz > end ? at + p->p_memsz : end;
    }
    if ((uintptr_t)vs->structs < begin || (uintptr_t)vs->structs >= end)
        return 0;
    vs->begin = begin;
    vs->end = end;
    return 1;
}

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
    dl_iterate_phdr(look_at_object, vs);
    if (!flags_hold(vs)) {
        vmstructs_close(vs);
        return err_set(err, -ENOTSUP, "the flags of this JVM cannot be read");
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

/* --- for tests -------------------------------------------------------------------------------- */

#ifdef ORCA_DEBUG
static bool is_listed(const char *variable, const char *type, const char *field)
{
    const char *at = getenv(variable);
    size_t n = strlen(type), m = strlen(field);
    for (; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, type, n) == 0 && strncmp(at + n, "::", 2) == 0 &&
            strncmp(at + n + 2, field, m) == 0 && strchr(",", at[n + 2 + m]))
            return true;
    return false;
}

bool vmstructs_hides(const char *type, const char *field)
{
    return is_listed("ORCA_HIDE", type, field);
}

/* What is wrong about a fact that a test breaks: it is found, and is not what it seems to be. */
static long error_of(const char *type, const char *field)
{
    const char *by = getenv("ORCA_BREAK_BY"), *asked = getenv("ORCA_FACTS");
    FILE *f = asked ? fopen(asked, "a") : NULL;
    if (f) {
        fprintf(f, "%s::%s\n", type, field);
        fclose(f);
    }
    return is_listed("ORCA_BREAK", type, field) ? by ? strtol(by, NULL, 0) : 8 : 0;
}
#else
bool vmstructs_hides(const char *type, const char *field)
{
    (void)type, (void)field;
    return false;
}

static long error_of(const char *type, const char *field)
{
    (void)type, (void)field;
    return 0;
}
#endif

void vmstructs_refute(struct vmstructs *vs, const char *type, const char *field)
{
    if (vs->n_refuted < REFUTED_MAX)
        vs->refuted[vs->n_refuted++] = (struct name){type, field};
}

static bool is_refuted(const struct vmstructs *vs, const char *type, const char *field)
{
    for (size_t i = 0; i < vs->n_refuted; i++)
        if (strcmp(vs->refuted[i].type, type) == 0 && strcmp(vs->refuted[i].field, field) == 0)
            return true;
    return false;
}

long vmstructs_offset(const struct vmstructs *vs, const char *type, const char *field,
                      const char **type_string)
{
    if (vmstructs_hides(type, field) || is_refuted(vs, type, field))
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
        return (long)value + error_of(type, field);
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
            return (long)size + error_of("sizeof", type);
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
            *value += (int32_t)error_of("constant", name);
            return true;
        }
    }
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
#define THREAD(member, type, name, proof, lost) {offsetof(struct vm_layout, member), type, name},
#define OTHER(type, name, proof, lost)
#define WALKER(member, need, type, name, proof, lost)
#include "hotspot/facts.def"
#undef THREAD
#undef OTHER
#undef WALKER
    };
    const char *owner_type = NULL;
    memset(l, 0xff, sizeof *l); /* -1: not described */
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        long *to = (long *)(void *)((char *)l + fields[i].at);
        if (*to < 0)
            *to = vmstructs_offset(vs, fields[i].type, fields[i].field, NULL);
    }
    vmstructs_offset(vs, "ObjectMonitor", "_owner", &owner_type);
    int32_t in_native;
    if (vmstructs_constant(vs, "_thread_in_native", &in_native))
        l->in_native = (uint32_t)in_native;
    l->owner_is_tid = owner_type && strstr(owner_type, "int64_t");
    l->oops = (struct oops){0};
    l->stack_guard = guard_of(vs);
    l->moving = vmstructs_flag(vs, "UseZGC", false) || vmstructs_flag(vs, "UseShenandoahGC", false);
}
