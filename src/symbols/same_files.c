#include "symbols/same_files.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"
#include "symbols/module_files.h"

#include <errno.h>
#include <sys/stat.h>

static uint64_t identity(const struct elf_image *f, uint64_t seed)
{
    struct stat st;
    if (f->fd < 0 || fstat(f->fd, &st) < 0)
        return seed;
    const uint64_t id[] = {(uint64_t)st.st_dev, (uint64_t)st.st_ino};
    return hash_place(id, sizeof id, seed);
}

/* The file of a group and what it has of debug files; 0: none, or no file of the disk. */
static uint64_t files_of(const struct natives *v, uint32_t group, const struct symbols_options *o)
{
    struct module_files f;
    struct err err;
    if (module_files_open(&f, v->t, trace_module(v->t, (module_id){group}), o, &err) < 0)
        return 0;
    uint64_t id = f.main.fd < 0 && f.debug.fd < 0 ? 0 : identity(&f.debug, identity(&f.main, 1));
    module_files_close(&f);
    return id;
}

static size_t end_of_group(const struct natives *v, size_t from)
{
    size_t to = from;
    while (to < v->n && v->places[to].group == v->places[from].group)
        to++;
    return to;
}

int same_files_join(struct natives *v, const struct symbols_options *o, uint64_t *budget)
{
    struct map files; /* identity -> group */
    int rc = 0;
    map_init(&files);
    for (size_t i = 0, to; i < v->n && rc == 0 && *budget; i = to) {
        uint32_t group = v->places[i].group;
        to = end_of_group(v, i);
        uint64_t id = group ? files_of(v, group, o) : 0;
        uint64_t *first = id ? map_put(&files, id) : NULL;
        *budget -= min_u64(*budget, SYMBOLS_FILE);
        if (id && !first)
            rc = -ENOMEM;
        else if (first && *first)
            for (size_t k = i; k < to; k++)
                v->places[k].group = (uint32_t)*first;
        else if (first)
            *first = group;
    }
    map_fini(&files);
    natives_sort(v);
    return rc;
}
