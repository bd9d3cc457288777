#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct sink {
    struct buf *out;
    size_t room;
    jmp_buf full;
};

/* The demanglers know no other way to be stopped.  They keep what they work on on the stack. */
static void take(const char *text, size_t n, void *opaque)
{
    struct sink *s = opaque;
    size_t fits = n < s->room ? n : s->room;
    buf_put(s->out, text, fits);
    s->room -= fits;
    if (fits < n)
        longjmp(s->full, 1); // NOLINT(bugprone-*,cert-err52-cpp)
}

/* Whether `symbol` was a mangled name. */
static bool by_language(const char *symbol, bool parameters, struct buf *out)
{
    struct sink s = {.out = out, .room = DEMANGLE_MAX};
    if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R'))
        return false;
    if (setjmp(s.full))
        return true;
    int flags = parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_ANSI;
    return rust_demangle_callback(symbol, DMGL_NO_OPTS, take, &s) ||
           (symbol[1] == 'Z' && cplus_demangle_v3_callback(symbol, flags, take, &s));
}

void demangle(const char *symbol, bool parameters, struct buf *out)
{
    size_t begin = out->len, len = strcspn(symbol, "@");
    char plain[DEMANGLE_SYMBOL_MAX];
    if (len == 0) /* nothing before a version: no version, then */
        len = strlen(symbol);
    if (len < sizeof plain) {
        memcpy(plain, symbol, len);
        plain[len] = 0;
        if (by_language(plain, parameters, out) && out->len > begin)
            return;
    }
    if (!out->oom)
        out->len = begin; /* a demangler may give up half-way */
    buf_put(out, symbol, len < DEMANGLE_MAX ? len : DEMANGLE_MAX);
}
