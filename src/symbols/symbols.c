#include "symbols/symbols.h"

#include "base/fdio.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/util.h"
#include "symbols/demangle.h"
#include "symbols/natives.h"
#include "symbols/same_files.h"
#include "symbols/symbol_source.h"

#include <stdlib.h>
#include <string.h>

struct resolver {
    struct trace *t;
    const struct symbols_options *o;
    struct natives natives;
    struct map functions; /* of one file: hash of what makes the function -> its method */
    struct buf text;
    struct symbols_module *modules;
    size_t n_modules;
    uint32_t nowhere;
    uint64_t budget; /* symbols that may still be read */
    bool oom;
};

struct symbols_options symbols_options_default(void)
{
    const char *dirs = getenv("ORCA_SYMBOLS"), *root = getenv("ORCA_DEBUG_ROOT");
    return (struct symbols_options){.dirs = dirs ? dirs : "",
                                    .debug_root = root ? root : "/usr/lib/debug",
                                    .kallsyms = "/proc/kallsyms",
                                    .kernel_notes = "/sys/kernel/notes",
                                    .most = SYMBOLS_ANY_TRACE};
}

/* --- functions -------------------------------------------------------------------------------- */

static const char *keep(struct resolver *r)
{
    const char *text =
        r->text.oom ? NULL : arena_strndup(&r->t->arena, buf_str(&r->text), r->text.len);
    buf_clear(&r->text);
    r->oom |= !text;
    return text ? text : "";
}

static const char *keep_text(struct resolver *r, const char *text)
{
    buf_puts(&r->text, text);
    return keep(r);
}

/* The method for a function, made when `symbol` is met for the first time. */
static method_id function(struct resolver *r, const struct native_place *p, uint64_t key,
                          const char *symbol, const struct trace_method *like)
{
    uint64_t *known = map_put(&r->functions, key);
    if (!known) {
        r->oom = true;
        return (method_id){0};
    }
    if (!*known) {
        struct trace_method m = *like;
        if (symbol) {
            demangle(symbol, false, &r->text);
            m.name = keep(r);
            demangle(symbol, true, &r->text);
            m.signature = keep(r);
        }
        if (strcmp(m.signature, m.name) == 0)
            m.signature = "";
        *known = natives_function(&r->natives, p, m).v;
        r->oom |= !*known;
    }
    return (method_id){(uint32_t)*known};
}

static struct trace_method method_like(struct resolver *r, const struct native_place *p,
                                       const char *source)
{
    struct trace_method m = {.flags = METHOD_NATIVE_CODE, .name = "", .signature = ""};
    m.module.v = p->group;
    if (*source)
        m.source = keep_text(r, source);
    return m;
}

/* What was inlined at the place: a function by its name and file. */
static method_id inlined(struct resolver *r, const struct native_place *p,
                         const struct code_lines_place *l)
{
    struct trace_method m = method_like(r, p, l->source);
    uint64_t key =
        hash_place(l->name, strlen(l->name), hash_place(l->source, strlen(l->source), 1));
    return function(r, p, key, l->name, &m);
}

/* The function that the linker put there; without a symbol, the place itself. */
static method_id outermost(struct resolver *r, const struct native_place *p,
                           const struct symtab_entry *e, const struct code_lines_place *l)
{
    struct trace_method m = method_like(r, p, l->source);
    if (!e) {
        m.address = p->address;
        return function(r, p, hash_place(&m.address, sizeof m.address, 2), NULL, &m);
    }
    uint64_t id[] = {e->begin, e->end};
    m.address = e->begin;
    if (!e->plt)
        return function(r, p, hash_place(id, sizeof id, 3), e->name, &m);
    demangle(e->name, false, &r->text);
    buf_puts(&r->text, "@plt");
    m.name = keep(r);
    return function(r, p, hash_place(id, sizeof id, 4), NULL, &m);
}

/* --- places ----------------------------------------------------------------------------------- */

static void resolve_place(struct resolver *r, struct symbol_source *s, const struct native_place *p,
                          struct symbols_module *out)
{
    struct code_lines_place chain[CODE_LINES_DEPTH] = {{.source = ""}};
    const struct symtab_entry *symbol = symtab_find(&s->symtab, p->address);
    size_t n = code_lines_find(&s->lines, p->address, chain);
    uint32_t first = natives_frames(&r->natives);
    for (size_t i = 0; i + 1 < n; i++)
        natives_put(&r->natives, inlined(r, p, &chain[i]), chain[i].line);
    const struct code_lines_place *last = &chain[n ? n - 1 : 0];
    natives_put(&r->natives, outermost(r, p, symbol, last), last->line);
    natives_end(&r->natives, p, first);
    out->places++;
    out->named += symbol != NULL;
}

/* places[from .. to) are of one file. */
static int resolve_file(struct resolver *r, size_t from, size_t to, struct err *err)
{
    struct symbol_source s;
    struct symbols_module *out = &r->modules[r->n_modules++];
    *out = (struct symbols_module){
        .module = trace_module(r->t, (module_id){r->natives.places[from].group}),
        .from = "",
        .why = "",
        .remedy = ""};
    map_init(&r->functions);
    symbol_source_init(&s);
    for (size_t i = from; i < to; i++)
        symtab_want(&s.symtab, r->natives.places[i].address);
    int rc = r->budget ? symbol_source_open(&s, r->t, r->o, out, err)
                       : symbol_source_none(r->t, out,
                                            "the trace names more files of native code than are "
                                            "read for one of its length");
    r->budget -= min_u64(r->budget, SYMBOLS_FILE + s.symtab.n);
    for (size_t i = from; i < to && rc == 0; i++)
        resolve_place(r, &s, &r->natives.places[i], out);
    symbol_source_close(&s);
    map_fini(&r->functions);
    return rc;
}

/* Code that is in no file stays an address of the process: places[0 .. to). */
static void keep_nowhere(struct resolver *r, size_t to)
{
    static const struct code_lines_place unknown = {.source = ""};
    map_init(&r->functions);
    for (size_t i = 0; i < to; i++) {
        const struct native_place *p = &r->natives.places[i];
        uint32_t first = natives_frames(&r->natives);
        natives_put(&r->natives, outermost(r, p, NULL, &unknown), 0);
        natives_end(&r->natives, p, first);
    }
    map_fini(&r->functions);
    r->nowhere = (uint32_t)to;
}

static int resolve(struct resolver *r, struct err *err)
{
    const struct natives *v = &r->natives;
    size_t files = 0;
    for (size_t i = 0; i < v->n; i++)
        files += v->places[i].group && (i == 0 || v->places[i].group != v->places[i - 1].group);
    r->modules = arena_alloc(&r->t->arena, (files + 1) * sizeof *r->modules);
    if (!r->modules)
        return err_set(err, -ENOMEM, "out of memory");
    for (size_t i = 0, to; i < v->n; i = to) {
        for (to = i; to < v->n && v->places[to].group == v->places[i].group; to++)
            ;
        if (!v->places[i].group)
            keep_nowhere(r, to);
        else
            TRY(resolve_file(r, i, to, err));
    }
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int by_places(const void *x, const void *y)
{
    const struct symbols_module *a = x, *b = y;
    if (a->places != b->places)
        return a->places > b->places ? -1 : 1;
    return strcmp(a->module->path, b->module->path);
}

int symbols_resolve(struct trace *t, const struct symbols_options *o, struct symbols_summary *out,
                    struct err *err)
{
    struct resolver r = {.t = t, .o = o};
    int rc = natives_init(&r.natives, t) < 0 ? err_set(err, -ENOMEM, "out of memory") : 0;
    if (rc == 0 && r.natives.n) {
        int64_t size = fdio_size(t->fd);
        r.budget = o->most + fdio_data_bytes(t->fd, size > 0 ? (uint64_t)size : 0);
        if (same_files_join(&r.natives, o, &r.budget) < 0)
            rc = err_set(err, -ENOMEM, "out of memory");
    }
    if (rc == 0 && r.natives.n) {
        rc = resolve(&r, err);
        if (rc == 0 && (r.oom || natives_apply(&r.natives) < 0))
            rc = err_set(err, -ENOMEM, "out of memory");
    }
    if (rc == 0 && r.n_modules)
        qsort(r.modules, r.n_modules, sizeof *r.modules, by_places);
    if (out)
        *out = (struct symbols_summary){r.modules, rc == 0 ? r.n_modules : 0, r.nowhere};
    natives_fini(&r.natives);
    buf_fini(&r.text);
    return rc < 0 ? err_prefix(err, rc, "%s", t->path) : 0;
}
