#include "symbols/elf_image.h"

#include "base/fdio.h"
#include "base/util.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    INNER_MAX = 256 << 20, /* bytes of an unpacked .gnu_debugdata */
    INNER_FIRST = 1 << 20,
    INNER_TIMES = 100, /* what it may be of the packed one: 4 to 10 where distributions make it */
};

static void read_build_id(struct elf_image *f)
{
    static const char digits[] = "0123456789abcdef";
    const void *id;
    ssize_t n = dwelf_elf_gnu_build_id(f->elf, &id);
    f->build_id[0] = 0;
    if (n <= 0 || (size_t)n > (BUILD_ID_TEXT - 1) / 2)
        return;
    for (ssize_t i = 0; i < n; i++) {
        f->build_id[2 * i] = digits[((const uint8_t *)id)[i] >> 4];
        f->build_id[2 * i + 1] = digits[((const uint8_t *)id)[i] & 15];
    }
    f->build_id[2 * n] = 0;
}

static int check(struct elf_image *f, const char *name, struct err *err)
{
    if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || gelf_getclass(f->elf) != ELFCLASS64) {
        elf_image_close(f);
        return err_set(err, -EINVAL, "%s: not a 64-bit ELF file", name);
    }
    read_build_id(f);
    return 0;
}

int elf_image_open(struct elf_image *f, const char *path, struct err *err)
{
    struct stat st;
    *f = (struct elf_image){.fd = -1};
    elf_version(EV_CURRENT);
    /* A path of a trace may name a pipe or a device. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    f->fd = fd;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        elf_image_close(f);
        return err_set(err, -EINVAL, "%s: not a regular file", path);
    }
    /* A section is read as a whole, a debug file for its checksum. */
    enum { TIMES = 8 };
    int rc = fdio_check_holes(fd, TIMES, path, err);
    if (rc < 0) {
        elf_image_close(f);
        return rc;
    }
    f->size = (uint64_t)st.st_size;
    f->elf = elf_begin(fd, ELF_C_READ, NULL);
    return check(f, path, err);
}

int elf_image_take(struct elf_image *f, void *memory, size_t n, const char *name, struct err *err)
{
    *f = (struct elf_image){.fd = -1, .memory = memory, .size = n};
    elf_version(EV_CURRENT);
    f->elf = n >= EI_NIDENT ? elf_memory(memory, n) : NULL;
    return check(f, name, err);
}

void elf_image_close(struct elf_image *f)
{
    if (f->elf)
        elf_end(f->elf);
    if (f->fd >= 0)
        close(f->fd);
    free(f->memory);
    *f = (struct elf_image){.fd = -1};
}

Elf_Scn *elf_image_section(const struct elf_image *f, const char *name, GElf_Shdr *header)
{
    size_t names;
    if (elf_getshdrstrndx(f->elf, &names) < 0)
        return NULL;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(f->elf, s)) != NULL;) {
        const char *is =
            gelf_getshdr(s, header) ? elf_strptr(f->elf, names, header->sh_name) : NULL;
        if (is && strcmp(is, name) == 0)
            return s;
    }
    return NULL;
}

/* --- .gnu_debugdata --------------------------------------------------------------------------- */

/* malloc'ed, *n bytes; NULL: damaged, too large, or memory is out. */
static uint8_t *unpack(const uint8_t *packed, size_t n_packed, size_t *n)
{
    size_t most = INNER_FIRST + min_u64(n_packed, INNER_MAX / INNER_TIMES) * INNER_TIMES;
    for (size_t room = INNER_FIRST; room <= most;
         room = room < most ? min_u64(room * 4, most) : room + 1) {
        uint64_t memory = INNER_MAX;
        size_t in = 0, out = 0;
        uint8_t *p = malloc(room);
        lzma_ret rc =
            p ? lzma_stream_buffer_decode(&memory, 0, NULL, packed, &in, n_packed, p, &out, room)
              : LZMA_MEM_ERROR;
        if (rc == LZMA_OK) {
            *n = out;
            return p;
        }
        free(p);
        if (rc != LZMA_BUF_ERROR)
            return NULL;
    }
    return NULL;
}

int elf_image_open_inner(struct elf_image *inner, const struct elf_image *f, struct err *err)
{
    GElf_Shdr header;
    *inner = (struct elf_image){.fd = -1};
    Elf_Scn *s = elf_image_section(f, ".gnu_debugdata", &header);
    if (!s)
        return err_set(err, -ENOENT, "no .gnu_debugdata");
    Elf_Data *data = header.sh_size <= INNER_MAX ? elf_rawdata(s, NULL) : NULL;
    size_t n;
    uint8_t *p = data && data->d_buf ? unpack(data->d_buf, data->d_size, &n) : NULL;
    return p ? elf_image_take(inner, p, n, ".gnu_debugdata", err)
             : err_set(err, -EINVAL, ".gnu_debugdata is damaged");
}
