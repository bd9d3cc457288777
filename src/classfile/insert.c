/* insert.c - which inserted code goes where: for each instruction the edits that are about it.
 *
 * Code before an instruction and code after it net nothing on the operand stack.  Locals behind
 * `temps` are free at every site: nothing lives in them longer than from a site's first inserted
 * instruction to its last.
 *
 * Structured locking.  A probe can fail (StackOverflowError), and then the monitor must be
 * released.  After monitorenter its call therefore stands where the region of the releasing handler
 * starts; before monitorexit it stands inside of that region, which javac extends over the
 * monitorexit.  Where the original has no such region the call gets a handler of its own, which
 * releases the monitor and rethrows; and so it does in the releasing handler itself, which covers
 * itself: there a probe that fails would be run again for ever. */
#include "classfile/rewrite.h"

#include <string.h>

enum { MAX_INSERTED = 65535 };

static void begin(struct rewrite *w, struct code_piece *piece, int depth)
{
    piece->at = (uint32_t)w->inserted.len;
    w->emit.depth = w->emit.peak = depth;
}

static void end(struct rewrite *w, struct code_piece *piece, int *peak)
{
    piece->len = (uint32_t)w->inserted.len - piece->at;
    if (w->emit.peak > *peak)
        *peak = w->emit.peak;
    if (w->max_locals < w->temps)
        w->max_locals = w->temps;
}

static struct site site_at(const struct rewrite *w, uint32_t insn)
{
    return (struct site){
        .insn = insn,
        .top = CF_N_SOURCES,
        .object = CODE_NONE,
        .temp = w->temps,
        .ready = insn == CODE_NONE || w->code.insns[insn].this_state == CODE_THIS_READY,
    };
}

static bool has_edit(const struct rewrite *w, enum cf_point at)
{
    for (uint32_t i = 0; i < w->n_edits; i++)
        if (w->edits[i].at == at)
            return true;
    return false;
}

/* All probes for a point that is not at a call. */
static void emit_point(struct rewrite *w, enum cf_point at, struct site *s)
{
    for (uint32_t i = 0; i < w->n_edits; i++)
        if (w->edits[i].at == at)
            probe_emit(w, i, s);
}

/* Keep the reference on top of the stack in a local of the site. */
static void save_object(struct rewrite *w, struct site *s)
{
    s->object = s->temp++;
    emit_dup(&w->emit, 'A');
    emit_store(&w->emit, 'A', s->object);
    if (w->max_locals < s->temp)
        w->max_locals = s->temp;
}

static void entry(struct rewrite *w)
{
    struct code_insn *in = &w->code.insns[0];
    struct site s = site_at(w, CODE_NONE);
    s.at_entry = true;
    s.ready = !w->is_ctor;
    begin(w, &in->after, 0);
    keep_emit(w);
    emit_point(w, CF_AT_ENTRY, &s);
    end(w, &in->after, &w->peak_alone); /* the stack is empty at entry */
    in->side = CODE_ALONE;
}

/* No probe here, because it would be run again when it fails, and again.  At monitorexit a handler
 * of its own sees to that. */
static bool is_left(struct rewrite *w, uint32_t insn)
{
    bool left = protect_retries(w, insn);
    w->left[CF_LEFT_RETRY] += left;
    return left;
}

static void at_return(struct rewrite *w, uint32_t insn)
{
    if (!has_edit(w, CF_AT_RETURN) || is_left(w, insn))
        return;
    struct site s = site_at(w, insn);
    s.top = CF_ARG_RESULT;
    s.top_kind = w->desc.result; /* V: no argument has that kind */
    begin(w, &w->code.insns[insn].before, 0);
    emit_point(w, CF_AT_RETURN, &s);
    end(w, &w->code.insns[insn].before, &w->peak_above);
}

static void at_array(struct rewrite *w, uint32_t insn)
{
    struct code_insn *next = &w->code.insns[insn + 1];
    struct site s = site_at(w, insn);
    if (!has_edit(w, CF_AFTER_NEW_ARRAY) || is_left(w, insn))
        return;
    s.top = CF_ARG_OBJECT;
    s.top_kind = 'A';
    begin(w, &next->after, 0);
    emit_point(w, CF_AFTER_NEW_ARRAY, &s);
    end(w, &next->after, &w->peak_above);
}

/* A handler that releases the monitor in s->object and rethrows.  As javac's it covers itself: an
 * exception from outside of the thread may come before the monitor is released. */
static int add_release(struct rewrite *w, const struct site *s, const struct added_handler *like)
{
    struct added_handler *h = protect_add(w);
    if (!h)
        return -ENOMEM;
    *h = *like;
    h->insn = s->insn;
    begin(w, &h->bytes, 1);
    emit_load(&w->emit, 'A', s->object);
    emit_op(&w->emit, OP_MONITOREXIT, -1);
    h->again = (uint32_t)w->inserted.len - h->bytes.at;
    emit_op(&w->emit, OP_ATHROW, -1);
    end(w, &h->bytes, &w->peak_alone);
    return 0;
}

static int at_enter(struct rewrite *w, uint32_t insn)
{
    struct code_insn *in = &w->code.insns[insn];
    struct site s = site_at(w, insn);
    struct added_handler release = {.part = ADDED_AFTER};
    bool after = has_edit(w, CF_AFTER_ENTER);
    if ((!after && !has_edit(w, CF_BEFORE_ENTER)) || is_left(w, insn))
        return 0;
    uint32_t region = after ? protect_region(w, insn) : CODE_NONE;
    bool own = after && region == CODE_NONE;
    if (own && !protect_frame(w, insn, s.temp, &release.frame)) {
        w->left[CF_LEFT_MONITOR]++;
        after = false;
    }
    begin(w, &in->before, 0);
    if (after)
        save_object(w, &s);
    s.top = CF_ARG_OBJECT;
    s.top_kind = 'A';
    emit_point(w, CF_BEFORE_ENTER, &s);
    end(w, &in->before, &w->peak_above);
    if (!after)
        return 0;
    in = &w->code.insns[own ? insn + 1 : region];
    s.top_kind = 0;
    begin(w, &in->after, 0);
    emit_point(w, CF_AFTER_ENTER, &s);
    end(w, &in->after, &w->peak_above);
    in->side = own ? CODE_ALONE : CODE_WITH_NEXT;
    return own ? add_release(w, &s, &release) : 0;
}

static int at_leave(struct rewrite *w, uint32_t insn)
{
    struct code_insn *in = &w->code.insns[insn];
    struct site s = site_at(w, insn);
    struct added_handler release = {.part = ADDED_BEFORE};
    bool before = has_edit(w, CF_BEFORE_LEAVE), after = has_edit(w, CF_AFTER_LEAVE);
    uint32_t catcher;
    enum cf_unlock unlocks = protect_unlocks(w, insn, &catcher);
    bool own = before && unlocks != CF_UNLOCKS_THERE;
    if (unlocks == CF_UNLOCKS_HERE)
        release.around = catcher + 1;
    if (own && !protect_frame(w, insn, s.temp, &release.frame)) {
        w->left[CF_LEFT_MONITOR]++;
        before = own = false;
    }
    begin(w, &in->before, 0);
    if (after || own)
        save_object(w, &s);
    release.skip = (uint32_t)w->inserted.len - in->before.at;
    s.top = CF_ARG_OBJECT;
    s.top_kind = 'A';
    if (before)
        emit_point(w, CF_BEFORE_LEAVE, &s);
    end(w, &in->before, &w->peak_above);
    if (after) {
        s.top_kind = 0;
        begin(w, &in[1].after, 0);
        emit_point(w, CF_AFTER_LEAVE, &s);
        end(w, &in[1].after, &w->peak_above);
        in[1].side = CODE_ALONE;
    }
    return own ? add_release(w, &s, &release) : 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

struct call {
    struct cf_ref ref;
    struct desc desc;
    bool matches[CF_MAX_EDITS];
    bool object, has_receiver;
};

static bool is_class(struct cf_text name, const char *wanted)
{
    if (strcmp(wanted, CF_ANY_ARRAY) == 0)
        return name.len && name.p[0] == '[';
    return cf_text_is(name, wanted);
}

static bool match_call(const struct rewrite *w, uint32_t insn, struct call *call)
{
    const struct code_insn *in = &w->code.insns[insn];
    bool any = false;
    memset(call->matches, 0, sizeof call->matches);
    call->object = false;
    if (!cf_ref_at(w->c, be_get2(w->code.bytes + in->pc + 1), &call->ref))
        return false;
    call->has_receiver = in->op != OP_INVOKESTATIC && !cf_text_is(call->ref.name, "<init>");
    for (uint32_t i = 0; i < w->n_edits; i++) {
        const struct cf_edit *e = &w->edits[i];
        call->matches[i] = e->at >= CF_BEFORE_CALL && e->at <= CF_REPLACE_CALL &&
                           cf_text_is(call->ref.name, e->call_name) &&
                           cf_text_is(call->ref.desc, e->call_desc) &&
                           is_class(call->ref.cls, e->call_class);
        any |= call->matches[i];
        call->object |= call->matches[i] && call->has_receiver && e->at != CF_REPLACE_CALL &&
                        probe_uses(e, CF_ARG_OBJECT);
    }
    return any && desc_parse(&call->desc, call->ref.desc);
}

static bool emit_call_point(struct rewrite *w, const struct call *call, enum cf_point at,
                            struct site *s)
{
    bool any = false;
    for (uint32_t i = 0; i < w->n_edits; i++)
        if (call->matches[i] && w->edits[i].at == at) {
            any = true;
            if (s)
                probe_emit(w, i, s);
        }
    return any;
}

/* Keep the receiver, which lies below the arguments, in a local. */
static void save_receiver(struct rewrite *w, const struct desc *d, struct site *s)
{
    uint32_t first = s->temp + 1;
    for (uint32_t k = d->n; k-- > 0;)
        emit_store(&w->emit, d->kind[k], first + d->slot[k]);
    save_object(w, s);
    for (uint32_t k = 0; k < d->n; k++)
        emit_load(&w->emit, d->kind[k], first + d->slot[k]);
    if (w->max_locals < first + d->slots)
        w->max_locals = first + d->slots;
}

static int call_threw(struct rewrite *w, const struct call *call, struct site *s)
{
    struct frame frame;
    if (!emit_call_point(w, call, CF_CALL_THREW, NULL))
        return 0;
    if (!protect_frame(w, s->insn, s->object, &frame)) {
        w->left[CF_LEFT_CALL_EDGE]++;
        return 0;
    }
    struct added_handler *h = protect_add(w);
    if (!h)
        return -ENOMEM;
    *h = (struct added_handler){.insn = s->insn, .part = ADDED_INSN, .frame = frame};
    s->top = CF_ARG_THROWN;
    s->top_kind = 'A';
    begin(w, &h->bytes, 1);
    emit_call_point(w, call, CF_CALL_THREW, s);
    emit_op(&w->emit, OP_ATHROW, -1);
    end(w, &h->bytes, &w->peak_alone);
    return 0;
}

/* The replacing method must take and give what the call takes and gives. */
static bool replacement_fits(const struct call *call, const struct cf_probe *p, uint8_t op)
{
    struct cf_text text = {p->desc, (uint32_t)strlen(p->desc)};
    struct desc d;
    uint32_t extra = op == OP_INVOKESTATIC ? 0 : 1;
    if (!desc_parse(&d, text) || d.n != call->desc.n + extra || d.slots != call->desc.slots + extra)
        return false;
    if (extra && d.kind[0] != 'A')
        return false;
    for (uint32_t k = 0; k < call->desc.n; k++)
        if (d.kind[k + extra] != call->desc.kind[k])
            return false;
    const char *x = strchr(text.p, ')');
    const char *y = memchr(call->ref.desc.p, ')', call->ref.desc.len);
    size_t n = call->ref.desc.len - (size_t)(y - call->ref.desc.p);
    return strlen(x) == n && memcmp(x, y, n) == 0;
}

static void replace_call(struct rewrite *w, uint32_t insn, const struct call *call)
{
    struct code_insn *in = &w->code.insns[insn];
    for (uint32_t i = 0; i < w->n_edits; i++) {
        const struct cf_probe *p = &w->edits[i].probe;
        if (!call->matches[i] || w->edits[i].at != CF_REPLACE_CALL || in->replaced.len)
            continue;
        if (in->op == OP_INVOKESPECIAL) {
            w->left[CF_LEFT_REPLACE]++;
        } else if (!replacement_fits(call, p, in->op)) {
            w->left[CF_LEFT_BAD_EDIT]++;
        } else {
            uint32_t ref = cpool_method(w->pool, p->cls, p->name, p->desc);
            begin(w, &in->replaced, 0);
            emit_call(&w->emit, ref, 0);
            end(w, &in->replaced, &w->peak_above);
            w->sites++;
        }
    }
}

static int at_call(struct rewrite *w, uint32_t insn)
{
    struct code_insn *in = &w->code.insns[insn];
    struct site s = site_at(w, insn);
    struct call call;
    if (!match_call(w, insn, &call) || is_left(w, insn))
        return 0;
    begin(w, &in->before, 0);
    if (call.object)
        save_receiver(w, &call.desc, &s);
    emit_call_point(w, &call, CF_BEFORE_CALL, &s);
    end(w, &in->before, &w->peak_above);
    replace_call(w, insn, &call);
    s.top = CF_ARG_RESULT;
    s.top_kind = call.desc.result;
    begin(w, &in[1].after, 0);
    emit_call_point(w, &call, CF_AFTER_CALL, &s);
    end(w, &in[1].after, &w->peak_above);
    /* <init> changes types of locals, which the handlers around it may not accept. */
    in[1].side = cf_text_is(call.ref.name, "<init>") ? CODE_ALONE : CODE_WITH_PREVIOUS;
    return call_threw(w, &call, &s);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The bits of the number, and what makes it of them. */
static void load_bits(struct rewrite *w, uint32_t insn, uint32_t constant)
{
    struct code_insn *in = &w->code.insns[insn];
    bool wide = in->op == OP_LDC2_W;
    const uint8_t *value = cf_constant(w->c, constant, wide ? CF_DOUBLE : CF_FLOAT);
    if (!value || in->replaced.len)
        return;
    begin(w, &in->replaced, 0);
    if (wide)
        emit_long(&w->emit, value);
    else
        emit_int(&w->emit, (int32_t)be_get4(value));
    emit_call(&w->emit,
              wide ? cpool_method(w->pool, "java/lang/Double", "longBitsToDouble", "(J)D")
                   : cpool_method(w->pool, "java/lang/Float", "intBitsToFloat", "(I)F"),
              0);
    end(w, &in->replaced, &w->peak_above);
    w->numbers++;
}

static void at_constant(struct rewrite *w, uint32_t insn)
{
    const struct code_insn *in = &w->code.insns[insn];
    const uint8_t *p = w->code.bytes + in->pc;
    uint32_t constant = in->op == OP_LDC ? p[1] : be_get2(p + 1);
    if (w->nan && nan_goes(w->nan, constant))
        load_bits(w, insn, constant);
}

static int at_insn(struct rewrite *w, uint32_t insn)
{
    const struct code_insn *in = &w->code.insns[insn];
    switch (in->op) {
    case OP_LDC:
    case OP_LDC_W:
    case OP_LDC2_W:
        at_constant(w, insn);
        return 0;
    case OP_MONITORENTER:
        return at_enter(w, insn);
    case OP_MONITOREXIT:
        return at_leave(w, insn);
    case OP_NEWARRAY:
    case OP_ANEWARRAY:
    case OP_MULTIANEWARRAY:
        at_array(w, insn);
        return 0;
    case OP_INVOKEVIRTUAL:
    case OP_INVOKESPECIAL:
    case OP_INVOKESTATIC:
    case OP_INVOKEINTERFACE:
        return at_call(w, insn);
    default:
        if (in->kind == INSN_RETURN)
            at_return(w, insn);
        return 0;
    }
}

static int at_throw(struct rewrite *w)
{
    struct added_handler *h = protect_add(w);
    if (!h)
        return -ENOMEM;
    struct site s = site_at(w, CODE_NONE);
    s.top = CF_ARG_THROWN;
    s.top_kind = 'A';
    *h = (struct added_handler){.insn = CODE_NONE, .part = ADDED_BODY, .frame = w->exit_frame};
    begin(w, &h->bytes, 1);
    emit_point(w, CF_AT_THROW, &s);
    emit_op(&w->emit, OP_ATHROW, -1);
    end(w, &h->bytes, &w->peak_alone);
    return 0;
}

int insert_all(struct rewrite *w, struct err *err)
{
    entry(w);
    int rc = 0;
    for (uint32_t i = 0; i < w->code.n_insns && rc == 0; i++) {
        rc = at_insn(w, i);
        if (w->inserted.len > MAX_INSERTED)
            return err_set(err, -E2BIG, "%zu bytes of inserted code", w->inserted.len);
    }
    if (rc == 0 && w->has_exit)
        rc = at_throw(w);
    if (rc < 0)
        return err_set(err, rc, "out of memory");
    return 0;
}
