#include "classfile/frames.h"

#include "base/util.h"

#include <string.h>

enum {
    MAX_TYPES = 1 << 21, /* per method; javac's largest tables stay below 1 << 19 */
    SAME_1 = 64,
    SAME_1_EXT = 247,
    CHOP_3 = 248,
    SAME_EXT = 251,
    FULL = 255,
};

bool vtype_equal(struct vtype x, struct vtype y)
{
    return x.tag == y.tag && x.data == y.data;
}

bool vtype_is_ref(struct vtype x)
{
    return x.tag == VT_OBJECT || x.tag == VT_NULL || x.tag == VT_PARAM || x.tag == VT_SELF;
}

static uint32_t slots_of(struct vtype x)
{
    return x.tag == VT_LONG || x.tag == VT_DOUBLE ? 2 : 1;
}

static struct vtype *take_types(struct frames *f, uint32_t n, struct arena *a)
{
    if (n > f->types_left)
        return NULL;
    f->types_left -= n;
    return arena_alloc(a, n * sizeof(struct vtype));
}

static int make_initial(struct frames *f, struct arena *a, struct err *err)
{
    static const struct vtype by_kind[128] = {
        ['I'] = {VT_INTEGER, 0}, ['J'] = {VT_LONG, 0},  ['F'] = {VT_FLOAT, 0},
        ['D'] = {VT_DOUBLE, 0},  ['A'] = {VT_PARAM, 0},
    };
    const struct code *code = f->code;
    struct desc d;
    if (!desc_parse(&d, code->m->desc))
        return err_set(err, -EINVAL, "bad descriptor");
    struct vtype *v = take_types(f, d.n + 1, a);
    if (!v)
        return err_set(err, -ENOMEM, "out of memory");
    f->initial.locals = v;
    if (!(code->m->access & CF_ACC_STATIC)) {
        bool uninit =
            cf_text_is(code->m->name, "<init>") && !cf_text_is(code->c->name, "java/lang/Object");
        *v++ = (struct vtype){uninit ? VT_UNINIT_THIS : VT_SELF, 0};
    }
    for (uint32_t i = 0; i < d.n; i++, v++) {
        *v = by_kind[(unsigned char)d.kind[i]];
        v->data = v->tag == VT_PARAM ? d.at[i] : 0;
    }
    f->initial.n_locals = (uint32_t)(v - f->initial.locals);
    return 0;
}

static struct vtype read_type(const struct frames *f, struct be_reader *r)
{
    struct vtype x = {(uint8_t)be_u1(r), 0};
    if (x.tag == VT_OBJECT) {
        x.data = (uint16_t)be_u2(r);
    } else if (x.tag == VT_UNINIT) {
        x.data = (uint16_t)be_u2(r);
        uint32_t i = x.data < f->code->len ? f->code->at[x.data] : CODE_NONE;
        if (i == CODE_NONE || f->code->insns[i].op != OP_NEW)
            r->bad = true;
    } else if (x.tag > VT_UNINIT) {
        r->bad = true;
    }
    return x;
}

/* `keep` elements of old, then n read ones. */
static const struct vtype *read_types(struct frames *f, struct be_reader *r,
                                      const struct vtype *old, uint32_t keep, uint32_t n,
                                      struct arena *a)
{
    struct vtype *v = n <= r->end - r->pos ? take_types(f, keep + n, a) : NULL;
    if (!v) {
        r->bad = true;
        return NULL;
    }
    if (keep)
        memcpy(v, old, keep * sizeof *v);
    for (uint32_t i = 0; i < n; i++)
        v[keep + i] = read_type(f, r);
    return v;
}

/* One entry; its offset_delta.  `to` comes with the locals of the frame before. */
static uint32_t read_frame(struct frames *f, struct be_reader *r, struct frame *to, struct arena *a)
{
    uint32_t type = be_u1(r);
    uint32_t delta = type < SAME_1 ? type : type < 2 * SAME_1 ? type - SAME_1 : be_u2(r);
    to->n_stack = 0;
    if (type == FULL) {
        to->n_locals = be_u2(r);
        to->locals = read_types(f, r, NULL, 0, to->n_locals, a);
        to->n_stack = be_u2(r);
        to->stack = read_types(f, r, NULL, 0, to->n_stack, a);
    } else if (type > SAME_EXT) {
        uint32_t n = type - SAME_EXT;
        to->locals = read_types(f, r, to->locals, to->n_locals, n, a);
        to->n_locals += n;
    } else if (type >= CHOP_3 && type < SAME_EXT) {
        uint32_t n = SAME_EXT - type;
        r->bad |= n > to->n_locals;
        to->n_locals -= r->bad ? 0 : n;
    } else if ((type >= SAME_1 && type < 2 * SAME_1) || type == SAME_1_EXT) {
        to->n_stack = 1;
        to->stack = read_types(f, r, NULL, 0, 1, a);
    } else if (type >= 2 * SAME_1 && type < SAME_1_EXT) {
        r->bad = true; /* reserved */
    }
    return delta;
}

static bool locals_fit(const struct frame *f, uint32_t max)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_locals; i++)
        n += slots_of(f->locals[i]);
    return n <= max;
}

int frames_decode(struct frames *f, struct code *code, const struct cf_attr *attr, struct arena *a,
                  struct err *err)
{
    *f = (struct frames){.code = code, .types_left = MAX_TYPES};
    TRY(make_initial(f, a, err));
    if (!locals_fit(&f->initial, code->max_locals))
        return err_set(err, -EINVAL, "max_locals is less than the parameters take");
    if (!attr->name.p)
        return 0;
    struct be_reader r = cf_reader(code->c, attr->data, attr->end);
    uint32_t n = be_u2(&r);
    if (n > r.end - r.pos)
        return err_set(err, -EINVAL, "StackMapTable: %u frames do not fit", n);
    f->v = arena_alloc(a, n * sizeof *f->v);
    if (!f->v)
        return err_set(err, -ENOMEM, "out of memory");
    struct frame at = f->initial;
    const struct vtype *checked = at.locals;
    uint32_t next = 0;
    for (; f->n < n; f->n++) {
        at.pc = next + read_frame(f, &r, &at, a);
        bool ok = !r.bad && at.pc < code->len && code->at[at.pc] != CODE_NONE &&
                  (at.locals == checked || locals_fit(&at, code->max_locals));
        if (!ok)
            return err_set(err, -EINVAL, "StackMapTable: frame %u is damaged", f->n);
        checked = at.locals;
        code->insns[code->at[at.pc]].has_frame = true;
        next = at.pc + 1;
        f->v[f->n] = at;
    }
    return r.pos == r.end ? 0 : err_set(err, -EINVAL, "StackMapTable: bytes behind the frames");
}

const struct frame *frames_find(const struct frames *f, uint32_t pc)
{
    uint32_t i = 0;
    BISECT(i, f->n, f->v[i].pc < pc);
    return i < f->n && f->v[i].pc == pc ? &f->v[i] : NULL;
}

struct vtype frame_slot(const struct frame *f, uint32_t slot)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < f->n_locals && at <= slot; i++) {
        if (at == slot)
            return f->locals[i];
        at += slots_of(f->locals[i]);
    }
    return (struct vtype){VT_TOP, 0};
}

uint32_t frame_to_slots(const struct frame *f, struct vtype *out, uint32_t max)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n_locals; i++) {
        uint32_t size = slots_of(f->locals[i]);
        if (size > max - n)
            return CODE_NONE;
        out[n++] = f->locals[i];
        if (size == 2)
            out[n++] = (struct vtype){VT_SECOND, 0};
    }
    return n;
}

int frame_from_slots(struct frames *fs, struct frame *f, const struct vtype *slots, uint32_t n,
                     struct arena *a)
{
    while (n && slots[n - 1].tag == VT_TOP)
        n--;
    struct vtype *v = take_types(fs, n, a);
    if (!v)
        return -ENOMEM;
    f->locals = v;
    f->n_locals = 0;
    for (uint32_t i = 0; i < n; i++)
        if (slots[i].tag != VT_SECOND)
            v[f->n_locals++] = slots[i];
    return 0;
}

static void write_type(const struct frames *f, struct vtype x, struct cpool *pool, struct buf *out)
{
    const struct code *code = f->code;
    bool object = x.tag == VT_PARAM || x.tag == VT_SELF;
    be_put1(out, object ? VT_OBJECT : x.tag);
    if (x.tag == VT_OBJECT)
        be_put2(out, x.data);
    else if (x.tag == VT_UNINIT)
        be_put2(out, code->insns[code->at[x.data]].off_insn);
    else if (object) {
        struct cf_text t = x.tag == VT_SELF ? code->c->name : desc_class(code->m->desc, x.data);
        be_put2(out, cpool_class(pool, t.p, t.len));
    }
}

static void write_types(const struct frames *f, const struct vtype *v, uint32_t n,
                        struct cpool *pool, struct buf *out)
{
    for (uint32_t i = 0; i < n; i++)
        write_type(f, v[i], pool, out);
}

/* How many leading locals the two have in common. */
static uint32_t common_locals(const struct frame *x, const struct frame *y)
{
    uint32_t n = x->n_locals < y->n_locals ? x->n_locals : y->n_locals, i = 0;
    if (x->locals == y->locals)
        return n;
    while (i < n && vtype_equal(x->locals[i], y->locals[i]))
        i++;
    return i;
}

static void write_frame(const struct frames *fs, const struct frame *prev, const struct frame *f,
                        uint32_t delta, struct cpool *pool, struct buf *out)
{
    uint32_t common = common_locals(prev, f);
    bool same = common == f->n_locals && common == prev->n_locals;
    uint32_t chop = common == f->n_locals ? prev->n_locals - common : 0;
    uint32_t append = common == prev->n_locals ? f->n_locals - common : 0;
    if (same && f->n_stack < 2 && delta < SAME_1) {
        be_put1(out, delta + (f->n_stack ? SAME_1 : 0));
        write_types(fs, f->stack, f->n_stack, pool, out);
    } else if (same && f->n_stack < 2) {
        be_put1(out, f->n_stack ? SAME_1_EXT : SAME_EXT);
        be_put2(out, delta);
        write_types(fs, f->stack, f->n_stack, pool, out);
    } else if (f->n_stack == 0 && chop >= 1 && chop <= 3) {
        be_put1(out, SAME_EXT - chop);
        be_put2(out, delta);
    } else if (f->n_stack == 0 && append >= 1 && append <= 3) {
        be_put1(out, SAME_EXT + append);
        be_put2(out, delta);
        write_types(fs, f->locals + common, append, pool, out);
    } else {
        be_put1(out, FULL);
        be_put2(out, delta);
        be_put2(out, f->n_locals);
        write_types(fs, f->locals, f->n_locals, pool, out);
        be_put2(out, f->n_stack);
        write_types(fs, f->stack, f->n_stack, pool, out);
    }
}

int frames_encode(const struct frames *f, const struct frame *v, uint32_t n, struct cpool *pool,
                  struct buf *out)
{
    if (n > UINT16_MAX)
        return -ENOSPC;
    const struct frame *prev = &f->initial;
    be_put2(out, n);
    for (uint32_t i = 0; i < n; i++) {
        write_frame(f, prev, &v[i], i ? v[i].off - v[i - 1].off - 1 : v[i].off, pool, out);
        prev = &v[i];
    }
    return 0;
}
