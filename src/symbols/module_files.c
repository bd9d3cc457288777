#include "symbols/module_files.h"

#include "base/util.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { VDSO_MAX = 64 << 10, CRC_BUFFER = 1 << 16 };

/* Who looks, for what; and the first reason why something was passed over. */
struct search {
    const struct trace *t;
    const struct trace_module *m;
    const struct symbols_options *o;
    struct err *err;
    bool passed_over;
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* --- is it that file? ------------------------------------------------------------------------- */

static bool unchanged(const struct search *s, const struct elf_image *f)
{
    struct stat st;
    uint64_t began = s->t->header.start_real;
    return fstat(f->fd, &st) == 0 && began &&
           (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec <= began;
}

/* "": it is; else what is wrong. */
static const char *difference(const struct search *s, const struct elf_image *f)
{
    if (strcmp(f->build_id, s->m->build_id) != 0)
        return *f->build_id ? "its build id differs from the recorded file's"
                            : "it has no build id, the recorded file had one";
    if (!*f->build_id && f->fd >= 0 && !unchanged(s, f))
        return "it has no build id, and was changed after the recording began";
    return "";
}

/* A file that is there and cannot be used says more than one that is not there. */
static bool pass_over(struct search *s, int code, const char *path, const char *why)
{
    if (code != -ENOENT && code != -ENOTDIR && code != -EACCES && !s->passed_over) {
        err_set(s->err, code, "%s: %s", path, why);
        s->passed_over = true;
    }
    return false;
}

static bool try_file(struct search *s, struct elf_image *f, const char *path)
{
    struct err err;
    int rc = elf_image_open(f, path, &err);
    if (rc < 0) {
        size_t named = strlen(path) + 2; /* "path: why" */
        return pass_over(s, rc, path, strlen(err.msg) > named ? err.msg + named : err.msg);
    }
    const char *wrong = difference(s, f);
    if (!*wrong)
        return true;
    elf_image_close(f);
    return pass_over(s, -EINVAL, path, wrong);
}

static bool try_path(struct search *s, struct elf_image *f, char path[MODULE_FILES_PATH],
                     const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static bool try_path(struct search *s, struct elf_image *f, char path[MODULE_FILES_PATH],
                     const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(path, MODULE_FILES_PATH, fmt, ap);
    va_end(ap);
    if (n > 0 && n < MODULE_FILES_PATH && try_file(s, f, path))
        return true;
    path[0] = 0;
    return false;
}

/* Each of the user's folders; false: the end. */
static bool next_dir(const char **at, char dir[MODULE_FILES_PATH])
{
    for (size_t n; **at; *at += n + ((*at)[n] == ':')) {
        n = strcspn(*at, ":");
        if (n == 0 || n >= MODULE_FILES_PATH)
            continue;
        memcpy(dir, *at, n);
        dir[n] = 0;
        *at += n + ((*at)[n] == ':');
        return true;
    }
    return false;
}

/* --- the file itself -------------------------------------------------------------------------- */

static bool find_main(struct search *s, struct module_files *f)
{
    const char *path = s->m->path, *dirs = s->o->dirs;
    char dir[MODULE_FILES_PATH];
    if (path[0] != '/')
        return false;
    if (try_path(s, &f->main, f->main_path, "%s", path))
        return true;
    /* A process in a container sees other files by the same paths. */
    if (s->t->header.pid &&
        try_path(s, &f->main, f->main_path, "/proc/%u/root%s", s->t->header.pid, path))
        return true;
    while (next_dir(&dirs, dir))
        if (try_path(s, &f->main, f->main_path, "%s%s", dir, path) ||
            try_path(s, &f->main, f->main_path, "%s/%s", dir, file_name(path)))
            return true;
    return false;
}

/* This process's, which is the recorded one's where the kernel is the same. */
static bool find_vdso(struct search *s, struct module_files *f)
{
    const unsigned char *at = (const unsigned char *)getauxval(AT_SYSINFO_EHDR); // NOLINT
    Elf64_Ehdr head;
    if (!at)
        return pass_over(s, -EINVAL, "[vdso]", "this system has none");
    memcpy(&head, at, sizeof head);
    size_t n = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
    unsigned char *copy = n >= sizeof head && n <= VDSO_MAX ? malloc(n) : NULL;
    if (!copy)
        return pass_over(s, -EINVAL, "[vdso]", "it cannot be read");
    memcpy(copy, at, n);
    struct err err;
    if (elf_image_take(&f->main, copy, n, "[vdso]", &err) < 0)
        return pass_over(s, -EINVAL, "[vdso]", "it cannot be read");
    const char *wrong = difference(s, &f->main);
    if (!*wrong) {
        snprintf(f->main_path, sizeof f->main_path, "[vdso]");
        return true;
    }
    elf_image_close(&f->main);
    return pass_over(s, -EINVAL, "[vdso]", "the recording was made with another kernel");
}

/* --- the debug file --------------------------------------------------------------------------- */

static bool find_by_build_id(struct search *s, struct module_files *f)
{
    const char *id = s->m->build_id, *dirs = s->o->dirs, *name = file_name(s->m->path);
    char dir[MODULE_FILES_PATH];
    if (strlen(id) < 3 || strspn(id, "0123456789abcdef") != strlen(id))
        return false;
    while (next_dir(&dirs, dir))
        if (try_path(s, &f->debug, f->debug_path, "%s/.build-id/%.2s/%s.debug", dir, id, id + 2) ||
            try_path(s, &f->debug, f->debug_path, "%s/%s.debug", dir, name) ||
            try_path(s, &f->debug, f->debug_path, "%s/%s", dir, name))
            return true;
    return try_path(s, &f->debug, f->debug_path, "%s/.build-id/%.2s/%s.debug", s->o->debug_root, id,
                    id + 2);
}

static bool checksum_is(const struct elf_image *f, uint32_t expected)
{
    unsigned char bytes[CRC_BUFFER];
    uLong crc = crc32(0, NULL, 0);
    off_t at = 0;
    for (ssize_t n; (n = pread(f->fd, bytes, sizeof bytes, at)) > 0; at += n)
        crc = crc32(crc, bytes, (uInt)n);
    return crc == expected;
}

/* .gnu_debuglink names a file and its checksum, which only counts without a build id. */
static bool find_by_link(struct search *s, struct module_files *f)
{
    GElf_Word crc;
    const char *name = dwelf_elf_gnu_debuglink(f->main.elf, &crc);
    const char *path = f->main_path;
    int dir = (int)(file_name(path) - path);
    if (!name || !*name || strchr(name, '/') || f->main.fd < 0)
        return false;
    if (!try_path(s, &f->debug, f->debug_path, "%.*s%s", dir, path, name) &&
        !try_path(s, &f->debug, f->debug_path, "%.*s.debug/%s", dir, path, name) &&
        !try_path(s, &f->debug, f->debug_path, "%s%.*s%s", s->o->debug_root, dir, path, name))
        return false;
    if (*f->debug.build_id || checksum_is(&f->debug, crc))
        return true;
    pass_over(s, -EINVAL, f->debug_path, "its checksum differs from the one in the program");
    elf_image_close(&f->debug);
    f->debug_path[0] = 0;
    return false;
}

/* --- both ------------------------------------------------------------------------------------- */

int module_files_open(struct module_files *f, const struct trace *t, const struct trace_module *m,
                      const struct symbols_options *o, struct err *err)
{
    struct search s = {.t = t, .m = m, .o = o, .err = err};
    memset(f, 0, sizeof *f);
    f->main.fd = f->debug.fd = -1;
    err_set(err, 0, "%s", "");
    bool vdso = strcmp(m->path, "[vdso]") == 0;
    bool found = vdso ? find_vdso(&s, f) : find_main(&s, f);
    if (!find_by_build_id(&s, f) && found && !vdso)
        find_by_link(&s, f);
    if (f->main.elf || f->debug.elf)
        return 0;
    if (!s.passed_over)
        err_set(err, -ENOENT, "%s: the file is not here", m->path);
    return s.passed_over ? -EINVAL : -ENOENT;
}

void module_files_close(struct module_files *f)
{
    elf_image_close(&f->main);
    elf_image_close(&f->debug);
}
