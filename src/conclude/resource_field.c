#include "conclude/resource_field.h"

#include "analyze/labels.h"
#include "base/err.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLERS = 16, /* callers followed while each only passes its own parameter on */
    PRIVATE = 0x0002,
    PROTECTED = 0x0004,
    STATIC = 0x0008,
    SYNCHRONIZED = 0x0020,
};

static uint64_t place_key(method_id method, uint32_t bci)
{
    return (uint64_t)method.v << 32 | bci;
}

int field_sites_init(struct field_sites *f, const struct program *p)
{
    const struct trace *t = p->trace;
    f->program = p;
    map_init(&f->at);
    for (size_t i = 1; i < t->n_sites; i++) {
        uint64_t *at =
            t->sites[i].id ? map_put(&f->at, place_key(t->sites[i].method, t->sites[i].bci)) : NULL;
        if (t->sites[i].id && !at)
            return -ENOMEM;
        if (at)
            *at = i;
    }
    return 0;
}

void field_sites_fini(struct field_sites *f)
{
    map_fini(&f->at);
}

/* --- one site --------------------------------------------------------------------------------- */

/* The line of a frame's call site in the table; NULL: none. */
static const char *line_at(const struct field_sites *f, const struct trace_frame *frame)
{
    const uint64_t *at = map_find(&f->at, place_key(frame->method, (uint32_t)frame->bci));
    return at ? f->program->trace->sites[*at].from : NULL;
}

/* Whether the line is of a call of the method; NULL: of monitorenter. */
static bool is_of(const char *line, const char *callee)
{
    size_t n = strcspn(line, ";");
    return callee ? strlen(callee) == n && memcmp(line, callee, n) == 0 : n == 0;
}

/* Operand `number` of a line; NULL: the line has fewer. */
static const char *operand(const char *line, unsigned number)
{
    for (unsigned i = 0; line && i <= number; i++) {
        line = strchr(line, ';');
        line += line != NULL;
    }
    return line;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* The source of operand `number` of the frame's instruction at `i`; NULL: unknown. */
static const char *trace_back(const struct field_sites *f, const struct trace_stack *s, uint32_t i,
                              const char *callee, unsigned number)
{
    for (unsigned n = 0; n < CALLERS && i < s->n_frames; n++, i++) {
        const char *line = line_at(f, &s->frames[i]);
        const char *o = line && is_of(line, callee) ? operand(line, number) : NULL;
        if (!o || !*o || *o == ';')
            return NULL;
        if (*o != 'p')
            return o;
        char *end;
        unsigned long parameter = strtoul(o + 1, &end, 10);
        if (*end == '[' || parameter > UINT8_MAX)
            return NULL; /* an element of somebody's array */
        number = (unsigned)parameter;
        callee = trace_method(f->program->trace, s->frames[i].method)->name;
    }
    return NULL;
}

static bool is_park(const struct trace *t, const struct trace_method *m)
{
    return strcmp(trace_class(t, m->class_)->signature,
                  "Ljava/util/concurrent/locks/LockSupport;") == 0;
}

/* The receiver of the call that a frame is in; for LockSupport.park, the blocker. */
static const char *receiver(const struct field_sites *f, const struct trace_stack *s, uint32_t i)
{
    const struct trace *t = f->program->trace;
    if (i == 0) {
        const struct trace_method *m = trace_method(t, s->frames[0].method);
        const char *line = line_at(f, &s->frames[0]);
        if (line || !(m->flags & SYNCHRONIZED) || m->flags & STATIC)
            return trace_back(f, s, 0, NULL, 0);
        return trace_back(f, s, 1, m->name, 0);
    }
    const struct trace_method *callee = trace_method(t, s->frames[i - 1].method);
    bool none = callee->flags & STATIC && !is_park(t, callee);
    return none ? NULL : trace_back(f, s, i, callee->name, 0);
}

/* The innermost frame of such code; n_frames: there is none. */
static uint32_t innermost(const struct field_sites *f, const struct trace_stack *s, enum code least)
{
    uint32_t i = 0;
    while (i < s->n_frames && program_code(f->program, s->frames[i].method) < least)
        i++;
    return i;
}

/* NULL for the result of a method of the JDK or of a library, because it does not name the field:
 * Map.get(), Database.beginTx(). */
static const char *unless_of_library(const char *field)
{
    enum { PACKAGE = 7 }; /* "javax/" with its end: as much as sites_is_jdk looks at */
    char signature[PACKAGE + 1];
    if (!field || *field != 'm')
        return field;
    snprintf(signature, sizeof signature, "L%s", field + 1);
    return sites_is_jdk(signature) || program_is_librarys(field + 1) ? NULL : field;
}

bool field_in_synchronized(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    return s->n_frames && trace_method(t, s->frames[0].method)->flags & SYNCHRONIZED;
}

const char *field_of_called(const struct field_sites *f, stack_id stack)
{
    const struct trace_stack *s = trace_stack(f->program->trace, stack);
    uint32_t i = innermost(f, s, CODE_LIBRARY);
    const char *field = i < s->n_frames ? unless_of_library(receiver(f, s, i)) : NULL;
    return field || i >= s->n_frames ? field : field_of_pool(f, stack);
}

const char *field_of_lock(const struct field_sites *f, stack_id stack)
{
    const char *field = field_of_called(f, stack);
    return field && lock_taken_inside(f->program->trace, stack).v ? NULL : field;
}

const char *field_of_pool(const struct field_sites *f, stack_id stack)
{
    const struct trace_stack *s = trace_stack(f->program->trace, stack);
    uint32_t i = innermost(f, s, CODE_PROGRAM);
    if (i >= s->n_frames)
        i = innermost(f, s, CODE_OTHER);
    return i < s->n_frames ? unless_of_library(receiver(f, s, i)) : NULL;
}

/* Whether a class is a building block of locks: its caller is the method that takes the lock. */
static bool is_primitive(const char *signature)
{
    static const char *const all[] = {"Ljava/util/concurrent/locks/", "Ljdk/internal/misc/",
                                      "Ljava/lang/Object;"};
    bool is = false;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        is |= strncmp(signature, all[i], strlen(all[i])) == 0;
    return is;
}

/* "java/util/concurrent/" of both. */
static bool is_one_package(const char *x, const char *y)
{
    const char *end = strrchr(x, '/');
    size_t n = end ? (size_t)(end - x) + 1 : 0;
    return n && strncmp(x, y, n) == 0 && !strchr(y + n, '/');
}

bool lock_is_called_so(const char *method)
{
    size_t n = strlen(method);
    return strcmp(method, "lock") == 0 || (n >= 4 && strcmp(method + n - 4, "Lock") == 0);
}

/* The innermost of the JDK's frames from `i` on that other classes may call, in the package of
 * frame `i`.  Private methods and nested classes are details that differ in the next JDK.  `i`: no
 * such frame. */
static uint32_t called_by_others(const struct trace *t, const struct trace_stack *s, uint32_t i)
{
    const char *of = trace_method_class(t, s->frames[i].method);
    for (uint32_t k = i; k < s->n_frames; k++) {
        const struct trace_method *m = trace_method(t, s->frames[k].method);
        const char *signature = trace_class(t, m->class_)->signature;
        if (!sites_is_jdk(signature))
            break;
        if (!(m->flags & (PRIVATE | PROTECTED)) && !strchr(signature, '$') &&
            !lock_is_called_so(m->name) && /* the caller gives the name */
            is_one_package(of, signature))
            return k;
    }
    return i;
}

method_id lock_taken_inside(const struct trace *t, stack_id stack)
{
    const struct trace_stack *s = trace_stack(t, stack);
    uint32_t i = trace_site(t, s); /* behind a park's own frames, then those of locks */
    while (i < s->n_frames && is_primitive(trace_method_class(t, s->frames[i].method)))
        i++;
    if (i == s->n_frames || !sites_is_jdk(trace_method_class(t, s->frames[i].method)))
        return (method_id){0};
    const char *inner = trace_method_class(t, s->frames[i].method);
    i = called_by_others(t, s, i);
    method_id first = s->frames[i].method;
    const char *of = trace_method_class(t, first);
    bool own = strcmp(of, inner) == 0;
    while (i < s->n_frames && strcmp(trace_method_class(t, s->frames[i].method), of) == 0)
        i++;
    bool direct =
        own && i < s->n_frames && !sites_is_jdk(trace_method_class(t, s->frames[i].method));
    return direct ? (method_id){0} : first;
}

/* --- as text ---------------------------------------------------------------------------------- */

/* The name of a variable that an inner class has copied: val$lock. */
static const char *without_copy(const char *name)
{
    return strncmp(name, "val$", 4) == 0 ? name + 4 : name;
}

void field_text(const char *field, bool simple, char *out, size_t n)
{
    char class_[LABEL_MAX], member[LABEL_MAX];
    const char *rest = field + 1;
    size_t all = strcspn(rest, ";"), len = strcspn(rest, ".;[");
    snprintf(class_, sizeof class_, "%.*s", (int)min_u64(len, LABEL_MAX), rest);
    for (char *p = class_; (p = strchr(p, '/')) != NULL; p++)
        *p = '.';
    size_t left = all - len - (rest[len] == '.');
    snprintf(member, sizeof member, "%.*s", (int)min_u64(left, LABEL_MAX),
             rest + len + (rest[len] == '.'));
    char *element = strstr(member, "[]");
    if (element)
        *element = 0;
    snprintf(out, n, "%s.%s%s%s", simple ? label_simple(class_) : class_,
             *field == 'c' ? "class" : without_copy(member), *field == 'm' ? "()" : "",
             element ? "[]" : "");
}
