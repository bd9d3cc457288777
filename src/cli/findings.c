#include "cli/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void findings_init(struct findings *f)
{
    *f = (struct findings){.list = NULL};
    arena_init(&f->arena, 0);
}

void findings_fini(struct findings *f)
{
    free(f->list);
    arena_fini(&f->arena);
}

static bool grow(struct findings *f)
{
    if (f->n < f->cap)
        return true;
    size_t cap = f->cap ? f->cap * 2 : 32;
    struct finding *list = realloc(f->list, cap * sizeof *list);
    if (!list)
        return false;
    f->list = list;
    f->cap = cap;
    return true;
}

void findings_add(struct findings *f, const char *area, enum finding_status status,
                  const char *remedy, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *kept = arena_strndup(&f->arena, text, strlen(text));
    if (!kept || !grow(f)) {
        f->oom = true;
        return;
    }
    f->list[f->n++] = (struct finding){area, status, kept, remedy};
}
