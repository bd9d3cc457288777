#include "cli/view_traces.h"

#include "cli/view_heap.h"
#include "cli/view_recent.h"
#include "format/trace.h"
#include "serve/answer.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is inside of a larger file is not looked up for a list. */
enum { LOOK_INTO_MAX = 64 << 20 };

struct view_trace {
    char *path;
    struct timespec modified;
    int64_t bytes;
    bool there; /* at the last look */
    bool heap;  /* a heap dump */
    char program[256];
    double seconds; /* 0: not known */
};

int view_traces_init(struct view_traces *t)
{
    *t = (struct view_traces){.n = 0};
    return -pthread_mutex_init(&t->lock, NULL);
}

void view_traces_fini(struct view_traces *t)
{
    pthread_mutex_lock(&t->lock); /* who still asks finds none */
    for (size_t i = 0; i < t->n; i++)
        free(t->v[i].path);
    free(t->v);
    t->v = NULL;
    t->n = t->room = 0;
    pthread_mutex_unlock(&t->lock);
}

/* --- what is known of a file; all with the lock ----------------------------------------------- */

static void look_into(struct view_trace *v)
{
    struct trace *t;
    v->program[0] = 0;
    v->seconds = 0;
    v->heap = view_heap_is(v->path);
    if (v->heap || v->bytes > LOOK_INTO_MAX || trace_open(&t, v->path, NULL) < 0)
        return;
    snprintf(v->program, sizeof v->program, "%s", trace_info(t, "sun.java.command", ""));
    v->seconds = trace_seconds(t, trace_end(t));
    trace_close(t);
}

static void look(struct view_trace *v)
{
    struct stat now;
    v->there = stat(v->path, &now) == 0 && S_ISREG(now.st_mode);
    if (!v->there || (v->bytes == now.st_size && v->modified.tv_sec == now.st_mtim.tv_sec &&
                      v->modified.tv_nsec == now.st_mtim.tv_nsec))
        return;
    v->bytes = now.st_size;
    v->modified = now.st_mtim;
    look_into(v);
}

static struct view_trace *find(struct view_traces *t, const char *path)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->v[i].path, path) == 0)
            return &t->v[i];
    return NULL;
}

static struct view_trace *add(struct view_traces *t, const char *path)
{
    if (t->n == t->room && t->n < VIEW_TRACES_MAX) {
        size_t room = t->room ? 2 * t->room : 64;
        struct view_trace *v = realloc(t->v, room * sizeof *v);
        if (!v)
            return NULL;
        t->v = v;
        t->room = room;
    }
    char *mine = t->n < t->room && t->n < VIEW_TRACES_MAX ? strdup(path) : NULL;
    if (!mine)
        return NULL;
    t->v[t->n] = (struct view_trace){.path = mine, .bytes = -1};
    return &t->v[t->n++];
}

static void see(struct view_traces *t, const char *path)
{
    struct view_trace *v = find(t, path);
    v = v ? v : add(t, path);
    if (v)
        look(v);
}

static bool is_our_name(const char *name)
{
    static const char *const suffixes[] = {".otrace", ".trcxml", ".orca", ".hprof", ".hprof.gz"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t n = strlen(suffixes[i]);
        if (len > n && strcmp(name + len - n, suffixes[i]) == 0)
            return true;
    }
    return false;
}

static void see_folder(struct view_traces *t)
{
    char cwd[PATH_MAX], path[PATH_MAX];
    DIR *d = getcwd(cwd, sizeof cwd) ? opendir(cwd) : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (is_our_name(e->d_name) &&
            snprintf(path, sizeof path, "%s/%s", cwd, e->d_name) < (int)sizeof path)
            see(t, path);
    if (d)
        closedir(d);
}

/* --- the list --------------------------------------------------------------------------------- */

static int newer(const void *a, const void *b, void *ctx)
{
    const struct view_trace *all = ctx, *x = &all[*(const uint32_t *)a],
                            *y = &all[*(const uint32_t *)b];
    if (x->modified.tv_sec != y->modified.tv_sec)
        return x->modified.tv_sec < y->modified.tv_sec ? 1 : -1;
    return strcmp(x->path, y->path);
}

static void put_one(const struct view_trace *v, uint32_t id, struct buf *out)
{
    buf_printf(out, "{\"id\":%" PRIu32 ",\"kind\":\"%s\",\"path\":", id,
               v->heap ? "heap" : "trace");
    answer_put_text(out, v->path);
    buf_printf(out, ",\"bytes\":%" PRId64 ",\"modified_unix_s\":%lld,\"program\":", v->bytes,
               (long long)v->modified.tv_sec);
    answer_put_text(out, v->program);
    buf_printf(out, ",\"seconds\":%.3f}", v->seconds);
}

static void put_sorted(struct view_traces *t, struct buf *out)
{
    uint32_t *order = calloc(t->n + 1, sizeof *order);
    size_t n = 0;
    for (size_t i = 0; order && i < t->n; i++)
        if (t->v[i].there)
            order[n++] = (uint32_t)i;
    if (n)
        qsort_r(order, n, sizeof *order, newer, t->v);
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, i ? "," : "");
        put_one(&t->v[order[i]], order[i] + 1, out);
    }
    free(order);
}

void view_traces_put(struct view_traces *t, struct buf *out)
{
    struct recent r;
    recent_load(&r);
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->n; i++)
        look(&t->v[i]);
    see_folder(t);
    for (size_t i = 0; i < r.n; i++)
        see(t, r.v[i]);
    buf_putc(out, '[');
    put_sorted(t, out);
    buf_putc(out, ']');
    pthread_mutex_unlock(&t->lock);
    recent_fini(&r);
}

bool view_traces_path(struct view_traces *t, uint32_t id, char *out, size_t n)
{
    pthread_mutex_lock(&t->lock);
    bool found = id > 0 && id <= t->n;
    if (found)
        snprintf(out, n, "%s", t->v[id - 1].path);
    pthread_mutex_unlock(&t->lock);
    return found;
}
