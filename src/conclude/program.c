#include "conclude/program.h"

#include "analyze/io_calls.h"
#include "base/err.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { ROOTS_MAX = 8, ROOT_MAX = 256 };

struct known {
    const char *prefix;
    bool launches, many;
};

static const struct known libraries[] = {
#define LAUNCHER(prefix) {prefix, true, true},
#define UMBRELLA(prefix) {prefix, false, true},
#define LIBRARY(prefix) {prefix, false, false},
#include "conclude/libraries.def"
#undef LAUNCHER
#undef UMBRELLA
#undef LIBRARY
};

/* The name of a class inside its package: a/b/C of La/b/C; NULL: of an array. */
static const char *name_of(const char *signature)
{
    return *signature == 'L' ? signature + 1 : NULL;
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The longest prefix wins: a launcher is part of a library. */
static const struct known *library_of(const char *name)
{
    const struct known *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
        if (begins_with(name, libraries[i].prefix) &&
            (!found || strlen(libraries[i].prefix) > strlen(found->prefix)))
            found = &libraries[i];
    return found;
}

/* Whether a class was made while the program ran: it has no source. */
static bool is_made(const char *signature)
{
    static const char *const parts[] = {"$$Lambda",        "/$Proxy",           "$$SpringCGLIB$$",
                                        "$$EnhancerBy",    "$$FastClass",       "$HibernateProxy$",
                                        "$$_javassist_",   "$ByteBuddy$",       "_ClientProxy;",
                                        "$$_WeldSubclass", "$$_WeldClientProxy"};
    bool made = begins_with(signature, "L$Proxy");
    for (size_t i = 0; i < ARRAY_LEN(parts) && !made; i++)
        made = strstr(signature, parts[i]) != NULL;
    return made;
}

bool program_is_librarys(const char *name)
{
    return library_of(name) != NULL;
}

/* --- the main class --------------------------------------------------------------------------- */

/* The packages of main classes: "a/b/", "" of a class without a package. */
struct roots {
    char v[ROOTS_MAX][ROOT_MAX];
    size_t n;
    bool launched; /* a launcher's main method was seen */
};

/* The package that a program's classes share: all of a library's that is the program, else two
 * names of the main class's, one more where many have these two. */
static void root_of(const char *name, char out[ROOT_MAX])
{
    const struct known *library = library_of(name);
    const char *end = name, *slash;
    size_t names = library ? 3 : 2;
    if (library && !library->many)
        names = 0, end += strlen(library->prefix);
    while (names-- && (slash = strchr(end, '/')))
        end = slash + 1;
    size_t n = min_u64((uint64_t)(end - name), ROOT_MAX - 1);
    memcpy(out, name, n);
    out[n] = 0;
}

static void add_root(struct roots *r, const char *name)
{
    const struct known *library = library_of(name);
    char root[ROOT_MAX];
    if (library && library->launches) {
        r->launched = true;
        return;
    }
    root_of(name, root);
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->v[i], root) == 0)
            return;
    if (r->n < ROOTS_MAX)
        strcpy(r->v[r->n++], root);
}

/* The outermost main method of a stack that is not a launcher's. */
static void look_for_main(struct roots *r, const struct trace *t, const struct trace_stack *s)
{
    for (uint32_t i = s->n_frames; i--;) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const char *name = name_of(trace_class(t, m->class_)->signature);
        if (!m->class_.v || strcmp(m->name, "main") != 0 || !begins_with(m->signature, "(") ||
            !name || sites_is_jdk(name - 1))
            continue;
        size_t before = r->n;
        add_root(r, name);
        const struct known *library = library_of(name);
        if (r->n > before || !library || !library->launches)
            return;
    }
}

/* The first word of a text, if it is a class: "shop.Server 8080", "app/shop.Server" of a module. */
static void read_name(struct roots *r, const char *command)
{
    size_t n = strcspn(command, " ");
    const char *slash = memchr(command, '/', n);
    char name[ROOT_MAX];
    if (slash && slash != command) {
        n -= (size_t)(slash + 1 - command);
        command = slash + 1;
    }
    if (!n || n >= sizeof name || (n > 4 && memcmp(command + n - 4, ".jar", 4) == 0) ||
        memchr(command, '/', n))
        return;
    memcpy(name, command, n);
    name[n] = 0;
    for (char *p = name; *p; p++)
        *p = *p == '.' ? '/' : *p;
    add_root(r, name);
}

/* --- all classes ------------------------------------------------------------------------------ */

static enum code code_of(const struct trace *t, const struct roots *r, const char *signature)
{
    const char *name = name_of(signature);
    if (sites_is_own(t, signature) && !is_made(signature))
        return CODE_PROGRAM;
    if (!name || sites_is_jdk(signature) || is_made(signature))
        return CODE_JDK;
    for (size_t i = 0; i < r->n; i++)
        if (*r->v[i] ? begins_with(name, r->v[i]) : !strchr(name, '/'))
            return CODE_PROGRAM;
    return t->app || library_of(name) ? CODE_LIBRARY : CODE_OTHER;
}

/* A server that was launched without loading a program is the program itself. */
static void take_libraries(struct program *p)
{
    for (size_t i = 1; i < p->trace->n_classes; i++)
        if (p->of_class[i] == CODE_OTHER)
            return;
    for (size_t i = 1; i < p->trace->n_classes; i++)
        p->of_class[i] = p->of_class[i] == CODE_LIBRARY ? CODE_PROGRAM : p->of_class[i];
}

static bool is_workers(const struct program *p, stack_id stack)
{
    const struct trace *t = p->trace;
    const struct trace_stack *s = trace_stack(t, stack);
    for (uint32_t i = s->flags & STACK_TRUNCATED ? 0 : s->n_frames; i-- > 0;) {
        const struct trace_method *m = trace_method(t, s->frames[i].method);
        const char *signature = trace_class(t, m->class_)->signature;
        if (strcmp(m->name, "runWorker") == 0)
            return true;
        if (sites_is_jdk(signature))
            continue;
        return program_code(p, m->id) == CODE_LIBRARY && sites_is_workers(signature);
    }
    return false;
}

int program_make(struct program *p, const struct trace *t, struct arena *a)
{
    struct roots r = {.n = 0};
    *p = (struct program){.trace = t,
                          .of_class = arena_alloc(a, t->n_classes + 1),
                          .workers = arena_alloc(a, t->n_stacks + 1),
                          .for_work = arena_alloc(a, t->n_stacks + 1)};
    if (!p->of_class || !p->workers || !p->for_work)
        return -ENOMEM;
    static const char *const infos[] = {"sun.java.command", "main.class", "start.class"};
    for (size_t i = 0; i < ARRAY_LEN(infos) && !t->app; i++)
        read_name(&r, trace_info(t, infos[i], ""));
    for (size_t i = 1; i < t->n_stacks && !t->app; i++)
        look_for_main(&r, t, trace_stack(t, (stack_id){(uint32_t)i}));
    for (size_t i = 1; i < t->n_classes; i++) {
        const struct trace_class *c = trace_class(t, (class_id){(uint32_t)i});
        p->of_class[i] = (uint8_t)(c->id.v ? code_of(t, &r, c->signature) : CODE_JDK);
        p->known |= p->of_class[i] == CODE_PROGRAM;
    }
    if (r.launched && !r.n)
        take_libraries(p);
    for (uint32_t i = 1; i < t->n_stacks; i++)
        p->workers[i] = is_workers(p, (stack_id){i});
    return 0;
}

enum code program_code(const struct program *p, method_id method)
{
    class_id c = trace_method(p->trace, method)->class_;
    return c.v && c.v < p->trace->n_classes ? p->of_class[c.v] : CODE_JDK;
}

static struct place innermost(const struct program *p, stack_id stack, enum code least)
{
    const struct trace_stack *s = trace_stack(p->trace, stack);
    for (uint32_t i = 0; i < s->n_frames; i++)
        if (program_code(p, s->frames[i].method) >= least)
            return sites_frame(p->trace, s, i);
    return (struct place){.line = -1};
}

struct place program_place(const struct program *p, stack_id stack)
{
    struct place own = innermost(p, stack, CODE_PROGRAM);
    return own.method.v ? own : innermost(p, stack, CODE_OTHER);
}

struct place program_caller(const struct program *p, stack_id stack)
{
    const struct trace_stack *s = trace_stack(p->trace, stack);
    struct place at = program_place(p, stack);
    enum code code = program_code(p, at.method);
    class_id own = trace_method(p->trace, at.method)->class_;
    for (uint32_t i = 0; i < s->n_frames && at.method.v; i++) {
        method_id m = s->frames[i].method;
        if (program_code(p, m) == code && trace_method(p->trace, m)->class_.v != own.v)
            return sites_frame(p->trace, s, i);
    }
    return (struct place){.line = -1};
}

struct place program_library(const struct program *p, stack_id stack)
{
    return innermost(p, stack, CODE_LIBRARY);
}

struct place program_outermost(const struct program *p, stack_id stack)
{
    const struct trace_stack *s = trace_stack(p->trace, stack);
    for (uint32_t i = s->n_frames; i--;)
        if (program_code(p, s->frames[i].method) >= CODE_LIBRARY)
            return sites_frame(p->trace, s, i);
    return (struct place){.line = -1};
}

bool program_one_library(const struct program *p, method_id x, method_id y)
{
    return sites_one_library(trace_method_class(p->trace, x), trace_method_class(p->trace, y));
}

bool program_waits_for_work(const struct program *p, stack_id stack)
{
    _Atomic uint8_t *known = &p->for_work[stack.v < p->trace->n_stacks ? stack.v : 0];
    /* relaxed: concurrent callers find the same */
    uint8_t says = atomic_load_explicit(known, memory_order_relaxed);
    if (!says) {
        says = io_waits_for_work(p->trace, stack) ? 2 : 1;
        atomic_store_explicit(known, says, memory_order_relaxed);
    }
    return says == 2;
}
