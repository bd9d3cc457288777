/* heap_ask.c - a question's parameters: each one is checked before anything is made for it. */
#include "view/heap_parts.h"

#include "base/util.h"

#include <inttypes.h>
#include <string.h>

enum { TEXT_MAX = 256 };

static const struct param {
    const char *name, *may_be;
    uint64_t max;  /* of numbers */
    unsigned base; /* 0: a text */
} params[HEAP_PARAMS] = {
    [HEAP_OBJECT] = {"object", "the number of an object", UINT32_MAX, 10},
    [HEAP_ID] = {"id", "the id of an object: 0x7ff2a310", UINT64_MAX, 16},
    [HEAP_CLASS] = {"class", "the number of a class", UINT32_MAX, 10},
    [HEAP_THREAD] = {"thread", "the number of a thread", UINT32_MAX, 10},
    [HEAP_OFFSET] = {"offset", "a whole number less than 2^32", UINT32_MAX, 10},
    [HEAP_TOP] = {"top", "a number of rows", HEAP_CLASSES_MAX, 10},
    [HEAP_PARTS] = {"parts", "1 to 4096", HEAP_PARTS_MAX, 10},
    [HEAP_MATCH] = {"match", "1 to 256 bytes", TEXT_MAX, 0},
};

static int digit_of(char c, unsigned base)
{
    int v = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : 99;
    return v < (int)base ? v : -1;
}

static bool read_number(const struct param *p, const char *text, uint64_t *out)
{
    if (p->base == 16 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        text += 2;
    *out = 0;
    for (const char *at = text; *at; at++) {
        int digit = digit_of(*at, p->base);
        if (digit < 0 || __builtin_mul_overflow(*out, p->base, out) ||
            __builtin_add_overflow(*out, (uint64_t)digit, out) || *out > p->max)
            return false;
    }
    return *text != 0;
}

static int take_object(struct heap_ask *a, uint64_t number, struct err *err)
{
    if (number >= a->h->d->n_objects)
        return err_set(err, -ENOENT,
                       "object=%" PRIu64 ": there is no such object; their numbers are less "
                       "than %" PRIu32,
                       number, a->h->d->n_objects);
    a->object = (uint32_t)number;
    return 0;
}

static int take_id(struct heap_ask *a, uint64_t id, struct err *err)
{
    a->object = ids_find(&a->h->d->ids, id);
    return a->object == IDS_NONE
               ? err_set(err, -ENOENT, "id=0x%" PRIx64 ": the dump has no object of this id", id)
               : 0;
}

static int take_class(struct heap_ask *a, uint64_t number, struct err *err)
{
    if (number >= a->h->d->n_classes)
        return err_set(err, -ENOENT,
                       "class=%" PRIu64 ": there is no such class; their numbers are less "
                       "than %" PRIu32,
                       number, a->h->d->n_classes);
    a->class_number = (uint32_t)number;
    return 0;
}

static int take_thread(struct heap_ask *a, uint64_t number, struct err *err)
{
    if (number >= a->h->threads.n)
        return err_set(err, -ENOENT,
                       "thread=%" PRIu64 ": there is no such thread; their numbers are less "
                       "than %zu",
                       number, a->h->threads.n);
    a->thread = (uint32_t)number;
    return 0;
}

/* Objects and classes can be named once they are known: what needs them says so (needs). */
static int take(struct heap_ask *a, enum heap_param which, const char *value, struct err *err)
{
    const struct param *p = &params[which];
    size_t len = strlen(value);
    uint64_t v = 0;
    if (p->base ? !read_number(p, value, &v) : len == 0 || len > p->max)
        return err_set(err, -EINVAL, "%s=%.60s: expected %s", p->name, value, p->may_be);
    switch (which) {
    case HEAP_OBJECT:
        return take_object(a, v, err);
    case HEAP_ID:
        return take_id(a, v, err);
    case HEAP_CLASS:
        return take_class(a, v, err);
    case HEAP_THREAD:
        return take_thread(a, v, err);
    case HEAP_OFFSET:
        a->offset = v;
        return 0;
    case HEAP_TOP:
        a->top = v;
        return 0;
    case HEAP_PARTS:
        a->parts = v ? v : 1;
        return 0;
    default:
        a->match = value;
        return 0;
    }
}

static int find_param(const char *name, uint32_t takes, struct err *err)
{
    struct buf names = {0};
    for (int i = 0; i < HEAP_PARAMS; i++) {
        if (!(takes >> i & 1))
            continue;
        if (strcmp(params[i].name, name) == 0) {
            buf_fini(&names);
            return i;
        }
        buf_printf(&names, "%s%s", names.len ? ", " : "", params[i].name);
    }
    err_set(err, -EINVAL, "parameter '%.40s' is unknown; known are: %s", name,
            names.len ? buf_str(&names) : "none");
    buf_fini(&names);
    return -EINVAL;
}

static int take_all(struct heap_ask *a, const struct view_question *q, uint32_t takes,
                    struct err *err)
{
    for (size_t i = 0; i < q->n; i++) {
        int which = find_param(q->v[i].name, takes, err);
        TRY(which);
        if (a->given >> which & 1)
            return err_set(err, -EINVAL, "parameter '%s' is given twice", params[which].name);
        a->given |= UINT32_C(1) << which;
        TRY(take(a, (enum heap_param)which, q->v[i].value, err));
    }
    return 0;
}

int heap_ask_init(struct heap_ask *a, const struct view_question *q, uint32_t takes, uint32_t needs,
                  struct err *err)
{
    const uint32_t objects = HEAP_ASK(OBJECT) | HEAP_ASK(ID);
    a->object = a->class_number = DUMP_NONE;
    a->top = HEAP_TOP_DEFAULT;
    a->parts = HEAP_PARTS_DEFAULT;
    TRY(take_all(a, q, takes, err));
    if ((a->given & objects) == objects)
        return err_set(err, -EINVAL, "object and id: name an object by one of both");
    if ((needs & objects) && !(a->given & objects))
        return err_set(err, -EINVAL, "say which object: object=17 or id=0x7ff2a310");
    if (needs & HEAP_ASK(CLASS) & ~a->given)
        return err_set(err, -EINVAL, "say which class: class=3");
    if (needs & HEAP_ASK(THREAD) & ~a->given)
        return err_set(err, -EINVAL, "say which thread: thread=3");
    if (a->stage < HEAP_SIZED)
        return 0;
    TRY(object_reader_open(&a->reader, &a->h->retained.objects, err));
    a->has_reader = true;
    return 0;
}

void heap_ask_fini(struct heap_ask *a)
{
    if (a->has_reader)
        object_reader_close(&a->reader);
}
