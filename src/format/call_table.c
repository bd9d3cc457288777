#include "format/call_table.h"

#include "base/fdio.h"
#include "base/hash.h"
#include "base/util.h"
#include "format/orca_lines.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const call_kind_names[CALL_KINDS + 1] = {"blocks", "tries", "calls", NULL};

struct word {
    const char *p;
    size_t len;
};

/* One line being read. */
struct reader {
    struct call_table *t;
    const char *name; /* of the file */
    unsigned line;
    const char *p, *end;
    struct err *err;
};

static int wrong(const struct reader *r, struct word w, const char *what)
{
    return err_set(r->err, -EINVAL, "%s: line %u: \"%.*s%s\": %s", r->name, r->line,
                   (int)(w.len < 60 ? w.len : 60), w.p, w.len < 60 ? "" : "...", what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word; length 0 at the end of the line. */
static struct word next(struct reader *r)
{
    while (r->p < r->end && is_blank(*r->p))
        r->p++;
    struct word w = {r->p, 0};
    if (r->p < r->end && *r->p == '#')
        r->p = r->end;
    while (r->p < r->end && !is_blank(*r->p))
        r->p++;
    if (w.p < r->end && *w.p != '#')
        w.len = (size_t)(r->p - w.p);
    return w;
}

static bool word_is(struct word w, const char *s)
{
    return strlen(s) == w.len && memcmp(w.p, s, w.len) == 0;
}

static char *keep(struct reader *r, const char *p, size_t len)
{
    return arena_strndup(&r->t->arena, p, len);
}

static int out_of_memory(const struct reader *r)
{
    return err_set(r->err, -ENOMEM, "%s: out of memory", r->name);
}

/* --- which method ----------------------------------------------------------------------------- */

/* One type of a descriptor; NULL when there is none at p. */
static const char *skip_type(const char *p, const char *end)
{
    while (p < end && *p == '[')
        p++;
    if (p < end && *p == 'L') {
        p = memchr(p, ';', (size_t)(end - p));
        return p ? p + 1 : NULL;
    }
    return p < end && memchr("BCDFIJSZ", *p, 8) ? p + 1 : NULL;
}

/* "(JLjava/lang/String;)", with or without a result. */
static bool is_descriptor(const char *p, const char *end)
{
    if (p == end || *p++ != '(')
        return false;
    while (p && p < end && *p != ')')
        p = skip_type(p, end);
    if (!p || p == end)
        return false;
    p++;
    return p == end || (*p == 'V' && p + 1 == end) || skip_type(p, end) == end;
}

/* No blank, no character that names in a class file cannot have (JVMS 4.2.2). */
static bool is_name(const char *p, size_t len, const char * not )
{
    for (size_t i = 0; i < len; i++)
        if (strchr(not, p[i]) || (unsigned char)p[i] < ' ')
            return false;
    return len > 0;
}

static int read_method(struct reader *r, struct word w, struct call_row *row)
{
    const char *end = w.p + w.len, *mark = memchr(w.p, '#', w.len);
    if (w.len > CALL_WORD_MAX)
        return wrong(r, w, "too long");
    if (!mark)
        return wrong(r, w, "name a method as CLASS#METHOD: shop.Order#place, shop.Order#<init>");
    const char *params = memchr(mark, '(', (size_t)(end - mark));
    const char *stop = params ? params : end;
    size_t class_len = (size_t)(mark - w.p), method_len = (size_t)(stop - mark) - 1;
    bool ctor = method_len == 6 && memcmp(mark + 1, "<init>", 6) == 0;
    if (!is_name(w.p, class_len, ";[#()<>:"))
        return wrong(r, w, "no class name in front of the '#'");
    if (!ctor && !is_name(mark + 1, method_len, ".;[/<>#:"))
        return wrong(r, w, "no method name behind the '#'; a constructor is <init>");
    if (params && !is_descriptor(params, end))
        return wrong(r, w,
                     "the parameters are not a JVM descriptor: (JLjava/lang/String;), as javap -s "
                     "prints it, with or without the result");
    char *class = keep(r, w.p, class_len);
    row->class = class;
    row->method = keep(r, mark + 1, method_len);
    row->params = keep(r, stop, (size_t)(end - stop));
    if (!class || !row->method || !row->params)
        return out_of_memory(r);
    for (; *class; class ++)
        if (*class == '.')
            *class = '/';
    return 0;
}

/* --- what about it ---------------------------------------------------------------------------- */

/* 1: the word was one of these; 0: it is something else. */
static int read_object(struct reader *r, struct word w, struct call_row *row)
{
    if (word_is(w, "this") || word_is(w, "none")) {
        row->object = word_is(w, "this") ? CALL_THIS : CALL_NO_OBJECT;
        return 1;
    }
    if (w.len < 4 || memcmp(w.p, "arg", 3) != 0 || !isdigit((unsigned char)w.p[3]))
        return 0;
    int n = 0;
    for (size_t i = 3; i < w.len; i++) {
        if (!isdigit((unsigned char)w.p[i]) || n > CALL_ARG_MAX)
            return wrong(r, w, "a parameter is arg0 to arg254");
        n = n * 10 + (w.p[i] - '0');
    }
    if (n > CALL_ARG_MAX)
        return wrong(r, w, "a parameter is arg0 to arg254");
    row->object = n;
    return 1;
}

static int read_kind(struct word w, struct call_row *row)
{
    for (int i = 0; i < CALL_KINDS; i++)
        if (word_is(w, call_kind_names[i])) {
            row->kind = (enum call_kind)i;
            return 1;
        }
    if (!word_is(w, "nests"))
        return 0;
    row->nests = true;
    return 1;
}

static int check_event(struct reader *r, struct word w)
{
    for (size_t i = 0; i < w.len; i++)
        if (!isalnum((unsigned char)w.p[i]) && !strchr("_$", w.p[i]))
            return wrong(r, w,
                         "expected calls, blocks, tries, nests, this, none, argN, or the name of "
                         "an event: letters, digits, _ and $");
    if (isdigit((unsigned char)w.p[0]))
        return wrong(r, w, "the name of an event begins with a letter");
    if (orca_line_find(w.p, w.len))
        return wrong(r, w, "the text formats have an event of this name already");
    return w.len > CALL_WORD_MAX ? wrong(r, w, "too long") : 0;
}

static int read_event(struct reader *r, struct word w, struct call_row *row)
{
    TRY(check_event(r, w));
    const char **name = !row->event ? &row->event : !row->ended ? &row->ended : NULL;
    if (!name || (name == &row->ended && row->kind == CALL_CALLS))
        return wrong(r, w, "one name too many; what comes before the names is complete");
    if (name == &row->ended && word_is(w, row->event))
        return wrong(r, w, "beginning and end need different names");
    *name = keep(r, w.p, w.len);
    return *name ? 0 : out_of_memory(r);
}

static void put_letters(struct buf *b, const char *name)
{
    for (const char *p = name; *p; p++)
        if (isalnum((unsigned char)*p) || *p == '_')
            buf_putc(b, *p);
}

void call_default_name(struct buf *b, const char *class, const char *method)
{
    const char *slash = strrchr(class, '/');
    put_letters(b, slash ? slash + 1 : class);
    size_t at = b->len;
    put_letters(b, method);
    if (b->len > at)
        b->p[at] = (uint8_t)toupper(b->p[at]);
}

static int name_row(struct reader *r, struct call_row *row)
{
    struct buf b;
    buf_init(&b);
    if (!row->event) {
        /* A class or method of letters that the text formats do not have gives no name of its
         * own. */
        call_default_name(&b, row->class, row->method);
        if (b.len == 0 || !isalpha(b.p[0]) || orca_line_find((char *)b.p, b.len)) {
            buf_clear(&b);
            buf_printf(&b, "Call%u", row->line);
        }
        row->event = keep(r, buf_str(&b), b.len);
    }
    if (!row->ended) {
        buf_clear(&b);
        buf_printf(&b, "%sEnded", row->event ? row->event : "");
        row->ended = keep(r, buf_str(&b), row->kind == CALL_CALLS ? 0 : b.len);
    }
    bool ok = row->event && row->ended && !b.oom;
    buf_fini(&b);
    return ok ? 0 : out_of_memory(r);
}

static const char *name_at(const struct call_table *t, uint64_t at)
{
    const struct call_row *row = &t->rows[(at - 1) / 2];
    return (at - 1) % 2 ? row->ended : row->event;
}

/* Where a name is first: the value of t->names; 0: nowhere.  *hash: where it belongs then. */
static uint64_t find_name(const struct call_table *t, const char *name, size_t len, uint64_t *hash)
{
    for (*hash = hash_place(name, len, 0);; ++*hash) {
        const uint64_t *at = map_find(&t->names, *hash);
        const char *known = at ? name_at(t, *at) : NULL;
        if (!known)
            return 0;
        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return *at;
    }
}

/* The row that has the name first. */
static const struct call_row *row_of(const struct call_table *t, const char *name)
{
    uint64_t hash, at = *name ? find_name(t, name, strlen(name), &hash) : 0;
    return at ? &t->rows[(at - 1) / 2] : NULL;
}

static bool is_alike(const struct call_row *a, const struct call_row *b)
{
    return strcmp(a->event, b->event) == 0 && strcmp(a->ended, b->ended) == 0 &&
           (a->kind == CALL_CALLS) == (b->kind == CALL_CALLS) && a->nests == b->nests;
}

/* Two rows may share their names when they are of one shape: overloads, classes of one family.  So
 * all that have a name already are alike. */
static int check_names(struct reader *r, const struct call_row *row)
{
    const struct call_row *other[] = {row_of(r->t, row->event), row_of(r->t, row->ended)};
    const struct call_row *clash = NULL;
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        if (other[i] && !is_alike(other[i], row) && (!clash || other[i] < clash))
            clash = other[i];
    if (!clash)
        return 0;
    return err_set(r->err, -EINVAL,
                   "%s: line %u: line %u also has an event %s, of another kind: rename one "
                   "of them",
                   r->name, r->line, clash->line, row->event);
}

static bool note_name(struct call_table *t, const char *name, uint64_t at)
{
    uint64_t hash;
    if (!*name || find_name(t, name, strlen(name), &hash))
        return true;
    uint64_t *slot = map_put(&t->names, hash);
    if (slot)
        *slot = at;
    return slot;
}

static int add_row(struct reader *r, const struct call_row *row)
{
    struct call_table *t = r->t;
    if (t->n == CALL_ROWS_MAX)
        return err_set(r->err, -EINVAL, "%s: line %u: more than %d methods", r->name, r->line,
                       CALL_ROWS_MAX);
    if ((t->n & (t->n - 1)) == 0) { /* full: 0, 1, 2, 4, ... */
        struct call_row *rows = realloc(t->rows, (t->n ? 2 * t->n : 1) * sizeof *rows);
        if (!rows)
            return out_of_memory(r);
        t->rows = rows;
    }
    t->rows[t->n++] = *row;
    uint64_t at = 2 * t->n - 1;
    return note_name(t, row->event, at) && note_name(t, row->ended, at + 1) ? 0 : out_of_memory(r);
}

static int read_line(struct reader *r)
{
    struct call_row row = {.object = CALL_THIS, .line = r->line};
    struct word w = next(r);
    if (w.len == 0)
        return 0;
    TRY(read_method(r, w, &row));
    while ((w = next(r)).len > 0) {
        int known = row.event ? 0 : read_kind(w, &row);
        if (!known && !row.event)
            known = read_object(r, w, &row);
        TRY(known);
        if (!known)
            TRY(read_event(r, w, &row));
    }
    TRY(name_row(r, &row));
    TRY(check_names(r, &row));
    return add_row(r, &row);
}

int call_table_read(struct call_table *t, const char *name, const char *text, size_t len,
                    struct err *err)
{
    struct reader r = {.t = t, .name = name, .err = err};
    *t = (struct call_table){0};
    arena_init(&t->arena, 0);
    const char *p = text, *end = text + len;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        r.line++;
        r.p = p;
        r.end = stop;
        if (memchr(p, 0, (size_t)(stop - p)))
            return err_set(err, -EINVAL, "%s: line %u: a NUL byte: not a text file", name, r.line);
        TRY(read_line(&r));
        p = stop + (stop < end);
    }
    return 0;
}

static int open_file(struct call_table *t, const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    int rc = call_table_read_fd(t, path, fd, err);
    close(fd);
    return rc;
}

static int open_list(struct call_table *t, const char *list, struct err *err)
{
    char *text = strdup(list);
    if (!text)
        return err_set(err, -ENOMEM, "out of memory");
    for (char *p = text; *p; p++)
        if (*p == '+')
            *p = '\n';
    int rc = call_table_read(t, "methods", text, strlen(text), err);
    free(text);
    return rc;
}

int call_table_read_fd(struct call_table *t, const char *name, int fd, struct err *err)
{
    *t = (struct call_table){0};
    int64_t size = fdio_size(fd);
    if (size < 0 || size > CALL_TABLE_MAX)
        return err_set(err, -EINVAL, "%s: not a file of at most %d MiB", name,
                       CALL_TABLE_MAX >> 20);
    char *text = malloc((size_t)size + 1);
    if (!text)
        return err_set(err, -ENOMEM, "%s: out of memory", name);
    ssize_t n = fdio_pread_some(fd, text, (size_t)size, 0);
    int rc = n < 0 ? err_set(err, (int)n, "%s: %s", name, strerror((int)-n))
                   : call_table_read(t, name, text, (size_t)n, err);
    free(text);
    return rc;
}

int call_table_open(struct call_table *t, const char *spec, struct err *err)
{
    *t = (struct call_table){0};
    return strchr(spec, '#') ? open_list(t, spec, err) : open_file(t, spec, err);
}

void call_table_fini(struct call_table *t)
{
    free(t->rows);
    arena_fini(&t->arena);
    map_fini(&t->names);
    *t = (struct call_table){0};
}

/* --- use -------------------------------------------------------------------------------------- */

void call_row_put(struct buf *b, const struct call_row *r)
{
    for (const char *p = r->class; *p; p++)
        buf_putc(b, (char)(*p == '/' ? '.' : *p));
    buf_printf(b, "#%s%s %s%s ", r->method, r->params, call_kind_names[r->kind],
               r->nests ? " nests" : "");
    if (r->object >= 0)
        buf_printf(b, "arg%d", r->object);
    else
        buf_puts(b, r->object == CALL_THIS ? "this" : "none");
    buf_printf(b, " %s%s%s", r->event, *r->ended ? " " : "", r->ended);
}

bool call_row_is(const struct call_row *r, const char *method, size_t method_len, const char *desc,
                 size_t desc_len)
{
    size_t params = strlen(r->params);
    if (strlen(r->method) != method_len || memcmp(r->method, method, method_len) != 0)
        return false;
    if (params == 0)
        return true;
    /* "(J)" stands for each result; a whole descriptor only for itself. */
    bool whole = r->params[params - 1] != ')';
    return (whole ? desc_len == params : desc_len > params) && memcmp(desc, r->params, params) == 0;
}

const struct call_row *call_table_find(const struct call_table *t, const char *event, size_t len,
                                       bool *ended)
{
    uint64_t hash, at = len ? find_name(t, event, len, &hash) : 0;
    *ended = at && (at - 1) % 2;
    return at ? &t->rows[(at - 1) / 2] : NULL;
}

/* --- definitions ------------------------------------------------------------------------------ */

/* "java/util/concurrent/locks/ReentrantLock" "lock" -> "ReentrantLock.lock" */
int call_define(const struct call_row *r, call_id id, struct call_texts *t, struct def *d)
{
    const char *slash = strrchr(r->class, '/');
    buf_init(&t->name);
    buf_init(&t->class);
    buf_init(&t->row);
    buf_printf(&t->name, "%s.%s", slash ? slash + 1 : r->class, r->method);
    buf_printf(&t->class, "L%s;", r->class);
    call_row_put(&t->row, r);
    *d = (struct def){.kind = DEF_call,
                      .call = {.id = id,
                               .name = {buf_str(&t->name), t->name.len},
                               .class_name = {buf_str(&t->class), t->class.len},
                               .method = {r->method, strlen(r->method)},
                               .row = {buf_str(&t->row), t->row.len}}};
    return t->name.oom || t->class.oom || t->row.oom ? -ENOMEM : 0;
}

void call_texts_fini(struct call_texts *t)
{
    buf_fini(&t->name);
    buf_fini(&t->class);
    buf_fini(&t->row);
}
