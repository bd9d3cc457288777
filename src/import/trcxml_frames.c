#include "import/trcxml_frames.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

void trcxml_frames_init(struct trcxml_frames *f, struct intake *in)
{
    memset(f, 0, sizeof *f);
    f->in = in;
}

void trcxml_frames_fini(struct trcxml_frames *f)
{
    digest_fini(&f->classes);
    digest_fini(&f->methods);
    digest_fini(&f->texts);
    map_fini(&f->class_ids);
    buf_fini(&f->of_method);
    buf_fini(&f->frames);
    buf_fini(&f->scratch);
    buf_fini(&f->key);
    memset(f, 0, sizeof *f);
}

static int out_of_memory(const struct trcxml_frames *f, struct err *err)
{
    return err_set(err, -ENOMEM, "%s: out of memory", f->in->name);
}

static struct str str(const char *s)
{
    return (struct str){s, strlen(s)};
}

/* --- tables by number, whose entries are made in order ---------------------------------------- */

static void *at(const struct buf *table, size_t size, uint32_t i)
{
    return table->p + (size_t)i * size;
}

/* The entry of a new number: [0] and it, zeroed, are there afterwards.  NULL: memory is out. */
static void *grow(struct buf *table, size_t size, uint32_t i)
{
    size_t need = ((size_t)i + 1) * size, have = table->len;
    if (need > have) {
        uint8_t *p = buf_reserve(table, need - have);
        if (!p)
            return NULL;
        memset(p, 0, need - have);
        table->len = need;
    }
    return at(table, size, i);
}

/* --- classes ---------------------------------------------------------------------------------- */

/* Ldemo/Lock; of demo/Lock - an array's name is its signature. */
static const char *signature_of(struct trcxml_frames *f, const char *name)
{
    size_t n = strlen(name);
    if (name[0] == '[' || (name[0] == 'L' && name[n - 1] == ';'))
        return name;
    buf_clear(&f->scratch);
    buf_printf(&f->scratch, "L%s;", name);
    return buf_str(&f->scratch);
}

static int put_class(struct trcxml_frames *f, class_id id, const char *signature,
                     const char *source, struct err *err)
{
    struct def d = {.kind = DEF_class,
                    .class = {.id = id, .signature = str(signature), .source = str(source)}};
    return intake_def(f->in, &d, err);
}

/* Classes of one name and different sources are different ones, from several class loaders; a class
 * whose source is not known is one more. */
static int class_of_signature(struct trcxml_frames *f, const char *signature, const char *source,
                              class_id *id, struct err *err)
{
    bool fresh;
    struct buf *both = &f->key;
    buf_clear(both);
    buf_puts(both, signature);
    buf_putc(both, 0);
    buf_puts(both, source);
    id->v = both->oom ? 0 : digest_get(&f->classes, both->p, both->len, &fresh);
    if (id->v == 0)
        return out_of_memory(f, err);
    return fresh ? put_class(f, *id, signature, source, err) : 0;
}

int trcxml_class(struct trcxml_frames *f, const char *name, const char *source, class_id *id,
                 struct err *err)
{
    id->v = 0;
    if (!*name || strcmp(name, "?") == 0)
        return 0;
    const char *signature = signature_of(f, name);
    return f->scratch.oom ? out_of_memory(f, err)
                          : class_of_signature(f, signature, source, id, err);
}

int trcxml_define_class(struct trcxml_frames *f, struct trcxml_id id, const char *name,
                        const char *source, bool dots, struct err *err)
{
    class_id class_;
    struct buf internal = {0};
    buf_puts(&internal, name);
    buf_str(&internal);
    if (internal.oom)
        return out_of_memory(f, err);
    dots = dots && !strchr(name, '/');
    for (char *p = (char *)internal.p; *p && dots; p++)
        if (*p == '.')
            *p = '/';
    int rc = trcxml_class(f, (char *)internal.p, source, &class_, err);
    buf_fini(&internal);
    uint64_t *slot = rc == 0 && id.key ? map_put(&f->class_ids, id.key) : NULL;
    if (rc == 0 && id.key && !slot)
        return out_of_memory(f, err);
    if (slot)
        *slot = class_.v;
    return rc;
}

class_id trcxml_class_of(const struct trcxml_frames *f, struct trcxml_id id)
{
    const uint64_t *slot = map_find(&f->class_ids, id.key);
    return (class_id){slot ? (uint32_t)*slot : 0};
}

/* --- methods ---------------------------------------------------------------------------------- */

/* TPTP writes <init> as -init-. */
static struct text real_name(struct text name)
{
    static const char *const names[][2] = {{"-init-", "<init>"}, {"-clinit-", "<clinit>"}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (name.len == strlen(names[i][0]) && memcmp(name.p, names[i][0], name.len) == 0)
            return (struct text){names[i][1], name.len};
    return name;
}

struct method_key {
    class_id class_;
    struct text name;      /* as in the file */
    const char *signature; /* "" of those in frames */
};

static int get_method(struct trcxml_frames *f, const struct method_key *key, method_id *id,
                      struct err *err)
{
    bool fresh;
    buf_clear(&f->scratch);
    buf_put(&f->scratch, &key->class_.v, sizeof key->class_.v);
    buf_put(&f->scratch, key->name.p, key->name.len);
    buf_putc(&f->scratch, 0);
    buf_puts(&f->scratch, key->signature);
    id->v = f->scratch.oom ? 0 : digest_get(&f->methods, f->scratch.p, f->scratch.len, &fresh);
    struct trcxml_method *m = id->v ? grow(&f->of_method, sizeof *m, id->v) : NULL;
    if (!m)
        return out_of_memory(f, err);
    if (!fresh)
        return 0;
    m->class_ = key->class_;
    return intake_keep(f->in, real_name(key->name), &m->name, err);
}

static int put_method(struct trcxml_frames *f, method_id id, const char *signature,
                      struct packed lines, struct err *err)
{
    const struct trcxml_method *m = at(&f->of_method, sizeof *m, id.v);
    struct def d = {.kind = DEF_method,
                    .method = {.id = id,
                               .class_ = m->class_,
                               .name = {m->name.p, m->name.len},
                               .signature = str(signature),
                               .flags = m->is_native ? METHOD_NATIVE : 0,
                               .lines = lines}};
    return intake_def(f->in, &d, err);
}

int trcxml_define_method(struct trcxml_frames *f, class_id class_, const char *name,
                         const char *signature, int32_t line, struct err *err)
{
    method_id id;
    if (!*signature) /* such are the methods of frames */
        return 0;
    const struct method_key key = {class_, {name, strlen(name)}, signature};
    TRY(get_method(f, &key, &id, err));
    struct trcxml_method *m = at(&f->of_method, sizeof *m, id.v);
    if (m->is_defined)
        return 0;
    m->is_defined = true;
    struct buf lines = {0};
    if (line >= 0)
        packed_put_line(&lines, 0, (uint32_t)line, 0, 0);
    int rc = lines.oom ? out_of_memory(f, err)
                       : put_method(f, id, signature,
                                    (struct packed){lines.p, lines.len, line >= 0}, err);
    buf_fini(&lines);
    return rc;
}

/* --- frames ----------------------------------------------------------------------------------- */

struct frame_parts {
    struct text class_, method, source;
    int32_t line; /* -1: not known */
    bool is_native;
};

static struct text text_between(const char *from, const char *to)
{
    return (struct text){from, (size_t)(to - from)};
}

static bool text_is(struct text t, const char *s)
{
    return t.len == strlen(s) && memcmp(t.p, s, t.len) == 0;
}

/* What is between the brackets: native, Order.java:31, Order.java, ?:31, ? */
static void take_source(struct frame_parts *p, struct text in)
{
    enum { DIGITS_MAX = 7 };
    const char *end = in.p + in.len, *digits = end;
    p->is_native = text_is(in, "native");
    p->source = p->is_native ? (struct text){"", 0} : in;
    p->line = -1;
    while (digits > in.p && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    if (digits > in.p && digits < end && end - digits <= DIGITS_MAX && digits[-1] == ':') {
        p->source = text_between(in.p, digits - 1);
        p->line = 0;
        for (const char *d = digits; d < end; d++)
            p->line = p->line * 10 + (*d - '0');
    }
    if (text_is(p->source, "?"))
        p->source.len = 0;
}

/* Names of methods have no '.', but may have a '(': the last one belongs to the source. */
static bool take_apart(struct text text, struct frame_parts *p)
{
    const char *end = text.p + text.len;
    if (text.len == 0 || end[-1] != ')')
        return false;
    const char *open = memrchr(text.p, '(', text.len);
    const char *dot = open ? memrchr(text.p, '.', (size_t)(open - text.p)) : NULL;
    if (!dot || dot == text.p || dot + 1 == open)
        return false;
    p->class_ = text_between(text.p, dot);
    p->method = text_between(dot + 1, open);
    take_source(p, text_between(open + 1, end - 1));
    return true;
}

static enum frame_use use_of(const struct frame_parts *p)
{
    if (text_is(p->class_, "java/lang/Object"))
        return FRAME_OBJECT;
    return text_is(p->class_, "java/lang/Thread") && text_is(p->method, "join") ? FRAME_JOIN
                                                                                : FRAME_OTHER;
}

static int make_frame(struct trcxml_frames *f, const struct frame_parts *p,
                      struct trcxml_frame *frame, struct err *err)
{
    class_id class_;
    struct buf texts = {0};
    buf_put(&texts, p->class_.p, p->class_.len);
    buf_putc(&texts, 0);
    buf_put(&texts, p->source.p, p->source.len);
    buf_putc(&texts, 0);
    const char *name = (const char *)texts.p;
    int rc = texts.oom ? out_of_memory(f, err)
                       : trcxml_class(f, name, name + p->class_.len + 1, &class_, err);
    buf_fini(&texts);
    TRY(rc);
    TRY(get_method(f, &(struct method_key){class_, p->method, ""}, &frame->method, err));
    struct trcxml_method *m = at(&f->of_method, sizeof *m, frame->method.v);
    m->is_native |= p->is_native;
    frame->bci = p->is_native ? -1 : 0;
    if (p->line >= 0 && m->n_lines < FRAME_LINES_MAX) {
        m->n_lines++;
        frame->bci = p->line + 1;
    }
    frame->use = (uint8_t)use_of(p);
    return 0;
}

/* 1 and the frame of a text; 0: it is none. */
static int get_frame(struct trcxml_frames *f, const char *text, struct trcxml_frame *frame,
                     struct err *err)
{
    struct text t = {text, strlen(text)};
    bool fresh;
    struct frame_parts parts;
    uint32_t number = digest_get(&f->texts, t.p, t.len, &fresh);
    struct trcxml_frame *known = number ? grow(&f->frames, sizeof *known, number) : NULL;
    if (!known)
        return out_of_memory(f, err);
    if (fresh && take_apart(t, &parts))
        TRY(make_frame(f, &parts, known, err));
    *frame = *known;
    return known->method.v != 0;
}

/* --- stacks ----------------------------------------------------------------------------------- */

static uint8_t next_top(uint8_t top, uint8_t use)
{
    if (top != TOP_NONE && top != TOP_OBJECT)
        return top;
    if (use == FRAME_OBJECT)
        return TOP_OBJECT;
    return top == TOP_OBJECT && use != FRAME_JOIN ? TOP_WAIT : TOP_UNKNOWN;
}

void trcxml_stack_clear(struct trcxml_stack *s)
{
    buf_clear(&s->packed);
    s->n = 0;
    s->truncated = false;
    s->top = TOP_NONE;
}

int trcxml_stack_add(struct trcxml_frames *f, struct trcxml_stack *s, const char *text,
                     struct err *err)
{
    enum { FRAME_BYTES = 2 * VARINT_MAX, ROOM = WRITER_DEF_MAX - 64 };
    struct trcxml_frame frame = {.bci = 0};
    if (s->packed.len + FRAME_BYTES > ROOM)
        s->truncated = true;
    if (s->truncated)
        return 1;
    int known = get_frame(f, text, &frame, err);
    TRY(known);
    packed_put_frame(&s->packed, frame.method, frame.bci);
    s->n++;
    s->top = next_top(s->top, frame.use);
    return s->packed.oom ? out_of_memory(f, err) : known;
}

int trcxml_stack_take(struct trcxml_frames *f, struct trcxml_stack *s, stack_id *id,
                      struct err *err)
{
    struct packed frames = {s->packed.p, s->packed.len, s->n};
    int rc = intake_stack(f->in, &frames, s->truncated ? STACK_TRUNCATED : 0, id, err);
    trcxml_stack_clear(s);
    return rc;
}

/* --- the end ---------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Where lines are, sorted: method id, bci. */
static int collect_lines(struct trcxml_frames *f, struct buf *out)
{
    const struct trcxml_frame *v = (const void *)f->frames.p;
    size_t n = f->frames.len / sizeof *v;
    for (size_t i = 1; i < n; i++) {
        uint64_t place = (uint64_t)v[i].method.v << 32 | (uint32_t)v[i].bci;
        if (v[i].method.v && v[i].bci > 0)
            buf_put(out, &place, sizeof place);
    }
    if (out->oom)
        return -ENOMEM;
    if (out->len)
        qsort(out->p, out->len / sizeof(uint64_t), sizeof(uint64_t), by_value);
    return 0;
}

/* The line table of one method, from the i-th place on, which moves behind it. */
static struct packed pack_lines(struct buf *packed, uint32_t method, const struct buf *places,
                                size_t *i)
{
    const uint64_t *place = (const void *)places->p;
    uint32_t n = 0, last = 0;
    buf_clear(packed);
    for (; *i < places->len / sizeof *place && place[*i] >> 32 == method; ++*i) {
        uint32_t bci = (uint32_t)place[*i];
        if (bci == last)
            continue;
        packed_put_line(packed, bci, bci - 1, last, last ? last - 1 : 0);
        last = bci;
        n++;
    }
    return (struct packed){packed->p, packed->len, n};
}

static int put_methods(struct trcxml_frames *f, const struct buf *places, struct buf *packed,
                       struct err *err)
{
    size_t place = 0;
    for (uint32_t i = 1; i <= f->methods.count; i++) {
        const struct trcxml_method *m = at(&f->of_method, sizeof *m, i);
        struct packed lines = pack_lines(packed, i, places, &place);
        if (packed->oom)
            return out_of_memory(f, err);
        if (!m->is_defined)
            TRY(put_method(f, (method_id){i}, "", lines, err));
    }
    return 0;
}

int trcxml_frames_finish(struct trcxml_frames *f, struct err *err)
{
    struct buf places = {0}, packed = {0};
    int rc = collect_lines(f, &places);
    rc = rc < 0 ? out_of_memory(f, err) : put_methods(f, &places, &packed, err);
    buf_fini(&places);
    buf_fini(&packed);
    return rc;
}
