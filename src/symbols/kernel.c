#include "symbols/kernel.h"

#include "base/fdio.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    NOTES_MAX = 4096,
    LINE_MAX_LEN = 1024,
    BOOT_SLACK_S = 60, /* a clock that is set moves the time of the boot */
};

/* --- which kernel? ---------------------------------------------------------------------------- */

static size_t padded(uint32_t n)
{
    return ((size_t)n + 3) & ~(size_t)3;
}

/* The descriptor of the note NT_GNU_BUILD_ID, *n bytes, or NULL. */
static const uint8_t *find_build_id(const uint8_t *p, size_t len, size_t *n)
{
    Elf64_Nhdr h;
    while (len >= sizeof h) {
        memcpy(&h, p, sizeof h);
        size_t name = padded(h.n_namesz), desc = padded(h.n_descsz);
        if (name > len - sizeof h || desc > len - sizeof h - name)
            return NULL;
        if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(p + sizeof h, "GNU", 4) == 0) {
            *n = h.n_descsz;
            return p + sizeof h + name;
        }
        p += sizeof h + name + desc;
        len -= sizeof h + name + desc;
    }
    return NULL;
}

static bool same_build(const char *notes, const char *build_id)
{
    uint8_t bytes[NOTES_MAX];
    size_t n;
    int fd = open(notes, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : fdio_read_some(fd, bytes, sizeof bytes);
    if (fd >= 0)
        close(fd);
    const uint8_t *id = len > 0 ? find_build_id(bytes, (size_t)len, &n) : NULL;
    if (!id || strlen(build_id) != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char hex[3];
        snprintf(hex, sizeof hex, "%02x", id[i]);
        if (memcmp(hex, build_id + 2 * i, 2) != 0)
            return false;
    }
    return true;
}

static double seconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The difference of wall clock and monotonic clock is the machine's start; the latter stops while
 * the machine sleeps. */
static bool same_boot(const struct file_header *h)
{
    double then = (double)h->start_real / 1e9 - (double)h->start_mono / 1e9;
    double now = seconds(CLOCK_REALTIME);
    return then > now - seconds(CLOCK_BOOTTIME) - BOOT_SLACK_S &&
           then < now - seconds(CLOCK_MONOTONIC) + BOOT_SLACK_S;
}

/* --- the list --------------------------------------------------------------------------------- */

/* "ffffffff81001000 T name\t[module]".  False: no line of a function. */
static bool parse(char *line, uint64_t *address, char *kind, char **name)
{
    char *end;
    line[strcspn(line, "\n")] = 0;
    errno = 0;
    *address = strtoull(line, &end, 16);
    if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
        return false;
    *kind = end[1];
    *name = end + 3;
    char *tab = strchr(*name, '\t'); /* the kernel's module */
    if (tab)
        *tab = ' ';
    return strchr("tTwW", *kind) != NULL;
}

/* The number of functions with an address, or -ENOMEM. */
static long add_lines(struct symtab *s, struct arena *names, FILE *f)
{
    char line[LINE_MAX_LEN], kind, *name;
    uint64_t address;
    long n = 0;
    while (fgets(line, sizeof line, f)) {
        if (!parse(line, &address, &kind, &name) || address == 0)
            continue;
        const char *kept = arena_strndup(names, name, strlen(name));
        if (!kept)
            return -ENOMEM;
        symtab_add(s, &(struct symtab_entry){.begin = address,
                                             .end = UINT64_MAX,
                                             .name = kept,
                                             .rank = kind == 'T' || kind == 'W' ? SYMTAB_GLOBAL
                                                                                : SYMTAB_LOCAL});
        n++;
    }
    return n;
}

int kernel_add(struct symtab *s, struct arena *names, const struct trace *t,
               const struct trace_module *m, const struct symbols_options *o, struct err *err)
{
    if (*m->build_id && !same_build(o->kernel_notes, m->build_id))
        return err_set(err, -ENOENT, "[kernel]: the recording was made with another kernel");
    if (!same_boot(&t->header))
        return err_set(err, -ENOENT,
                       "[kernel]: the recording was made on another machine, or before this one "
                       "was started: the kernel's addresses have changed");
    FILE *f = fopen(o->kallsyms, "re");
    if (!f)
        return err_set(err, -ENOENT, "[kernel]: %s: %s", o->kallsyms, strerror(errno));
    long n = add_lines(s, names, f);
    fclose(f);
    if (n < 0)
        return err_set(err, -ENOMEM, "[kernel]: out of memory");
    if (n == 0)
        return err_set(err, -ENOENT, "[kernel]: %s hides the addresses from this user",
                       o->kallsyms);
    return 0;
}
