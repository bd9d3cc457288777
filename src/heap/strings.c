#include "heap/strings.h"

#include "base/hash.h"
#include "base/util.h"
#include "heap/bits.h"
#include "heap/missing.h"
#include "heap/objects.h"
#include "heap/workers.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256, CHUNK = 64 << 10 };

/* An array of Strings.  20 bytes: there are many. */
struct value {
    uint32_t high, low; /* the hash */
    uint32_t array, eighths;
    _Atomic uint32_t strings; /* relaxed: joining orders */
};

/* An array of a value that will be shown, in the order of numbers. */
struct member {
    uint32_t array, group, strings;
    bool different; /* the hashes are the same, the bytes are not */
};

struct member_string {
    uint32_t string, group;
};

struct kept { /* the bytes of a value, from the first array of it that came */
    uint64_t len;
    enum text_form form;
    uint8_t bytes[];
};

struct search {
    const struct dump *d;
    struct strings_found *out;
    size_t most;
    int64_t value_at, coder_at;     /* in a String's body; coder_at -1: there is none */
    _Atomic uint64_t *used, *utf16; /* arrays of Strings; those of two bytes a character */
    uint32_t *before;               /* arrays in lower words of `used` */
    struct value *values;
    size_t n_values;
    size_t begins[BUCKETS + 1];
    uint64_t *hashes; /* of the values that will be shown */
    _Atomic(struct kept *) kept[STRINGS_MOST];
    struct member *members;
    size_t n_members;
    _Atomic uint64_t *member_bits; /* of arrays, later of Strings */
    struct buf strings[WORKERS_MAX];
    struct member_string *all; /* in the order of numbers */
    size_t n_all;
};

static uint64_t hash_of(const struct value *v)
{
    return (uint64_t)v->high << 32 | v->low;
}

/* --- the Strings ------------------------------------------------------------------------------ */

/* The array of an item that is a String; IDS_NONE for none. */
static uint32_t array_of(const struct search *s, struct hprof *h, const struct hprof_item *it,
                         bool *utf16)
{
    const struct dump *d = s->d;
    const uint8_t *p;
    size_t id = d->id_size;
    if (it->tag != HPROF_INSTANCE || it->class_id != d->classes[d->string_class].id)
        return IDS_NONE;
    uint64_t len = min_u64(it->body_len, d->classes[d->string_class].body_len);
    size_t got = hprof_body(h, &p, (size_t)min_u64(len, HPROF_WINDOW), SIZE_MAX);
    if ((uint64_t)s->value_at + id > got)
        return IDS_NONE;
    *utf16 = s->coder_at >= 0 && (uint64_t)s->coder_at < got && p[s->coder_at] == 1;
    return ids_find(&d->ids, hprof_id(p + s->value_at, (uint32_t)id));
}

static int mark(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct search *s = ctx;
    bool utf16;
    UNUSED(worker);
    uint32_t array = it->sub ? array_of(s, h, it, &utf16) : IDS_NONE;
    if (array == IDS_NONE)
        return 0;
    bits_add(s->used, array);
    if (utf16)
        bits_add(s->utf16, array);
    return 0;
}

static uint32_t rank(const struct search *s, uint32_t array)
{
    uint64_t bits = atomic_load_explicit(&s->used[array >> 6], memory_order_relaxed);
    bits &= (UINT64_C(1) << (array & 63)) - 1;
    return s->before[array >> 6] + (uint32_t)__builtin_popcountll(bits);
}

static int make_values(struct search *s)
{
    size_t words = ((size_t)s->d->n_objects >> 6) + 1;
    uint32_t n = 0;
    s->before = malloc(words * sizeof *s->before);
    if (!s->before)
        return -ENOMEM;
    for (size_t i = 0; i < words; i++) {
        s->before[i] = n;
        n +=
            (uint32_t)__builtin_popcountll(atomic_load_explicit(&s->used[i], memory_order_relaxed));
    }
    s->n_values = n;
    s->values = calloc((size_t)n + 1, sizeof *s->values);
    return s->values ? 0 : -ENOMEM;
}

/* --- hashes ----------------------------------------------------------------------------------- */

static bool is_text(const struct search *s, const struct hprof_item *it, uint32_t *array)
{
    if (!it->sub || it->tag != HPROF_PRIMITIVE_ARRAY ||
        (it->type != HPROF_BYTE && it->type != HPROF_CHAR))
        return false;
    *array = ids_find(&s->d->ids, it->id);
    return *array != IDS_NONE && bits_has(s->used, *array);
}

static enum text_form form_of(const struct search *s, const struct hprof_item *it, uint32_t array)
{
    return it->type == HPROF_CHAR      ? TEXT_CHARS
           : bits_has(s->utf16, array) ? TEXT_UTF16
                                       : TEXT_LATIN1;
}

static uint64_t hash_next(uint64_t hash, const uint8_t *p, size_t n)
{
    return hash_bytes(p, n, hash);
}

/* Same bytes in another form are another value. */
static uint64_t hash_begin(const struct hprof_item *it, enum text_form form)
{
    return it->body_len << 2 | form;
}

static uint64_t hash_body(struct hprof *h, uint64_t hash)
{
    const uint8_t *p;
    size_t got;
    while ((got = hprof_body(h, &p, CHUNK, CHUNK)) > 0)
        hash = hash_next(hash, p, got);
    return hash;
}

static int hash_item(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct search *s = ctx;
    uint32_t array;
    bool utf16;
    UNUSED(worker);
    if (!it->sub)
        return 0;
    if (is_text(s, it, &array)) {
        struct value *v = &s->values[rank(s, array)];
        uint64_t hash = hash_body(h, hash_begin(it, form_of(s, it, array)));
        v->high = (uint32_t)(hash >> 32);
        v->low = (uint32_t)hash;
        v->array = array;
        v->eighths = (uint32_t)(dump_item_size(s->d, it) / 8);
        return 0;
    }
    array = array_of(s, h, it, &utf16);
    if (array != IDS_NONE)
        atomic_fetch_add_explicit(&s->values[rank(s, array)].strings, 1, memory_order_relaxed);
    return 0;
}

/* --- equal ones ------------------------------------------------------------------------------- */

static int by_hash(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    uint64_t v = hash_of(x), w = hash_of(y);
    if (v != w)
        return v < w ? -1 : 1;
    return x->array < y->array ? -1 : x->array > y->array;
}

static void swap(struct value *a, struct value *b)
{
    struct value t;
    memcpy(&t, a, sizeof t);
    memcpy(a, b, sizeof t);
    memcpy(b, &t, sizeof t);
}

/* Arrays that the dump does not have: the last ones, out of sight. */
static void drop_missing(struct search *s)
{
    for (size_t i = 0; i < s->n_values;)
        if (s->values[i].eighths == 0)
            swap(&s->values[i], &s->values[--s->n_values]);
        else
            i++;
}

/* In place, by the first byte of the hash. */
static void divide(struct search *s)
{
    size_t at[BUCKETS], sum = 0;
    memset(s->begins, 0, sizeof s->begins);
    for (size_t i = 0; i < s->n_values; i++)
        s->begins[(s->values[i].high >> 24) + 1]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        sum += s->begins[b + 1];
        s->begins[b + 1] = sum;
        at[b] = s->begins[b];
    }
    for (size_t b = 0; b < BUCKETS; b++)
        while (at[b] < s->begins[b + 1]) {
            size_t to = s->values[at[b]].high >> 24;
            if (to == b)
                at[b]++;
            else
                swap(&s->values[at[b]], &s->values[at[to]++]);
        }
}

static int sort_bucket(void *ctx, unsigned worker, uint64_t bucket)
{
    struct search *s = ctx;
    size_t from = s->begins[bucket], n = s->begins[bucket + 1] - from;
    UNUSED(worker);
    if (n > 1)
        qsort(&s->values[from], n, sizeof *s->values, by_hash);
    return 0;
}

static bool before(const struct equal_strings *a, const struct equal_strings *b)
{
    if (a->wasted != b->wasted)
        return a->wasted > b->wasted;
    return a->strings > b->strings;
}

/* Keep it if it is one of the most wasteful. */
static void keep_group(struct search *s, const struct equal_strings *e, uint64_t hash)
{
    struct strings_found *f = s->out;
    if (s->most == 0 || (f->n == s->most && !before(e, &f->v[f->n - 1])))
        return;
    size_t at = f->n < s->most ? f->n++ : f->n - 1;
    for (; at > 0 && before(e, &f->v[at - 1]); at--) {
        f->v[at] = f->v[at - 1];
        s->hashes[at] = s->hashes[at - 1];
    }
    f->v[at] = *e;
    s->hashes[at] = hash;
}

static uint64_t wasted_by(const struct strings_found *f, const struct equal_strings *e)
{
    return (e->strings - 1) * f->string_size + (e->arrays - 1) * e->array_size;
}

static size_t group_at(const struct search *s, size_t from, struct equal_strings *e)
{
    size_t i = from;
    *e = (struct equal_strings){.array_size = (uint64_t)s->values[from].eighths * 8};
    for (; i < s->n_values && hash_of(&s->values[i]) == hash_of(&s->values[from]); i++) {
        e->strings += atomic_load_explicit(&s->values[i].strings, memory_order_relaxed);
        e->arrays++;
    }
    return i;
}

static int find_groups(struct search *s)
{
    struct strings_found *f = s->out;
    struct equal_strings e;
    f->v = calloc(s->most + 1, sizeof *f->v);
    s->hashes = calloc(s->most + 1, sizeof *s->hashes);
    if (!f->v || !s->hashes)
        return -ENOMEM;
    drop_missing(s);
    divide(s);
    TRY(workers_run(dump_workers(s->d), BUCKETS, sort_bucket, s));
    f->arrays = s->n_values;
    for (size_t i = 0, next; i < s->n_values; i = next) {
        next = group_at(s, i, &e);
        f->strings += e.strings;
        f->values++;
        if (e.strings < 2)
            continue;
        e.wasted = wasted_by(f, &e);
        f->duplicated++;
        f->wasted += e.wasted;
        keep_group(s, &e, hash_of(&s->values[i]));
    }
    return 0;
}

/* --- their members ---------------------------------------------------------------------------- */

/* The first value of at least this hash. */
static size_t value_of(const struct search *s, uint64_t hash)
{
    size_t i = 0;
    BISECT(i, s->n_values, hash_of(&s->values[i]) < hash);
    return i;
}

static int by_array(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return x->array < y->array ? -1 : x->array > y->array;
}

static int find_members(struct search *s)
{
    const struct strings_found *f = s->out;
    size_t n = 0;
    for (size_t g = 0; g < f->n; g++)
        n += f->v[g].arrays;
    s->members = calloc(n + 1, sizeof *s->members);
    s->member_bits = bits_new(s->d->n_objects);
    if (!s->members || !s->member_bits)
        return -ENOMEM;
    for (size_t g = 0; g < f->n; g++) {
        size_t from = value_of(s, s->hashes[g]);
        for (size_t i = from; i < from + f->v[g].arrays; i++) {
            uint32_t strings = atomic_load_explicit(&s->values[i].strings, memory_order_relaxed);
            s->members[s->n_members++] =
                (struct member){s->values[i].array, (uint32_t)g, strings, false};
            bits_add(s->member_bits, s->values[i].array);
        }
    }
    qsort(s->members, n, sizeof *s->members, by_array);
    free(s->values);
    s->values = NULL;
    return 0;
}

static struct member *member_of(const struct search *s, uint32_t array)
{
    struct member key = {.array = array};
    if (array == IDS_NONE || !bits_has(s->member_bits, array))
        return NULL;
    return bsearch(&key, s->members, s->n_members, sizeof key, by_array);
}

/* The bytes of the value, of this array if it is the first one; NULL when memory is out. */
static const struct kept *kept_of(struct search *s, uint32_t group, const struct kept *mine)
{
    struct kept *none = NULL;
    struct kept *there = atomic_load_explicit(&s->kept[group], memory_order_acquire);
    if (there)
        return there;
    size_t size = sizeof *mine + (size_t)min_u64(mine->len, STRINGS_KEPT);
    struct kept *copy = malloc(size);
    if (!copy)
        return NULL;
    memcpy(copy, mine, size);
    /* Release: pairs with the acquire of who compares with it. */
    if (atomic_compare_exchange_strong_explicit(&s->kept[group], &none, copy, memory_order_acq_rel,
                                                memory_order_acquire))
        return copy;
    free(copy);
    return none;
}

static int compare(struct search *s, struct hprof *h, const struct hprof_item *it, struct member *m)
{
    const uint8_t *p;
    size_t got = hprof_body(h, &p, STRINGS_KEPT, STRINGS_KEPT);
    struct kept *mine = malloc(sizeof *mine + got);
    if (!mine)
        return -ENOMEM;
    mine->len = it->body_len;
    mine->form = form_of(s, it, m->array);
    if (got)
        memcpy(mine->bytes, p, got);
    const struct kept *first =
        got == min_u64(it->body_len, STRINGS_KEPT) ? kept_of(s, m->group, mine) : mine;
    if (first)
        m->different = first->len != mine->len || first->form != mine->form ||
                       memcmp(first->bytes, mine->bytes, got) != 0;
    free(mine);
    return first ? 0 : -ENOMEM;
}

static int member_item(void *ctx, unsigned worker, struct hprof *h, const struct hprof_item *it)
{
    struct search *s = ctx;
    struct member *m;
    uint32_t array;
    bool utf16;
    if (!it->sub)
        return 0;
    if (is_text(s, it, &array))
        return (m = member_of(s, array)) ? compare(s, h, it, m) : 0;
    m = member_of(s, array_of(s, h, it, &utf16));
    if (!m)
        return 0;
    struct member_string x = {ids_find(&s->d->ids, it->id), m->group};
    buf_put(&s->strings[worker], &x, sizeof x);
    return s->strings[worker].oom ? -ENOMEM : 0;
}

static int by_string(const void *a, const void *b)
{
    const struct member_string *x = a, *y = b;
    return x->string < y->string ? -1 : x->string > y->string;
}

static int by_waste(const void *a, const void *b)
{
    return before(a, b) ? -1 : before(b, a);
}

/* What only looked equal is taken off again. */
static void take_off(struct search *s)
{
    struct strings_found *f = s->out;
    for (size_t i = 0; i < s->n_members; i++) {
        const struct member *m = &s->members[i];
        struct equal_strings *e = &f->v[m->group];
        if (!m->different || e->arrays < 2)
            continue;
        f->wasted -= e->wasted;
        e->arrays--;
        e->strings -= min_u64(m->strings, e->strings - 1);
        e->wasted = wasted_by(f, e);
        f->wasted += e->wasted;
        f->values++;
    }
}

static int put_texts(struct search *s)
{
    struct buf b = {0};
    int rc = 0;
    for (size_t g = 0; g < s->out->n; g++) {
        struct equal_strings *e = &s->out->v[g];
        const struct kept *k = atomic_load_explicit(&s->kept[g], memory_order_acquire);
        if (!k)
            continue;
        e->length = k->form == TEXT_LATIN1 ? k->len : k->len / 2;
        e->cut = e->length > STRINGS_TEXT;
        uint64_t shown = min_u64(e->length, STRINGS_TEXT);
        buf_clear(&b);
        object_text(k->form, k->bytes, (size_t)(k->form == TEXT_UTF16 ? 2 * shown : shown), &b);
        e->text = arena_strndup(&s->out->arena, buf_str(&b), b.len);
        if (!e->text || b.oom)
            rc = -ENOMEM;
    }
    buf_fini(&b);
    return rc;
}

/* --- who refers to them ----------------------------------------------------------------------- */

static int join_strings(struct search *s)
{
    struct buf all = {0};
    bits_free(s->member_bits);
    s->member_bits = bits_new(s->d->n_objects);
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        if (s->strings[i].len)
            buf_put(&all, s->strings[i].p, s->strings[i].len);
        buf_fini(&s->strings[i]);
    }
    s->all = (struct member_string *)(void *)all.p;
    s->n_all = all.len / sizeof *s->all;
    if (all.oom || !s->member_bits)
        return -ENOMEM;
    if (s->n_all)
        qsort(s->all, s->n_all, sizeof *s->all, by_string);
    for (size_t i = 0; i < s->n_all; i++)
        bits_add(s->member_bits, s->all[i].string);
    return 0;
}

static bool look(void *ctx, uint32_t object, struct held *out)
{
    const struct search *s = ctx;
    struct member_string key = {.string = object};
    const struct member_string *x = bsearch(&key, s->all, s->n_all, sizeof key, by_string);
    if (x)
        out->group = x->group;
    return x != NULL;
}

static int find_holders(struct search *s, struct err *err)
{
    const struct holders_query query = {s->member_bits, look, s};
    struct holder *holders;
    size_t n;
    TRY(holders_find(s->d, &query, &holders, &n, err));
    for (size_t i = 0; i < n; i++) {
        struct equal_strings *e = &s->out->v[holders[i].group];
        e->all++;
        if (e->n_holders < STRINGS_HOLDERS)
            e->holders[e->n_holders++] = holders[i];
    }
    free(holders);
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void search_fini(struct search *s)
{
    bits_free(s->used);
    bits_free(s->utf16);
    bits_free(s->member_bits);
    for (size_t i = 0; i < STRINGS_MOST; i++)
        free(atomic_load_explicit(&s->kept[i], memory_order_relaxed));
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        buf_fini(&s->strings[i]);
    free(s->before);
    free(s->values);
    free(s->hashes);
    free(s->members);
    free(s->all);
}

static int no_memory(const struct search *s, int rc, struct err *err)
{
    return rc < 0 ? err_set(err, rc, "%s: out of memory", s->d->path) : 0;
}

static int find_all(struct search *s, struct err *err)
{
    s->used = bits_new(s->d->n_objects);
    s->utf16 = bits_new(s->d->n_objects);
    if (!s->used || !s->utf16)
        return no_memory(s, -ENOMEM, err);
    TRY(dump_each(s->d, mark, s, err));
    TRY(no_memory(s, make_values(s), err));
    TRY(dump_each(s->d, hash_item, s, err));
    TRY(no_memory(s, find_groups(s), err));
    if (s->out->n == 0)
        return 0;
    TRY(no_memory(s, find_members(s), err));
    TRY(dump_each(s->d, member_item, s, err));
    take_off(s);
    TRY(no_memory(s, put_texts(s), err));
    TRY(no_memory(s, join_strings(s), err));
    TRY(find_holders(s, err));
    qsort(s->out->v, s->out->n, sizeof *s->out->v, by_waste);
    return 0;
}

/* Where a String has what; 1: the dump has none. */
static int find_layout(struct search *s, struct err *err)
{
    const struct dump *d = s->d;
    uint8_t type;
    if (d->string_class == DUMP_NONE || !missing_knows_contents(d))
        return 1;
    const struct dump_class *c = &d->classes[d->string_class];
    s->out->string_size = c->size;
    s->value_at = dump_field_at(d, c, NULL, "value", &type);
    if (s->value_at < 0 || type != HPROF_OBJECT)
        return 1;
    if (dump_field_at(d, c, NULL, "offset", &type) >= 0)
        return err_set(err, -ENOTSUP,
                       "%s: its Strings are parts of arrays, as up to JDK 6: equal ones are found "
                       "in dumps of JDK 7 or later",
                       d->path);
    s->coder_at = dump_field_at(d, c, NULL, "coder", &type);
    return 0;
}

int strings_find(struct strings_found *out, const struct dump *d, size_t most, struct err *err)
{
    *out = (struct strings_found){0};
    arena_init(&out->arena, 0);
    struct search *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, -ENOMEM, "%s: out of memory", d->path);
    s->d = d;
    s->out = out;
    s->most = most < STRINGS_MOST ? most : STRINGS_MOST;
    int rc = find_layout(s, err);
    if (rc == 0)
        rc = find_all(s, err);
    search_fini(s);
    free(s);
    if (rc < 0)
        strings_fini(out);
    return rc < 0 ? rc : 0;
}

void strings_fini(struct strings_found *s)
{
    free(s->v);
    arena_fini(&s->arena);
    *s = (struct strings_found){0};
}
