#include "import/orca_defs.h"

#include "base/hash.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_OF_METHOD_MAX = 65535 }; /* class files count them in 16 bits */

void orca_defs_init(struct orca_defs *d, struct intake *in, enum orca_version version)
{
    memset(d, 0, sizeof *d);
    d->in = in;
    d->version = version;
}

void orca_defs_fini(struct orca_defs *d)
{
    map_fini(&d->ids);
    map_fini(&d->given);
    map_fini(&d->methods);
    map_fini(&d->classes);
    map_fini(&d->class_lines);
    digest_fini(&d->signatures);
    buf_fini(&d->packed);
    free(d->pairs);
    memset(d, 0, sizeof *d);
}

static int out_of_memory(const struct orca_defs *d, struct err *err)
{
    return err_set(err, -ENOMEM, "%s: out of memory", d->in->name);
}

/* --- ids of methods --------------------------------------------------------------------------- */

/* An id that no method of the file has kept. */
static uint32_t give(struct orca_defs *d)
{
    const uint64_t *kept;
    do
        kept = map_find(&d->ids, ++d->last_given);
    while (kept && *kept == d->last_given);
    return map_put(&d->given, d->last_given) ? d->last_given : 0;
}

/* Every method that has a line is in `ids` now, with 0.  Those that can keep their id do, before
 * any other gets one. */
static int give_ids(struct orca_defs *d, struct err *err)
{
    uint64_t limit = trace_id_limit(d->ids.len);
    for (size_t i = 0; i < d->ids.cap; i++) {
        struct map_slot *s = &d->ids.slots[i];
        if (s->used && s->key < limit)
            s->value = s->key;
    }
    for (size_t i = 0; i < d->ids.cap; i++) {
        struct map_slot *s = &d->ids.slots[i];
        if (s->used && s->value == 0 && (s->value = give(d)) == 0)
            return out_of_memory(d, err);
    }
    return 0;
}

int orca_defs_method(struct orca_defs *d, uint64_t in_file, method_id *id, struct err *err)
{
    const uint64_t *known = map_find(&d->ids, in_file);
    id->v = known ? (uint32_t)*known : 0;
    if (known || in_file == 0)
        return 0;
    bool keeps = in_file <= UINT32_MAX && !map_find(&d->given, in_file);
    id->v = keeps ? (uint32_t)in_file : give(d);
    uint64_t *slot = map_put(&d->ids, in_file);
    if (!slot || id->v == 0)
        return out_of_memory(d, err);
    *slot = id->v;
    return 0;
}

/* --- repeated lines --------------------------------------------------------------------------- */

/* Whether `key` has no line yet; this one is its line then.  The same line again says nothing new;
 * another one is a problem, because nothing says which of them an event means. */
static int first_line(struct orca_defs *d, struct map *lines, uint64_t key, const struct scan *s,
                      const char *what)
{
    /* The time stamp, which version 2 begins with, may differ. */
    const char *from = d->version == ORCA_2
                           ? memchr(s->line.p, ',', (size_t)(s->line.end - s->line.p))
                           : s->line.p;
    uint64_t hash = hash_bytes(from, (size_t)(s->line.end - from), 0);
    size_t before = lines->len;
    uint64_t *slot = map_put(lines, key);
    if (!slot)
        return out_of_memory(d, s->err);
    if (lines->len > before) {
        *slot = hash;
        return 1;
    }
    if (*slot != hash)
        intake_note(d->in, s->line.offset, true,
                    "%s: line %llu: the %s %08llX has an earlier line, which counts", s->name,
                    (unsigned long long)s->line.number, what, (unsigned long long)key);
    return 0;
}

/* --- fields ----------------------------------------------------------------------------------- */

/* A text that begins with one of `first`; NULL: with anything.  It may not be empty. */
static int read_name(struct scan *s, const char *what, const char *first, struct text *out)
{
    const char *at = s->p;
    *out = scan_text(s);
    if (out->len == 0 || (first && !strchr(first, *out->p)))
        return scan_expected(s, at, what);
    return 0;
}

static int read_signature(struct scan *s, struct text *out)
{
    return read_name(s, "a class signature (Lname;)", "L[", out);
}

/* Version 1.1 leaves open how it is written: eight digits are hex, as in version 2. */
static int read_line_number(struct orca_defs *d, struct scan *s, uint32_t *line)
{
    size_t left = (size_t)(s->line.end - s->p);
    const char *comma = memchr(s->p, ',', left < 9 ? left : 9);
    size_t len = comma ? (size_t)(comma - s->p) : left;
    if (d->version == ORCA_2 || len == 8)
        return scan_hex8(s, "line number", line);
    int64_t v;
    TRY(scan_decimal(s, "a line number", 0, 9999999, &v));
    *line = (uint32_t)v;
    return 0;
}

/* The pairs of a line table as they stand in the file, into d->pairs. */
static int read_pairs(struct orca_defs *d, struct scan *s, size_t *n)
{
    int64_t count;
    char separator = orca_separator(d->version);
    TRY(scan_decimal(s, "the length of a line table", INT32_MIN, LINES_OF_METHOD_MAX, &count));
    *n = count > 0 ? (size_t)count : 0;
    if (*n > d->cap_pairs) {
        uint32_t *pairs = realloc(d->pairs, *n * 2 * sizeof *pairs);
        if (!pairs)
            return out_of_memory(d, s->err);
        d->pairs = pairs;
        d->cap_pairs = *n;
    }
    for (size_t i = 0; i < *n; i++) {
        TRY(scan_char(s, separator));
        TRY(scan_hex8(s, "start location", &d->pairs[2 * i]));
        TRY(scan_char(s, separator));
        TRY(read_line_number(d, s, &d->pairs[2 * i + 1]));
    }
    return scan_end(s);
}

/* A method's code begins at location 0 and no source line is 0: the column with a 0 is the
 * location. */
static void vote(struct orca_defs *d, size_t n)
{
    bool zero[2] = {false, false};
    for (size_t i = 0; i < 2 * n; i++)
        zero[i % 2] |= d->pairs[i] == 0;
    d->start_first += zero[0] && !zero[1];
    d->line_first += zero[1] && !zero[0];
}

static struct packed pack(struct orca_defs *d, size_t n)
{
    bool swap = d->line_first > d->start_first;
    uint32_t start = 0, line = 0;
    buf_clear(&d->packed);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *pair = &d->pairs[2 * i];
        packed_put_line(&d->packed, pair[swap], pair[!swap], start, line);
        start = pair[swap];
        line = pair[!swap];
    }
    return (struct packed){d->packed.p, d->packed.len, (uint32_t)n};
}

/* --- classes ---------------------------------------------------------------------------------- */

static int put_class(struct orca_defs *d, uint32_t id, uint32_t hash, struct text signature,
                     struct text source, struct err *err)
{
    struct def def = {.kind = DEF_class,
                      .class = {.id = {id},
                                .hash = hash,
                                .signature = {signature.p, signature.len},
                                .source = {source.p, source.len}}};
    return intake_def(d->in, &def, err);
}

/* A line of a .classtable. */
static int class_line(void *ctx, struct scan *s)
{
    struct orca_defs *d = ctx;
    uint64_t time;
    uint32_t hash;
    struct text signature, source;
    TRY(scan_seconds(s, &time));
    TRY(scan_char(s, ','));
    TRY(scan_hex8(s, "class id", &hash));
    TRY(scan_char(s, ','));
    TRY(read_signature(s, &signature));
    TRY(scan_char(s, ','));
    source = scan_text(s);
    TRY(scan_end(s));
    int first = first_line(d, &d->class_lines, hash, s, "class");
    if (first <= 0)
        return first;
    uint64_t *slot = map_put(&d->classes, hash);
    if (!slot)
        return out_of_memory(d, s->err);
    *slot = d->classes.len;
    return put_class(d, (uint32_t)*slot, hash, signature, source, s->err);
}

/* The class of a signature, defined now when it is new. */
static int class_of_signature(struct orca_defs *d, struct text signature, struct text source,
                              class_id *id, struct err *err)
{
    bool fresh;
    id->v = digest_get(&d->signatures, signature.p, signature.len, &fresh);
    if (id->v == 0)
        return out_of_memory(d, err);
    return fresh ? put_class(d, id->v, 0, signature, source, err) : 0;
}

static int meta_class_line(struct orca_defs *d, struct scan *s)
{
    struct text signature, source;
    class_id id;
    if (d->methods_began)
        return scan_expected(s, s->p, "a method id: the classes come before the methods");
    TRY(read_signature(s, &signature));
    TRY(scan_char(s, ','));
    source = scan_text(s);
    TRY(scan_end(s));
    return class_of_signature(d, signature, source, &id, s->err);
}

int orca_defs_class(struct orca_defs *d, const char *name, class_id *id, struct err *err)
{
    struct buf b;
    bool fresh = false;
    buf_init(&b);
    buf_printf(&b, "L%s;", name);
    struct text signature = {buf_str(&b), b.len}, source = {"", 0};
    int rc = b.oom ? out_of_memory(d, err) : 0;
    if (rc == 0 && d->version == ORCA_1_1) {
        rc = class_of_signature(d, signature, source, id, err);
    } else if (rc == 0) {
        id->v = digest_get(&d->signatures, signature.p, signature.len, &fresh);
        rc = id->v ? 0 : out_of_memory(d, err);
        id->v += (uint32_t)d->classes.len;
        if (rc == 0 && fresh)
            rc = put_class(d, id->v, 0, signature, source, err);
    }
    buf_fini(&b);
    return rc;
}

/* --- methods ---------------------------------------------------------------------------------- */

struct method_line {
    uint32_t id, class_hash;
    struct text name, signature, class_; /* class_: version 1.1 */
    size_t n_pairs;
};

static int read_class_of_method(struct orca_defs *d, struct scan *s, struct method_line *m)
{
    if (d->version == ORCA_2)
        return scan_hex8(s, "class id", &m->class_hash);
    if (scan_at(s, ',')) /* not known */
        return 0;
    return read_signature(s, &m->class_);
}

static int read_method(struct orca_defs *d, struct scan *s, struct method_line *m)
{
    memset(m, 0, sizeof *m);
    if (d->version == ORCA_2) {
        uint64_t time;
        TRY(scan_seconds(s, &time));
        TRY(scan_char(s, ','));
    }
    TRY(scan_hex8(s, "method id", &m->id));
    TRY(scan_char(s, ','));
    TRY(read_name(s, "a method name", NULL, &m->name));
    TRY(scan_char(s, ','));
    TRY(read_name(s, "a method signature (...)", "(", &m->signature));
    TRY(scan_char(s, ','));
    TRY(read_class_of_method(d, s, m));
    TRY(scan_char(s, ','));
    return read_pairs(d, s, &m->n_pairs);
}

static int class_of_method(struct orca_defs *d, const struct method_line *m, class_id *id,
                           struct err *err)
{
    id->v = 0;
    if (d->version == ORCA_1_1)
        return m->class_.len ? class_of_signature(d, m->class_, (struct text){"", 0}, id, err) : 0;
    const uint64_t *known = map_find(&d->classes, m->class_hash);
    if (known)
        id->v = (uint32_t)*known;
    else if (m->class_hash)
        d->n_unknown_class++;
    return 0;
}

static int put_method(struct orca_defs *d, const struct method_line *m, struct err *err)
{
    const uint64_t *id = map_find(&d->ids, m->id);
    struct def def = {.kind = DEF_method,
                      .method = {.id = {id ? (uint32_t)*id : 0},
                                 .name = {m->name.p, m->name.len},
                                 .signature = {m->signature.p, m->signature.len},
                                 .lines = pack(d, m->n_pairs)}};
    TRY(class_of_method(d, m, &def.method.class_, err));
    if (d->packed.oom)
        return out_of_memory(d, err);
    return intake_def(d->in, &def, err);
}

/* Version 1.1 has classes and methods in one file; a signature never begins with a hex digit. */
static bool is_meta_class(const struct orca_defs *d, const struct scan *s)
{
    return d->version == ORCA_1_1 && (scan_at(s, 'L') || scan_at(s, '['));
}

/* First reading: which methods there are, and how line tables are written. */
static int survey_line(void *ctx, struct scan *s)
{
    struct orca_defs *d = ctx;
    struct method_line m;
    if (is_meta_class(d, s))
        return 0;
    TRY(read_method(d, s, &m));
    vote(d, m.n_pairs);
    return map_put(&d->ids, m.id) ? 0 : out_of_memory(d, s->err);
}

static int method_line(void *ctx, struct scan *s)
{
    struct orca_defs *d = ctx;
    struct method_line m;
    if (is_meta_class(d, s))
        return meta_class_line(d, s);
    d->methods_began = true;
    TRY(read_method(d, s, &m));
    int first = first_line(d, &d->methods, m.id, s, "method");
    return first > 0 ? put_method(d, &m, s->err) : first;
}

/* --- files ------------------------------------------------------------------------------------ */

static int read_file(struct orca_defs *d, const struct text_source *source,
                     int (*line)(void *ctx, struct scan *s), struct err *err)
{
    struct scan_cut cut;
    TRY(scan_lines(source, line, d, &cut, err));
    if (cut.cut)
        intake_note(d->in, cut.offset, false, "%s: %s", source->name, cut.text);
    return 0;
}

static int read_methods(struct orca_defs *d, const struct text_source *source, struct err *err)
{
    struct scan_cut ignored; /* noted by the second reading */
    TRY(scan_lines(source, survey_line, d, &ignored, err));
    TRY(give_ids(d, err));
    return read_file(d, source, method_line, err);
}

static void note_unknown_classes(struct orca_defs *d, const struct text_source *classes)
{
    if (d->n_unknown_class && classes->name)
        intake_note(d->in, 0, true, "%s: %llu methods belong to classes without a line",
                    classes->name, (unsigned long long)d->n_unknown_class);
}

int orca_defs_read(struct orca_defs *d, const struct text_source *methods,
                   const struct text_source *classes, struct err *err)
{
    if (classes->name)
        TRY(read_file(d, classes, class_line, err));
    if (methods->name)
        TRY(read_methods(d, methods, err));
    note_unknown_classes(d, classes);
    return 0;
}
