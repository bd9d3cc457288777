#include "cli/class_names.h"

#include "base/err.h"
#include "base/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 512 };

/* Packages to their first letters, from the left, until it fits; the class itself stays. */
static void abbreviate(char *name, size_t width)
{
    char *at = name, *dot;
    while (printable_width(name) > width && (dot = strchr(at, '.'))) {
        const char *letter_end = at;
        utf8_next(&letter_end); /* a letter may be of several bytes */
        char *behind = dot > at ? at + (letter_end - at) : at;
        memmove(behind, dot, strlen(dot) + 1);
        at = behind + 1;
    }
}

void class_name_fit(char *name, size_t width)
{
    abbreviate(name, width);
    printable_cut(name, width);
}

static int by_text(const void *a, const void *b)
{
    const struct class_name *const *x = a, *const *y = b;
    int c = strcmp((*x)->text, (*y)->text);
    return c ? c : strcmp((*x)->full, (*y)->full);
}

/* How a name is written when the way before made two alike. */
static int write_name(struct class_name *c, int way, unsigned number, size_t width, struct arena *a)
{
    char text[NAME_MAX_BYTES + 16];
    snprintf(text, NAME_MAX_BYTES, "%s", c->full);
    size_t room = way < 2 ? width : width > 6 ? width - 4 : 2;
    if (way != 1)
        abbreviate(text, room);
    printable_cut(text, room);
    if (way == 2)
        snprintf(text + strlen(text), 16, "~%u", number);
    c->text = arena_strndup(a, text, strlen(text));
    return c->text ? 0 : -ENOMEM;
}

/* Write the names anew of which two different ones look alike.  Returns whether there were any. */
static int rewrite_alike(struct class_name **sorted, size_t n, int way, size_t width,
                         struct arena *a)
{
    unsigned number = 0; /* across all of them: names that end in different ones differ */
    int found = 0;
    qsort(sorted, n, sizeof *sorted, by_text);
    for (size_t i = 0, end; i < n; i = end) {
        unsigned different = 1;
        for (end = i + 1; end < n && strcmp(sorted[end]->text, sorted[i]->text) == 0; end++)
            different += strcmp(sorted[end]->full, sorted[end - 1]->full) != 0;
        if (different == 1)
            continue;
        found = 1;
        for (size_t k = i; k < end; k++) {
            number += k == i || strcmp(sorted[k]->full, sorted[k - 1]->full) != 0;
            TRY(write_name(sorted[k], way, number, width, a));
        }
    }
    return found;
}

int class_names_shorten(struct class_name *names, size_t n, size_t width, struct arena *a)
{
    struct class_name **sorted = calloc(n ? n : 1, sizeof *sorted);
    int rc = sorted ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && rc == 0; i++) {
        sorted[i] = &names[i];
        rc = write_name(&names[i], 0, 0, width, a);
    }
    for (int way = 1; way <= 2 && rc >= 0; way++)
        rc = rewrite_alike(sorted, n, way, width, a);
    free(sorted);
    return rc < 0 ? rc : 0;
}
