/* probe.c - the call of one probe: its arguments are pushed in order, so what lies on the stack is
 * duplicated when it comes first, and goes through a local of its own otherwise. */
#include "classfile/rewrite.h"

#include <string.h>

/* Whether the source can be an argument of this kind. */
static bool fits(const struct rewrite *w, const struct cf_edit *e, const struct cf_arg *arg,
                 char kind)
{
    switch (arg->source) {
    case CF_ARG_INT:
    case CF_ARG_PC:
        return kind == 'I';
    case CF_ARG_PARAM:
        return arg->value >= 0 && (uint32_t)arg->value < w->desc.n &&
               w->desc.kind[arg->value] == kind;
    case CF_ARG_RESULT:
        return e->at == CF_AT_RETURN ? w->desc.result == kind || w->desc.result == 'V' : true;
    default:
        return kind == 'A';
    }
}

static bool only_objects(const struct desc *d, struct cf_text text)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (d->kind[i] == 'A' && !cf_text_is(desc_class(text, d->at[i]), "java/lang/Object"))
            return false;
    return true;
}

/* The parameters of the replacing method: the receiver and those of the call; same result. */
static int check_replacement(struct rewrite *w, uint32_t i, struct err *err)
{
    const struct cf_edit *e = &w->edits[i];
    struct desc d;
    if (!desc_parse(&d, (struct cf_text){e->probe.desc, (uint32_t)strlen(e->probe.desc)}))
        return err_set(err, -EINVAL, "bad descriptor %s", e->probe.desc);
    w->calls[i].slots = (int)d.slots;
    return 0;
}

int probe_check(struct rewrite *w, uint32_t i, struct err *err)
{
    const struct cf_edit *e = &w->edits[i];
    struct probe_call *call = &w->calls[i];
    struct desc d;
    *call = (struct probe_call){0};
    bool at_call = e->at >= CF_BEFORE_CALL && e->at <= CF_REPLACE_CALL;
    if (e->at >= CF_N_POINTS || (at_call && (!e->call_class || !e->call_name || !e->call_desc)))
        return err_set(err, -EINVAL, "edit %u: no such place", i);
    if (e->at == CF_TAKE_APART)
        return 0;
    if (e->at == CF_REPLACE_CALL)
        return check_replacement(w, i, err);
    struct cf_text text = {e->probe.desc, (uint32_t)strlen(e->probe.desc)};
    if (!desc_parse(&d, text) || d.result != 'V' || d.n > CF_MAX_ARGS || d.n != e->probe.n_args ||
        !only_objects(&d, text))
        return err_set(err, -EINVAL, "bad probe descriptor %s", e->probe.desc);
    for (uint32_t k = 0; k < d.n; k++) {
        call->kind[k] = d.kind[k];
        if (!fits(w, e, &e->probe.args[k], d.kind[k]))
            return err_set(err, -EINVAL, "probe %s.%s%s: argument %u does not fit", e->probe.cls,
                           e->probe.name, e->probe.desc, k + 1);
    }
    call->slots = (int)d.slots;
    return 0;
}

bool probe_uses(const struct cf_edit *e, enum cf_source source)
{
    for (uint32_t k = 0; k < e->probe.n_args; k++)
        if (e->probe.args[k].source == source)
            return true;
    return false;
}

static void push_this(struct rewrite *w, const struct site *s)
{
    bool have = !(w->m->access & CF_ACC_STATIC) && s->ready;
    if (have)
        emit_load(&w->emit, 'A', s->at_entry ? 0 : keep_slot(w, 0));
    else
        emit_zero(&w->emit, 'A');
}

static void push_lock(struct rewrite *w, const struct site *s)
{
    if (!(w->m->access & CF_ACC_STATIC))
        push_this(w, s);
    else if (w->c->major >= 49) /* JVMS table 5.1-A: ldc of a class */
        emit_class(&w->emit, w->c->name);
    else
        emit_zero(&w->emit, 'A');
}

static void push_param(struct rewrite *w, const struct site *s, uint32_t param)
{
    uint32_t slot = w->desc.slot[param] + (w->m->access & CF_ACC_STATIC ? 0u : 1u);
    emit_load(&w->emit, w->desc.kind[param], s->at_entry ? slot : keep_slot(w, slot));
}

static void push(struct rewrite *w, const struct cf_arg *arg, char kind, const struct site *s)
{
    switch (arg->source) {
    case CF_ARG_INT:
        emit_int(&w->emit, arg->value);
        break;
    case CF_ARG_PC:
        emit_int(&w->emit, s->insn == CODE_NONE ? -1 : (int32_t)w->code.insns[s->insn].pc);
        break;
    case CF_ARG_THIS:
        push_this(w, s);
        break;
    case CF_ARG_LOCK:
        push_lock(w, s);
        break;
    case CF_ARG_PARAM:
        push_param(w, s, (uint32_t)arg->value);
        break;
    case CF_ARG_OBJECT:
        if (s->object != CODE_NONE)
            emit_load(&w->emit, 'A', s->object);
        else
            emit_zero(&w->emit, 'A');
        break;
    default:
        emit_zero(&w->emit, kind);
    }
}

static bool takes_top(const struct rewrite *w, uint32_t i, uint32_t k, const struct site *s)
{
    return w->edits[i].probe.args[k].source == s->top && w->calls[i].kind[k] == s->top_kind;
}

void probe_emit(struct rewrite *w, uint32_t i, struct site *s)
{
    const struct cf_probe *p = &w->edits[i].probe;
    struct probe_call *call = &w->calls[i];
    uint32_t uses = 0, saved = CODE_NONE, first = CF_MAX_ARGS;
    for (uint32_t k = p->n_args; k-- > 0;)
        if (takes_top(w, i, k, s)) {
            uses++;
            first = k;
        }
    if (uses)
        emit_dup(&w->emit, s->top_kind);
    if (uses > 1 || (uses == 1 && first > 0)) {
        saved = s->temp;
        s->temp += desc_kind_slots(s->top_kind);
        emit_store(&w->emit, s->top_kind, saved);
    }
    for (uint32_t k = 0; k < p->n_args; k++) {
        if (!takes_top(w, i, k, s))
            push(w, &p->args[k], call->kind[k], s);
        else if (saved != CODE_NONE)
            emit_load(&w->emit, s->top_kind, saved);
    }
    if (!call->ref)
        call->ref = cpool_method(w->pool, p->cls, p->name, p->desc);
    emit_call(&w->emit, call->ref, -call->slots);
    if (s->temp > w->max_locals)
        w->max_locals = s->temp;
    w->sites++;
}
