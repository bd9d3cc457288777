#include "analyze/labels.h"
#include "base/util.h"
#include "conclude/rules_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct rule_finding *rule_find(struct evidence *ev, enum severity severity, uint64_t impact)
{
    if (ev->n_of_rule == RULE_FINDINGS)
        return NULL;
    struct rule_finding *f = (void *)buf_reserve(&ev->found, sizeof *f);
    if (!f)
        return NULL;
    ev->found.len += sizeof *f;
    ev->n_of_rule++;
    *f = (struct rule_finding){.rule = ev->rule,
                               .severity = severity,
                               .impact = impact,
                               .from = ev->a->window.from,
                               .to = ev->a->window.to};
    return f;
}

const char *const card_labels[CARD_LABELS] = {[CARD_PLAIN] = "",
                                              [CARD_MORE] = "",
                                              [CARD_WAIT_IN] = "wait in",
                                              [CARD_HELD_BY] = "held by",
                                              [CARD_GIVEN_BY] = "given by",
                                              [CARD_LAST] = "last",
                                              [CARD_OTHER_END] = "other end",
                                              [CARD_CONSUMER] = "consumer",
                                              [CARD_HANDLERS] = "handlers",
                                              [CARD_BUSY] = "busy",
                                              [CARD_BEHIND] = "behind",
                                              [CARD_PATH] = "path",
                                              [CARD_LONGEST] = "longest",
                                              [CARD_TRY] = "try",
                                              [CARD_RERUN] = "rerun"};

static void put(struct rule_finding *f, const char *fmt, va_list ap)
{
    size_t len = strlen(f->text);
    vsnprintf(f->text + len, sizeof f->text - len, fmt, ap);
}

static void put_word(struct rule_finding *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put(f, fmt, ap);
    va_end(ap);
}

void rule_line(struct rule_finding *f, enum card_label label)
{
    if (f->n_lines == FINDING_LINES)
        return;
    if (f->n_lines)
        put_word(f, "; ");
    if (*card_labels[label])
        put_word(f, label >= CARD_PATH ? "%s: " : "%s ", card_labels[label]);
    f->lines[f->n_lines++] = (struct finding_line){(uint16_t)strlen(f->text), 0, label};
}

void rule_say(struct rule_finding *f, const char *fmt, ...)
{
    va_list ap;
    bool begins = strncmp(fmt, "; ", 2) == 0;
    if (begins || !f->n_lines)
        rule_line(f, CARD_PLAIN);
    struct finding_line *l = &f->lines[f->n_lines - 1];
    va_start(ap, fmt);
    put(f, begins ? fmt + 2 : fmt, ap);
    va_end(ap);
    l->len = (uint16_t)(strlen(f->text) - l->from);
}

void finding_line(const struct rule_finding *f, uint32_t line, char *out)
{
    const struct finding_line *l = &f->lines[line];
    snprintf(out, FINDING_TEXT, "%.*s", l->len, f->text + l->from);
}

void rule_say_thread(struct rule_finding *f, const struct evidence *ev, uint32_t thread)
{
    char name[LABEL_MAX];
    label_thread(&ev->a->threads, ev->a->trace, thread, name, sizeof name);
    rule_say(f, "%s", name);
}

void rule_say_class(struct rule_finding *f, const struct evidence *ev, uint32_t group)
{
    char name[LABEL_MAX];
    label_class(ev->a->locks.groups[group].signature, name, sizeof name);
    rule_say(f, "%s", name);
}

void rule_say_lock_among(struct rule_finding *f, const struct evidence *ev,
                         const struct lock_wait *v, size_t n, size_t i)
{
    char name[2 * LABEL_MAX], other[2 * LABEL_MAX];
    bool alike = false;
    resource_lock_label(ev->a, &ev->fields, v[i], false, name, sizeof name);
    for (size_t k = 0; k < n && !alike && v[i].lock.v; k++) {
        resource_lock_label(ev->a, &ev->fields, v[k], false, other, sizeof other);
        alike = v[k].lock.v != v[i].lock.v && strcmp(name, other) == 0;
    }
    if (alike)
        resource_lock_label(ev->a, &ev->fields, v[i], true, name, sizeof name);
    rule_say(f, "%s", name);
}

/* A stack of a thread that waits for the lock; 0: none. */
static stack_id any_place(const struct timeline *t, lock_id lock)
{
    for (uint32_t i = 1; i < t->contexts.n && lock.v; i++) {
        const struct context *x = timeline_context(t, i);
        if (x->lock.v == lock.v && x->what < STATE_LIMIT && x->stack.v)
            return x->stack;
    }
    return (stack_id){0};
}

void rule_say_lock(struct rule_finding *f, const struct evidence *ev, lock_id lock,
                   stack_id waits_at)
{
    const struct lock_wait w = {lock, waits_at.v ? waits_at : any_place(&ev->a->timeline, lock),
                                false};
    rule_say_lock_among(f, ev, &w, 1, 0);
}

/* Whether another class has the same name in another package. */
static bool is_ambiguous(const struct trace *t, const char *class_)
{
    const char *simple = label_simple(class_);
    for (size_t i = 1; i < t->n_classes && *class_; i++) {
        char name[LABEL_MAX];
        const char *signature = trace_class(t, (class_id){(uint32_t)i})->signature;
        const char *end = signature + strlen(signature);
        size_t n = strlen(simple);
        if ((size_t)(end - signature) < n + 2 || strncmp(end - 1 - n, simple, n) != 0)
            continue;
        label_class(signature, name, sizeof name);
        if (strcmp(label_simple(name), simple) == 0 && strcmp(name, class_) != 0)
            return true;
    }
    return false;
}

void rule_say_in(struct rule_finding *f, const struct evidence *ev, const char *word,
                 struct place at)
{
    char class_[LABEL_MAX], method[LABEL_MAX], line[LABEL_MAX];
    const struct trace *t = ev->a->trace;
    if (!at.method.v)
        return;
    label_method_parts(t, at.method, class_, method);
    label_line(t, at, line, sizeof line);
    rule_say(f, *line ? "%s%s%s%s (%s)" : "%s%s%s%s", word,
             is_ambiguous(t, class_) ? class_ : label_simple(class_), *class_ ? "." : "", method,
             line);
}

void rule_say_place(struct rule_finding *f, const struct evidence *ev, const char *word,
                    stack_id stack)
{
    struct place at = program_place(&ev->resources.program, stack), top;
    if (!at.method.v)
        sites_name(ev->a->trace, stack, &top, &at);
    rule_say_in(f, ev, word, at);
}

static void add_id(struct id_list *l, uint32_t id)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->v[i] == id)
            return;
    if (id && l->n < FINDING_IDS)
        l->v[l->n++] = id;
}

void rule_add_thread(struct rule_finding *f, const struct evidence *ev, uint32_t thread)
{
    add_id(&f->threads, ev->a->threads.v[thread].id.v);
}

void rule_add_lock(struct rule_finding *f, lock_id lock)
{
    add_id(&f->locks, lock.v);
}

void rule_add_stack(struct rule_finding *f, stack_id stack)
{
    add_id(&f->stacks, stack.v);
}

unsigned rule_permille(uint64_t part, uint64_t whole)
{
    return whole ? (unsigned)((unsigned __int128)part * 1000 / whole) : 0;
}
