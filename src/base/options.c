#include "base/options.h"

#include "base/near.h"
#include "base/util.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* --- values ----------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    uint64_t scale;
};

/* Largest first: the printer takes the first that divides. */
static const struct unit size_units[] = {{"t", 1ull << 40}, {"g", 1ull << 30}, {"m", 1ull << 20},
                                         {"k", 1ull << 10}, {"", 1},           {0}};
static const struct unit time_units[] = {{"h", 3600000000000ull},
                                         {"m", 60000000000ull},
                                         {"s", 1000000000ull},
                                         {"ms", 1000000ull},
                                         {"us", 1000ull},
                                         {"ns", 1ull},
                                         {0}};

/* The decimal digits at *at; false when there are none or too many. */
static bool digits(const char **at, uint64_t *out)
{
    const char *start = *at;
    uint64_t v = 0;
    for (; isdigit((unsigned char)**at); ++*at)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(**at - '0'), &v))
            return false;
    *out = v;
    return *at != start;
}

/* The digits behind a decimal point as parts of *pow; at most nine of them. */
static bool fraction(const char **at, uint64_t *part, uint64_t *pow)
{
    *part = 0;
    *pow = 1;
    if (**at != '.')
        return true;
    ++*at;
    const char *start = *at;
    if (!digits(at, part) || *at - start > 9)
        return false;
    for (const char *p = start; p < *at; p++)
        *pow *= 10;
    return true;
}

static int parse_scaled(const char *text, const struct unit *units, uint64_t *out)
{
    uint64_t whole, part, pow;
    if (!digits(&text, &whole) || !fraction(&text, &part, &pow))
        return -EINVAL;
    if (whole == 0 && part == 0 && !*text) {
        *out = 0;
        return 0;
    }
    const struct unit *u = units;
    while (u->name && strcasecmp(u->name, text) != 0)
        u++;
    if (!u->name || (pow > 1 && u->scale == 1))
        return -EINVAL;
    if (__builtin_mul_overflow(whole, u->scale, out) ||
        __builtin_add_overflow(*out, (uint64_t)((unsigned __int128)part * u->scale / pow), out))
        return -EINVAL;
    return 0;
}

static void print_scaled(struct buf *b, const struct unit *units, uint64_t v)
{
    const struct unit *u = units;
    while (u->scale > 1 && (v == 0 || v % u->scale != 0))
        u++;
    buf_printf(b, "%" PRIu64 "%s", v / u->scale, u->name);
}

static int choice_find(const struct opt *o, const char *word, size_t len, uint64_t *index)
{
    for (uint64_t i = 0; o->choices[i]; i++)
        if (strlen(o->choices[i]) == len && memcmp(o->choices[i], word, len) == 0) {
            *index = i;
            return 0;
        }
    return -EINVAL;
}

static int parse_flag(const struct opt *o, const char *value, void *place)
{
    static const char *const words[] = {"off", "on", "no", "yes", "false", "true", "0", "1"};
    UNUSED(o);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(value, words[i]) == 0) {
            *(bool *)place = i % 2 == 1;
            return 0;
        }
    return -EINVAL;
}

static int parse_str(const struct opt *o, const char *value, void *place)
{
    UNUSED(o);
    if (!*value)
        return -EINVAL;
    *(const char **)place = value;
    return 0;
}

static int store_in_range(const struct opt *o, uint64_t v, void *place)
{
    if (v < o->min || (o->max && v > o->max))
        return -EINVAL;
    *(uint64_t *)place = v;
    return 0;
}

static int parse_uint(const struct opt *o, const char *value, void *place)
{
    uint64_t v;
    if (!digits(&value, &v) || *value)
        return -EINVAL;
    return store_in_range(o, v, place);
}

static int parse_size(const struct opt *o, const char *value, void *place)
{
    uint64_t v;
    TRY(parse_scaled(value, size_units, &v));
    return store_in_range(o, v, place);
}

static int parse_time(const struct opt *o, const char *value, void *place)
{
    uint64_t v;
    TRY(parse_scaled(value, time_units, &v));
    return store_in_range(o, v, place);
}

static int parse_choice(const struct opt *o, const char *value, void *place)
{
    return choice_find(o, value, strlen(value), place);
}

static int parse_set(const struct opt *o, const char *value, void *place)
{
    uint64_t set = 0, all = 0;
    for (size_t i = 0; o->choices[i]; i++)
        all |= 1ull << i;
    all &= ~o->min;
    for (const char *at = value;; at++) {
        size_t len = strcspn(at, "+,");
        uint64_t i;
        if (len == 3 && memcmp(at, "all", 3) == 0)
            set |= all;
        else if (choice_find(o, at, len, &i) == 0)
            set |= 1ull << i;
        else if (len != 4 || memcmp(at, "none", 4) != 0)
            return -EINVAL;
        at += len;
        if (!*at)
            break;
    }
    *(uint64_t *)place = set;
    return 0;
}

/* --- what is allowed, in words ---------------------------------------------------------------- */

static void say_flag(const struct opt *o, struct buf *b)
{
    UNUSED(o);
    buf_puts(b, "on or off");
}

static void say_str(const struct opt *o, struct buf *b)
{
    UNUSED(o);
    buf_puts(b, "a nonempty text");
}

static void say_range(const struct opt *o, const struct unit *units, struct buf *b)
{
    if (o->min) {
        buf_puts(b, o->max ? " from " : ", at least ");
        print_scaled(b, units, o->min);
    }
    if (o->max) {
        buf_puts(b, o->min ? " to " : ", at most ");
        print_scaled(b, units, o->max);
    }
}

static void say_uint(const struct opt *o, struct buf *b)
{
    static const struct unit plain[] = {{"", 1}, {0}};
    buf_puts(b, "a number");
    say_range(o, plain, b);
}

static void say_size(const struct opt *o, struct buf *b)
{
    buf_puts(b, "a size such as 64k, 16m or 1g");
    say_range(o, size_units, b);
}

static void say_time(const struct opt *o, struct buf *b)
{
    buf_puts(b, "a time such as 500ms, 30s, 10m or 2h");
    say_range(o, time_units, b);
}

static void list_choices(const struct opt *o, struct buf *b)
{
    for (size_t i = 0; o->choices[i]; i++)
        buf_printf(b, "%s%s", i ? ", " : "", o->choices[i]);
}

static void say_choice(const struct opt *o, struct buf *b)
{
    buf_puts(b, "one of ");
    list_choices(o, b);
}

static void say_set(const struct opt *o, struct buf *b)
{
    buf_puts(b, "one or more, joined by '+', of ");
    list_choices(o, b);
    buf_puts(b, ", all, none");
}

static const struct {
    int (*parse)(const struct opt *o, const char *value, void *place);
    void (*say)(const struct opt *o, struct buf *b);
} kinds[] = {
    [OPT_FLAG] = {parse_flag, say_flag}, [OPT_STR] = {parse_str, say_str},
    [OPT_UINT] = {parse_uint, say_uint}, [OPT_SIZE] = {parse_size, say_size},
    [OPT_TIME] = {parse_time, say_time}, [OPT_CHOICE] = {parse_choice, say_choice},
    [OPT_SET] = {parse_set, say_set},
};

/* `dashes` is how the name is written where the value came from: "--", or "" in the agent's
 * text. */
static int set_value(const struct opt *o, const char *value, const char *dashes, void *into,
                     struct err *err)
{
    if (kinds[o->kind].parse(o, value, (char *)into + o->offset) == 0)
        return 0;
    struct buf b;
    buf_init(&b);
    kinds[o->kind].say(o, &b);
    err_set(err, -EINVAL, "%s%s=%s: it takes %s", dashes, o->name, value, buf_str(&b));
    buf_fini(&b);
    return -EINVAL;
}

int opt_parse_value(const struct opt *o, const char *value, void *into, struct err *err)
{
    return set_value(o, value, "", into, err);
}

/* --- names ------------------------------------------------------------------------------------ */

const struct opt *opt_find(struct opt_table t, const char *name, size_t len)
{
    for (size_t i = 0; i < t.n; i++)
        if (strlen(t.rows[i].name) == len && memcmp(t.rows[i].name, name, len) == 0)
            return &t.rows[i];
    return NULL;
}

static const struct opt *find_letter(struct opt_table t, char letter)
{
    for (size_t i = 0; i < t.n; i++)
        if (t.rows[i].letter == letter)
            return &t.rows[i];
    return NULL;
}

static const struct opt *find_near(struct opt_table t, const char *name, size_t len)
{
    const struct opt *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < t.n; i++) {
        size_t d = near_distance(name, len, t.rows[i].name, strlen(t.rows[i].name));
        if (t.rows[i].help && d < least) {
            least = d;
            best = &t.rows[i];
        }
    }
    return best && near_close(least, len) ? best : NULL;
}

static int unknown(struct opt_table t, const char *name, size_t len, const char *dashes,
                   struct err *err)
{
    const char *what = *dashes ? "option" : "key";
    const struct opt *near = find_near(t, name, len);
    if (near)
        return err_set(err, -EINVAL, "unknown %s '%s%.*s'; did you mean '%s%s'?", what, dashes,
                       (int)len, name, dashes, near->name);
    struct buf b;
    buf_init(&b);
    for (size_t i = 0; i < t.n; i++)
        if (t.rows[i].help)
            buf_printf(&b, "%s%s%s", b.len ? ", " : "", dashes, t.rows[i].name);
    err_set(err, -EINVAL, "unknown %s '%s%.*s'; %s %s", what, dashes, (int)len, name,
            b.len ? "known are:" : "none are known here", buf_str(&b));
    buf_fini(&b);
    return -EINVAL;
}

/* --- the command line ------------------------------------------------------------------------- */

struct args {
    struct opt_table t;
    void *into;
    int argc;
    char **argv;
    int at; /* the argument being parsed */
    struct err *err;
};

static int needs_value(const struct opt *o, const char *dashes, struct err *err)
{
    return err_set(err, -EINVAL, "%s%s needs a value: %s%s=%s", dashes, o->name, dashes, o->name,
                   o->metavar ? o->metavar : "VALUE");
}

static int parse_long(struct args *a, const char *name)
{
    size_t len = strcspn(name, "=");
    const struct opt *o = opt_find(a->t, name, len);
    if (!o && len == 4 && memcmp(name, "help", 4) == 0)
        return OPT_WANTS_HELP;
    if (!o)
        return unknown(a->t, name, len, "--", a->err);
    if (name[len] == '=')
        return set_value(o, name + len + 1, "--", a->into, a->err);
    if (o->kind == OPT_FLAG)
        return set_value(o, "on", "--", a->into, a->err);
    if (a->at + 1 >= a->argc)
        return needs_value(o, "--", a->err);
    return set_value(o, a->argv[++a->at], "--", a->into, a->err);
}

/* "-q", "-qv", "-oFILE", "-o FILE" */
static int parse_letters(struct args *a, const char *letters)
{
    for (const char *l = letters; *l; l++) {
        const struct opt *o = find_letter(a->t, *l);
        if (!o && *l == 'h')
            return OPT_WANTS_HELP;
        if (!o)
            return err_set(a->err, -EINVAL, "unknown option '-%c'", *l);
        if (o->kind == OPT_FLAG) {
            TRY(set_value(o, "on", "--", a->into, a->err));
            continue;
        }
        if (l[1])
            return set_value(o, l + 1, "--", a->into, a->err);
        if (a->at + 1 >= a->argc)
            return needs_value(o, "--", a->err);
        return set_value(o, a->argv[++a->at], "--", a->into, a->err);
    }
    return 0;
}

int opt_parse_args(struct opt_table t, int argc, char **argv, enum opt_order order, void *into,
                   struct err *err)
{
    struct args a = {t, into, argc, argv, 1, err};
    int operands = 0;
    bool ended = false;
    for (; a.at < argc; a.at++) {
        char *arg = argv[a.at];
        if (ended || arg[0] != '-' || !arg[1]) {
            argv[1 + operands++] = arg;
            ended |= order == OPT_OPERANDS_LAST;
        } else if (strcmp(arg, "--") == 0) {
            ended = true;
        } else if (arg[1] == '-') {
            TRY(parse_long(&a, arg + 2));
        } else {
            TRY(parse_letters(&a, arg + 1));
        }
    }
    if (argc > 0)
        argv[1 + operands] = NULL;
    return operands;
}

/* --- the agent's text ------------------------------------------------------------------------- */

/* The end of the item at `at`: its first comma that no backslash precedes, or the end of the
 * text. */
static char *item_end(char *at)
{
    while (*at && *at != ',')
        at += at[0] == '\\' && (at[1] == ',' || at[1] == '\\') ? 2 : 1;
    return at;
}

static void unescape(char *s)
{
    char *to = s;
    while (*s) {
        if (s[0] == '\\' && (s[1] == ',' || s[1] == '\\'))
            s++;
        *to++ = *s++;
    }
    *to = 0;
}

static int parse_item(struct opt_table t, char *item, void *into, struct err *err)
{
    size_t len = strcspn(item, "=");
    const struct opt *o = opt_find(t, item, len);
    if (!o)
        return unknown(t, item, len, "", err);
    if (item[len] == '=') {
        unescape(item + len + 1);
        return set_value(o, item + len + 1, "", into, err);
    }
    return o->kind == OPT_FLAG ? set_value(o, "on", "", into, err) : needs_value(o, "", err);
}

char *opt_cut_item(char *text)
{
    char *end = item_end(text), *rest = *end ? end + 1 : end;
    *end = 0;
    unescape(text);
    return rest;
}

int opt_parse_keys(struct opt_table t, char *text, void *into, struct err *err)
{
    for (char *at = text; *at;) {
        char *end = item_end(at);
        bool last = !*end;
        *end = 0;
        if (*at)
            TRY(parse_item(t, at, into, err));
        if (last)
            break;
        at = end + 1;
    }
    return 0;
}

void opt_escape(struct buf *b, const char *value)
{
    for (; *value; value++) {
        if (*value == ',' || *value == '\\')
            buf_putc(b, '\\');
        buf_putc(b, *value);
    }
}

/* --- the help text ---------------------------------------------------------------------------- */

enum { WIDTH = 100, HELP_COLUMN = 28 };

void opt_label(const struct opt *o, struct buf *b)
{
    if (o->letter)
        buf_printf(b, "-%c, ", o->letter);
    else
        buf_puts(b, "    ");
    buf_printf(b, "--%s", o->name);
    if (o->metavar)
        buf_printf(b, "=%s", o->metavar);
}

void opt_text(const struct opt *o, struct buf *b)
{
    buf_puts(b, o->help);
    if (!o->choices)
        return;
    buf_puts(b, o->kind == OPT_SET ? "; known are " : "; one of ");
    list_choices(o, b);
}

static void pad(struct buf *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_putc(b, ' ');
}

void opt_wrap(struct buf *b, const char *text, size_t at, size_t indent)
{
    for (bool first = true; *text; first = false) {
        size_t len = strcspn(text, " \n");
        if (!first && at + 1 + len > WIDTH) {
            buf_putc(b, '\n');
            pad(b, indent);
            at = indent;
        } else if (!first) {
            buf_putc(b, ' ');
            at++;
        }
        buf_put(b, text, len);
        at += len;
        text += len;
        text += strspn(text, " \n");
    }
}

void opt_help(struct opt_table t, struct buf *b)
{
    for (size_t i = 0; i < t.n; i++) {
        const struct opt *o = &t.rows[i];
        if (!o->help)
            continue;
        size_t start = b->len;
        buf_puts(b, "  ");
        opt_label(o, b);
        size_t used = b->len - start;
        if (used + 2 > HELP_COLUMN) {
            buf_putc(b, '\n');
            used = 0;
        }
        pad(b, HELP_COLUMN - used);
        struct buf text;
        buf_init(&text);
        opt_text(o, &text);
        opt_wrap(b, buf_str(&text), HELP_COLUMN, HELP_COLUMN);
        buf_fini(&text);
        buf_putc(b, '\n');
    }
}
