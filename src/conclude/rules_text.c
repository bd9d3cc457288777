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

void rule_say(struct rule_finding *f, const char *fmt, ...)
{
    size_t len = strlen(f->text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text + len, sizeof f->text - len, fmt, ap);
    va_end(ap);
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

void rule_say_site(struct rule_finding *f, const struct evidence *ev, struct place at)
{
    char method[LABEL_MAX], line[LABEL_MAX];
    if (!at.method.v)
        return;
    label_method(ev->a->trace, at.method, method, sizeof method);
    label_line(ev->a->trace, at, line, sizeof line);
    if (trace_method(ev->a->trace, at.method)->flags & METHOD_NATIVE)
        rule_say(f, " in %s (native)", method);
    else if (*line)
        rule_say(f, " at %s in %s", line, method);
    else
        rule_say(f, " in %s", method);
}

void rule_say_place(struct rule_finding *f, const struct evidence *ev, stack_id stack)
{
    struct place top, app;
    sites_name(ev->a->trace, stack, &top, &app);
    rule_say_site(f, ev, app);
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
