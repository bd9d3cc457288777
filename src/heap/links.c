#include "heap/links.h"

#include "base/util.h"
#include "heap/threads.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_MOST = 60, ELEMENTS = 65536 };

const char links_local[] = "a local ";

static void put_text(struct object_reader *r, const struct object *x, struct buf *into)
{
    const struct dump *d = r->o->d;
    uint32_t object = x->number;
    struct buf text = {0};
    int64_t n = -1;
    if (x->c && x->c->number == d->string_class) {
        n = object_string(r, object, &text, TEXT_MOST);
    } else if (x->c && dump_class_is(d, x->c, "java.lang.Thread")) {
        threads_name(r, object, &text);
        n = (int64_t)text.len ? 0 : -1;
    }
    if (n >= 0)
        buf_printf(into, " \"%s%s\"", buf_str(&text), n > TEXT_MOST ? "..." : "");
    buf_fini(&text);
}

int links_describe(struct object_reader *r, uint32_t object, struct buf *into)
{
    const struct dump *d = r->o->d;
    struct object x;
    TRY(object_read(r, object, &x, NULL));
    const char *name = x.c ? x.c->name : "(unknown class)";
    size_t len = strlen(name);
    const struct dump_class *own;
    switch (x.item.tag) {
    case HPROF_CLASS:
        own = dump_class_by_id(d, x.item.id);
        buf_printf(into, "class %s", own ? own->name : "?");
        break;
    case HPROF_OBJECT_ARRAY:
    case HPROF_PRIMITIVE_ARRAY:
        if (d->stated) { /* how long it is, is not known */
            buf_puts(into, name);
            break;
        }
        len -= len > 2 && strcmp(name + len - 2, "[]") == 0 ? 2 : 0;
        buf_printf(into, "%.*s[%" PRIu32 "]", (int)len, name, x.item.n);
        break;
    default:
        buf_puts(into, name);
        put_text(r, &x, into);
        break;
    }
    return into->oom ? -ENOMEM : 0;
}

static bool field_name(const struct object_reader *r, const struct object *x, uint64_t to,
                       struct buf *into)
{
    struct dump_field_walk w = {.c = x->c};
    while (dump_field_next(r->o->d, &w)) {
        uint32_t id = r->o->d->id_size;
        if (w.field->type != HPROF_OBJECT || w.at + id > x->fields_len ||
            hprof_id(x->fields + w.at, id) != to)
            continue;
        buf_printf(into, ".%s", w.field->name);
        return true;
    }
    return false;
}

static bool element_index(struct object_reader *r, const struct object *x, uint64_t to,
                          struct buf *into)
{
    const uint8_t *p;
    uint32_t id = r->o->d->id_size;
    for (uint64_t first = 0; first < x->item.n; first += ELEMENTS) {
        int64_t n = object_elements(r, x, first, ELEMENTS, &p);
        if (n <= 0)
            return false;
        for (int64_t i = 0; i < n; i++)
            if (hprof_id(p + (size_t)i * id, id) == to) {
                buf_printf(into, "[%" PRIu64 "]", first + (uint64_t)i);
                return true;
            }
    }
    return false;
}

static bool static_name(const struct dump *d, const struct object *x, uint64_t to, struct buf *into)
{
    const struct dump_class *c = dump_class_by_id(d, x->item.id);
    for (uint32_t i = 0; c && i < c->n_statics; i++)
        if (c->statics[i].type == HPROF_OBJECT && c->statics[i].value == to) {
            buf_printf(into, "static %s", c->statics[i].name);
            return true;
        }
    if (c && (c->loader == to || c->signers == to || c->domain == to)) {
        buf_puts(into, c->loader == to    ? "its class loader"
                       : c->signers == to ? "its signers"
                                          : "its protection domain");
        return true;
    }
    return false;
}

/* Of several frames the outermost: it keeps the object longest. */
static bool local_name(const struct dump *d, uint64_t thread, uint64_t to, struct buf *into)
{
    const struct dump_trace *trace = NULL;
    uint32_t depth = 0;
    bool found = false;
    size_t i = 0;
    BISECT(i, d->n_roots, d->roots[i].id < to);
    for (; i < d->n_roots && d->roots[i].id == to; i++) {
        const struct dump_root *root = &d->roots[i];
        const struct dump_thread *t = dump_thread_by_serial(d, root->thread);
        if (!t || t->id != thread)
            continue;
        const struct dump_trace *of = t->trace == DUMP_NONE ? NULL : &d->traces[t->trace];
        found = true;
        if (of && root->kind == HPROF_ROOT_JAVA_FRAME && root->depth < of->n_frames &&
            root->depth >= depth) {
            trace = of;
            depth = root->depth;
        }
    }
    if (found)
        buf_printf(into, "%s%s", links_local, trace ? "in " : "of the thread");
    if (trace)
        threads_put_frame(d, trace, depth, into);
    return found;
}

int links_name(struct object_reader *r, uint32_t from, uint32_t to, struct buf *into)
{
    const struct dump *d = r->o->d;
    uint64_t id = ids_at(&d->ids, to);
    struct object x;
    TRY(object_read(r, from, &x, NULL));
    bool found = x.item.tag == HPROF_INSTANCE       ? field_name(r, &x, id, into)
                 : x.item.tag == HPROF_OBJECT_ARRAY ? element_index(r, &x, id, into)
                 : x.item.tag == HPROF_CLASS        ? static_name(d, &x, id, into)
                                                    : false;
    if (!found && x.c && x.c->id == id)
        buf_puts(into, "its class");
    else if (!found && !local_name(d, x.item.id, id, into))
        buf_puts(into, dump_class_by_id(d, id) ? "a class of it" : "?");
    return into->oom ? -ENOMEM : 0;
}
