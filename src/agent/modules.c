#include "agent/modules.h"

#include "agent/methods.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "hotspot/walker.h"
#include "unwind/libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    uint32_t last; /* id given */
    module_id kernel;
    struct buf libraries; /* module_id, by struct library's id */
    uint64_t looked;      /* when it was last looked for libraries */
} modules;

void modules_reset(void)
{
    modules.last = 0;
    modules.kernel.v = 0;
    modules.looked = 0;
    buf_clear(&modules.libraries);
}

static void put_hex(const uint8_t *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static module_id define(struct def_module *m, const char *path, const char *build_id)
{
    m->id.v = ++modules.last;
    m->path = (struct str){path, strlen(path)};
    m->build_id = (struct str){build_id, strlen(build_id)};
    struct def d = {.kind = DEF_module, .module = *m};
    return recorder_define(agent.rec, &d) ? m->id : (module_id){0};
}

/* --- the kernel ------------------------------------------------------------------------------- */

enum { NOTES_BYTES = 4096, ID_BYTES = 32 };

/* The build id among ELF notes. */
static void find_build_id(const uint8_t *notes, size_t n, char *out)
{
    enum { WORD = 4 };
    Elf64_Nhdr h;
    for (size_t at = 0; at + sizeof h <= n;) {
        memcpy(&h, notes + at, sizeof h);
        size_t name = at + sizeof h, desc = name + ALIGN_UP((size_t)h.n_namesz, WORD);
        size_t next = desc + ALIGN_UP((size_t)h.n_descsz, WORD);
        if (h.n_namesz > n || h.n_descsz > n || next > n)
            return;
        if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 &&
            h.n_descsz <= ID_BYTES) {
            put_hex(notes + desc, h.n_descsz, out);
            return;
        }
        at = next;
    }
}

module_id modules_kernel(void)
{
    if (modules.kernel.v)
        return modules.kernel;
    uint8_t notes[NOTES_BYTES];
    char id[2 * ID_BYTES + 1] = "";
    int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, notes, sizeof notes) : 0;
    if (fd >= 0)
        close(fd);
    if (n > 0)
        find_build_id(notes, (size_t)n, id);
    struct def_module m = {.end = UINT64_MAX};
    modules.kernel = define(&m, "[kernel]", id);
    return modules.kernel;
}

/* --- libraries -------------------------------------------------------------------------------- */

static module_id define_library(const struct library *l)
{
    char id[2 * LIBRARY_BUILD_ID + 1] = "";
    struct def_module m = {.bias = l->bias, .begin = l->begin, .end = l->end};
    put_hex(l->build_id, l->build_id_bytes, id);
    return define(&m, l->path, id);
}

static module_id library_id(const struct library *l)
{
    static const module_id none;
    while (modules.libraries.len / sizeof none <= l->id && !modules.libraries.oom)
        buf_put(&modules.libraries, &none, sizeof none);
    if (modules.libraries.oom)
        return none;
    module_id *id = (module_id *)(void *)modules.libraries.p + l->id;
    if (!id->v)
        *id = define_library(l);
    return *id;
}

method_id modules_place(uintptr_t pc)
{
    const struct library *l = libraries_find(walker_libraries(agent.walker), pc);
    if (!l)
        return methods_id_of_place((module_id){0}, pc);
    return methods_id_of_place(library_id(l), pc - l->bias);
}

void modules_refresh(void)
{
    enum { EVERY_NS = 1000000000 };
    struct libraries *l = walker_libraries(agent.walker);
    struct err err;
    uint64_t now = clock_mono_ns();
    if (now - modules.looked < EVERY_NS && !libraries_missing(l))
        return;
    modules.looked = now;
    libraries_refresh(l, &err); /* else the table is as before */
}
