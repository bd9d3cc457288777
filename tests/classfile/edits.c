#include "edits.h"

#include "classfile/desc.h"

#include <stdio.h>
#include <string.h>

#define PROBE "orca/test/Probe"
#define O "Ljava/lang/Object;"

const char *const edits_names[] = {"none",   "apart",        "entry",   "exit",    "args",
                                   "params", "calls",        "replace", "monitor", "array",
                                   "object", "synchronized", "nan",     "all",     NULL};

static void add(struct edits *e, struct cf_edit edit)
{
    if (e->n < CF_MAX_EDITS)
        e->list[e->n++] = edit;
}

static void add_entry(struct edits *e)
{
    add(e, (struct cf_edit){
               .at = CF_AT_ENTRY,
               .probe = {PROBE, "entry", "(" O "I)V", 2, {{CF_ARG_THIS, 0}, {CF_ARG_INT, 70000}}}});
}

static void add_exit(struct edits *e)
{
    add(e, (struct cf_edit){
               .at = CF_AT_RETURN,
               .probe = {PROBE, "exit", "(" O "I)V", 2, {{CF_ARG_THIS, 0}, {CF_ARG_PC, 0}}}});
    add(e, (struct cf_edit){
               .at = CF_AT_THROW,
               .probe = {PROBE, "threw", "(" O O ")V", 2, {{CF_ARG_THIS, 0}, {CF_ARG_THROWN, 0}}}});
}

static void add_call(struct edits *e, const char *cls, const char *name, const char *desc)
{
    struct cf_edit edit = {.call_class = cls, .call_name = name, .call_desc = desc};
    edit.at = CF_BEFORE_CALL;
    edit.probe = (struct cf_probe){
        PROBE, "beforeCall", "(I" O ")V", 2, {{CF_ARG_PC, 0}, {CF_ARG_OBJECT, 0}}};
    add(e, edit);
    edit.at = CF_AFTER_CALL;
    edit.probe = (struct cf_probe){
        PROBE, "afterCall", "(" O O ")V", 2, {{CF_ARG_OBJECT, 0}, {CF_ARG_RESULT, 0}}};
    add(e, edit);
    edit.at = CF_CALL_THREW;
    edit.probe = (struct cf_probe){
        PROBE, "callThrew", "(" O O ")V", 2, {{CF_ARG_OBJECT, 0}, {CF_ARG_THROWN, 0}}};
    add(e, edit);
}

static void add_calls(struct edits *e)
{
    add_call(e, "java/lang/StringBuilder", "append",
             "(Ljava/lang/String;)Ljava/lang/StringBuilder;");
    add_call(e, "java/lang/Object", "<init>", "()V");
    add_call(e, "java/util/Map", "put", "(" O O ")" O);
    add_call(e, "java/lang/String", "valueOf", "(" O ")Ljava/lang/String;");
}

static void add_replace(struct edits *e)
{
    add(e, (struct cf_edit){.at = CF_REPLACE_CALL,
                            .probe = {.cls = PROBE, .name = "equals", .desc = "(" O O ")Z"},
                            .call_class = "java/lang/Object",
                            .call_name = "equals",
                            .call_desc = "(" O ")Z"});
    add(e, (struct cf_edit){
               .at = CF_REPLACE_CALL,
               .probe = {.cls = PROBE, .name = "mapGet", .desc = "(Ljava/util/Map;" O ")" O},
               .call_class = "java/util/Map",
               .call_name = "get",
               .call_desc = "(" O ")" O});
}

static void add_monitor(struct edits *e)
{
    static const struct {
        enum cf_point at;
        const char *name;
    } points[] = {{CF_BEFORE_ENTER, "beforeEnter"},
                  {CF_AFTER_ENTER, "afterEnter"},
                  {CF_BEFORE_LEAVE, "beforeLeave"},
                  {CF_AFTER_LEAVE, "afterLeave"}};
    for (size_t i = 0; i < 4; i++)
        add(e, (struct cf_edit){
                   .at = points[i].at,
                   .probe = {PROBE, points[i].name, "(" O ")V", 1, {{CF_ARG_OBJECT, 0}}}});
}

static void add_synchronized(struct edits *e)
{
    struct cf_edit edit = {.probe = {PROBE, "lock", "(" O "I)V", 2, {{CF_ARG_LOCK, 0}}}};
    for (int i = 0; i < 3; i++) {
        edit.at = (enum cf_point)(CF_AT_ENTRY + i);
        edit.probe.args[1] = (struct cf_arg){CF_ARG_INT, i};
        add(e, edit);
    }
}

static void add_array(struct edits *e)
{
    add(e, (struct cf_edit){
               .at = CF_AFTER_NEW_ARRAY,
               .probe = {PROBE, "array", "(I" O ")V", 2, {{CF_ARG_INT, -7}, {CF_ARG_OBJECT, 0}}}});
}

static const char *type_of(char kind)
{
    return kind == 'I' ? "I" : kind == 'J' ? "J" : kind == 'F' ? "F" : kind == 'D' ? "D" : O;
}

/* this, the first parameters, and for a return its result. */
static void add_args(struct edits *e, const struct cf_method *m)
{
    struct desc d;
    if (!desc_parse(&d, m->desc))
        return;
    for (int i = 0; i < 3; i++) {
        struct cf_edit edit = {.at = (enum cf_point)(CF_AT_ENTRY + i),
                               .probe = {PROBE, "args", e->desc[i], 1, {{CF_ARG_THIS, 0}}}};
        char *to = e->desc[i];
        size_t n = (size_t)sprintf(to, "(" O);
        for (uint32_t k = 0; k < d.n && k < 5; k++) {
            edit.probe.args[edit.probe.n_args++] = (struct cf_arg){CF_ARG_PARAM, (int32_t)k};
            n += (size_t)sprintf(to + n, "%s", type_of(d.kind[k]));
        }
        if (i == 1 && d.result != 'V') {
            edit.probe.args[edit.probe.n_args++] = (struct cf_arg){CF_ARG_RESULT, 0};
            n += (size_t)sprintf(to + n, "%s", type_of(d.result));
        }
        sprintf(to + n, ")V");
        add(e, edit);
    }
}

static const struct cf_edit *edits_of(void *ctx, const struct cf_class *c,
                                      const struct cf_method *m, uint32_t *n)
{
    struct edits *e = ctx;
    bool params = strcmp(e->name, "params") == 0;
    if (params || strcmp(e->name, "args") == 0) {
        e->n = 0;
        add_args(e, m);
    }
    bool object = strcmp(e->name, "object") == 0;
    bool is_synchronized = m->access & CF_ACC_SYNCHRONIZED;
    *n = e->n;
    if (params && (m->name.len < 6 || memcmp(m->name.p, "params", 6) != 0))
        *n = 0;
    if (object && !(cf_text_is(m->name, "<init>") &&
                    (cf_text_is(c->name, "java/lang/Object") || c->n_methods % 7 == 0)))
        *n = 0;
    if (strcmp(e->name, "synchronized") == 0 && !is_synchronized)
        *n = 0;
    return e->list;
}

bool edits_init(struct edits *e, const char *name)
{
    static const struct {
        const char *name;
        void (*add)(struct edits *e);
    } sets[] = {
        {"entry", add_entry}, {"exit", add_entry},      {"exit", add_exit},
        {"calls", add_calls}, {"replace", add_replace}, {"monitor", add_monitor},
        {"array", add_array}, {"object", add_exit},     {"synchronized", add_synchronized},
        {"all", add_entry},   {"all", add_exit},        {"all", add_monitor},
        {"all", add_array},   {"all", add_calls},
    };
    bool known = false;
    *e = (struct edits){0};
    for (size_t i = 0; edits_names[i]; i++)
        if (strcmp(edits_names[i], name) == 0) {
            e->name = edits_names[i];
            known = true;
        }
    if (strcmp(name, "apart") == 0)
        add(e, (struct cf_edit){.at = CF_TAKE_APART});
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strcmp(sets[i].name, name) == 0)
            sets[i].add(e);
    return known;
}

struct cf_plan edits_plan(struct edits *e)
{
    return (struct cf_plan){
        .edits = edits_of, .ctx = e, .always = true, .no_nan = strcmp(e->name, "nan") == 0};
}
