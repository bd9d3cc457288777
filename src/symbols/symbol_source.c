#include "symbols/symbol_source.h"

#include "base/util.h"
#include "symbols/kernel.h"
#include "symbols/plt_x86_64.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- texts ------------------------------------------------------------------------------------ */

static const char *keep(struct trace *t, const char *text)
{
    const char *kept = arena_strndup(&t->arena, text, strlen(text));
    return kept ? kept : "";
}

/* Debian's packages of debug files, by a part of the path. */
static const char *package_of(const char *path)
{
    static const struct {
        const char *part, *package;
    } known[] = {
        {"/java-17-openjdk", "openjdk-17-dbg"},   {"/java-21-openjdk", "openjdk-21-dbg"},
        {"/java-25-openjdk", "openjdk-25-dbg"},   {"/libc.so.6", "libc6-dbg"},
        {"/ld-linux-x86-64.so.2", "libc6-dbg"},   {"/libm.so.6", "libc6-dbg"},
        {"/libstdc++.so.6", "libstdc++6-dbgsym"},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strstr(path, known[i].part))
            return known[i].package;
    return NULL;
}

static const char *remedy(struct trace *t, const struct trace_module *m)
{
    char text[512];
    const char *package = package_of(m->path);
    int n = 0;
    text[0] = 0;
    if (package)
        n = snprintf(text, sizeof text, "on Debian install %s; or ", package);
    if (*m->build_id)
        snprintf(text + n, sizeof text - (size_t)n,
                 "put the debug file of build id %s into a folder that ORCA_SYMBOLS names "
                 "(docs/concepts/native-names.md)",
                 m->build_id);
    else
        snprintf(text + n, sizeof text - (size_t)n,
                 "build it with -Wl,--build-id and without stripping it "
                 "(docs/concepts/native-names.md)");
    return keep(t, text);
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool has_section(const struct elf_image *f, GElf_Word type)
{
    GElf_Shdr h;
    for (Elf_Scn *s = NULL; f->elf && (s = elf_nextscn(f->elf, s)) != NULL;)
        if (gelf_getshdr(s, &h) && h.sh_type == type)
            return true;
    return false;
}

static bool has_lines(const struct elf_image *f)
{
    GElf_Shdr h;
    return f->elf &&
           (elf_image_section(f, ".debug_info", &h) || elf_image_section(f, ".zdebug_info", &h)) &&
           h.sh_type == SHT_PROGBITS;
}

static void say(struct symbol_source *s, struct trace *t, struct symbols_module *out, bool damaged)
{
    char text[MODULE_FILES_PATH + 64];
    bool whole = has_section(&s->files.main, SHT_SYMTAB) ||
                 has_section(&s->files.debug, SHT_SYMTAB) || s->inner.elf;
    out->state = whole ? SYMBOLS_WHOLE : s->symtab.n ? SYMBOLS_EXPORTED : SYMBOLS_NONE;
    out->from = keep(t, *s->files.debug_path ? s->files.debug_path : s->files.main_path);
    out->lines = s->lines.n_units > 0;
    if (damaged) {
        snprintf(text, sizeof text, "%s: its table of symbols is damaged", out->from);
        out->why = keep(t, text);
        out->worth_a_line = true;
    } else if (!whole) {
        out->why = s->symtab.n ? "only what it exports has a name: its own symbols were stripped"
                               : "it has no symbols";
    }
    if (!whole)
        out->remedy = remedy(t, out->module);
}

static int read_files(struct symbol_source *s, struct trace *t, struct symbols_module *out)
{
    struct elf_image *images[] = {&s->files.main, &s->files.debug, &s->inner};
    bool whole = true;
    if (s->files.main.elf)
        elf_image_open_inner(&s->inner, &s->files.main, NULL);
    for (size_t i = 0; i < ARRAY_LEN(images); i++)
        if (images[i]->elf)
            whole &= symtab_add_elf(&s->symtab, images[i]->elf);
    if (s->files.main.elf)
        TRY(plt_add(&s->symtab, &s->files.main));
    TRY(symtab_build(&s->symtab));
    for (size_t i = 0; i < 2 && !s->lines.dwarf; i++)
        if (has_lines(images[1 - i]))
            TRY(code_lines_open(&s->lines, images[1 - i]));
    say(s, t, out, !whole);
    return 0;
}

static int nothing(struct trace *t, struct symbols_module *out, int rc, const struct err *why)
{
    out->state = SYMBOLS_NONE;
    out->why = keep(t, why->msg);
    out->worth_a_line = rc == -EINVAL;
    return 0;
}

static int open_kernel(struct symbol_source *s, struct trace *t, const struct symbols_options *o,
                       struct symbols_module *out)
{
    struct err why;
    int rc = kernel_add(&s->symtab, &s->names, t, out->module, o, &why);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0) {
        out->remedy = "look at the recording on the machine that made it, before it restarts, as "
                      "root or with sysctl kernel.kptr_restrict=0";
        return nothing(t, out, rc, &why);
    }
    out->state = SYMBOLS_WHOLE;
    out->from = o->kallsyms;
    return symtab_build(&s->symtab);
}

static int open_files(struct symbol_source *s, struct trace *t, const struct symbols_options *o,
                      struct symbols_module *out)
{
    struct err why;
    int rc = module_files_open(&s->files, t, out->module, o, &why);
    if (rc == 0)
        return read_files(s, t, out);
    out->remedy = remedy(t, out->module);
    return nothing(t, out, rc, &why);
}

void symbol_source_init(struct symbol_source *s)
{
    memset(s, 0, sizeof *s);
    s->files.main.fd = s->files.debug.fd = s->inner.fd = -1;
    symtab_init(&s->symtab);
    arena_init(&s->names, 0);
}

int symbol_source_none(struct trace *t, struct symbols_module *out, const char *why)
{
    struct err text;
    return nothing(t, out, err_set(&text, -EINVAL, "%s", why), &text);
}

int symbol_source_open(struct symbol_source *s, struct trace *t, const struct symbols_options *o,
                       struct symbols_module *out, struct err *err)
{
    int rc = strcmp(out->module->path, "[kernel]") == 0 ? open_kernel(s, t, o, out)
                                                        : open_files(s, t, o, out);
    return rc < 0 ? err_set(err, rc, "out of memory") : 0;
}

void symbol_source_close(struct symbol_source *s)
{
    code_lines_close(&s->lines);
    symtab_fini(&s->symtab);
    elf_image_close(&s->inner);
    module_files_close(&s->files);
    arena_fini(&s->names);
}
