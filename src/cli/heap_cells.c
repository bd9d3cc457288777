#include "cli/heap_cells.h"

#include "base/human.h"
#include "base/printable.h"
#include "base/util.h"
#include "heap/links.h"
#include "heap/missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 1024 };

/* Rows of a long path, at each end. */
static const size_t PATH_ENDS = 12;

void heap_put_name(const struct heap_report *h, struct table *t, const char *name)
{
    char text[NAME];
    printable_text(name, h->utf8, text, sizeof text);
    table_put(t, text);
}

void heap_put_id(struct table *t, uint64_t id)
{
    char text[32];
    snprintf(text, sizeof text, "0x%" PRIx64, id);
    table_put(t, text);
}

void heap_put_count(struct table *t, uint64_t n)
{
    table_put(t, n ? human_count(n).text : "-");
}

void heap_put_object(struct heap_report *h, struct table *t, uint32_t object)
{
    struct buf b = {0};
    heap_put_id(t, ids_at(&h->d->ids, object));
    if (links_describe(&h->reader, object, &b) < 0)
        buf_puts(&b, "(cannot be read)");
    heap_put_name(h, t, buf_str(&b));
    buf_fini(&b);
}

void heap_put_table(struct table *t)
{
    table_print(t, stdout);
    table_fini(t);
}

/* The object that refers to the next one, and by which field. */
static void put_step(struct heap_report *h, struct table *t, const struct heap_path *path, size_t i)
{
    struct buf b = {0};
    if (h->retained.known)
        table_put(t, human_count(retained_bytes(&h->retained, path->v[i])).text);
    heap_put_object(h, t, path->v[i]);
    if (i + 1 < path->n)
        links_name(&h->reader, path->v[i], path->v[i + 1], &b);
    else
        buf_putc(&b, '-');
    heap_put_name(h, t, buf_str(&b));
    buf_fini(&b);
}

void heap_put_path(struct heap_report *h, const struct heap_path *path, bool indented)
{
    static const struct table_column all[] = {{"", TABLE_LEFT, false},
                                              {"retained", TABLE_RIGHT, false},
                                              {"id", TABLE_LEFT, false},
                                              {"object, from a root on", TABLE_LEFT, true},
                                              {"refers by", TABLE_LEFT, false}};
    struct table_column columns[ARRAY_LEN(all)];
    unsigned n = 0;
    for (unsigned i = 0; i < ARRAY_LEN(all); i++)
        if (i == 0 ? indented : i > 1 || h->retained.known)
            columns[n++] = all[i];
    struct table t;
    table_init(&t, columns, n);
    for (size_t i = 0; i < path->n; i++) {
        if (path->n > 2 * PATH_ENDS && i == PATH_ENDS) {
            char text[64];
            i = path->n - PATH_ENDS;
            snprintf(text, sizeof text, "... %s more ...",
                     human_count(path->n - 2 * PATH_ENDS).text);
            for (unsigned c = 0; c < n; c++)
                table_put(&t, c == n - 2 ? text : c == n - 1 ? "-" : "");
        }
        if (indented)
            table_put(&t, "  ");
        put_step(h, &t, path, i);
    }
    heap_put_table(&t);
}

void heap_heading(const char *text)
{
    printf("\n%s\n", text);
}

const char *heap_at_least(const struct dump *d, bool begins)
{
    return !d->partial ? "" : begins ? "At least " : "at least ";
}

bool heap_is_known(const struct heap_report *h, const char *heading)
{
    if (h->retained.known)
        return true;
    heap_heading(heading);
    printf("Unknown, because the dump is incomplete.\n");
    return false;
}

bool heap_has_contents(const struct heap_report *h, const char *heading)
{
    if (missing_knows_contents(h->d))
        return true;
    heap_heading(heading);
    printf("Unknown, because an XML dump has no contents.\n");
    return false;
}

void heap_more(uint64_t all, size_t shown)
{
    if (all > shown)
        printf("... and %s more\n", human_count(all - shown).text);
}

const char *heap_printable(const struct heap_report *h, const char *text, struct buf *b)
{
    size_t room = 3 * strlen(text) + 1; /* U+FFFD for each byte, at worst */
    buf_clear(b);
    char *clean = (char *)buf_reserve(b, room);
    if (!clean)
        return "";
    printable_text(text, h->utf8, clean, room);
    b->len = strlen(clean);
    return buf_str(b);
}

const char *heap_class_name(const struct dump *d, uint32_t class_number)
{
    return class_number == DUMP_NONE ? "?" : d->classes[class_number].name;
}

/* --- JSON ------------------------------------------------------------------------------------- */

json_t *heap_cell_json_number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

json_t *heap_cell_json_retained(const struct heap_report *h, uint64_t bytes)
{
    return h->retained.known ? heap_cell_json_number(bytes) : json_null();
}

json_t *heap_cell_json_text(const char *s)
{
    char clean[NAME];
    printable_utf8(s, clean, sizeof clean);
    return json_string(clean);
}

json_t *heap_cell_json_id(uint64_t id)
{
    char hex[32];
    snprintf(hex, sizeof hex, "0x%" PRIx64, id);
    return json_string(hex);
}

json_t *heap_cell_json_undescribed(const struct heap_report *h, uint32_t x)
{
    return json_pack("{s:o, s:s, s:o}", "id", heap_cell_json_id(ids_at(&h->d->ids, x)), "object",
                     "(cannot be read)", "retained",
                     heap_cell_json_retained(h, retained_bytes(&h->retained, x)));
}

void heap_cell_json_describe(struct heap_report *h, uint32_t x, json_t *j)
{
    struct buf b = {0};
    if (links_describe(&h->reader, x, &b) >= 0)
        json_object_set_new(j, "object", heap_cell_json_text(buf_str(&b)));
    buf_fini(&b);
}

json_t *heap_cell_json_object(struct heap_report *h, uint32_t x)
{
    json_t *j = heap_cell_json_undescribed(h, x);
    heap_cell_json_describe(h, x, j);
    return j;
}

json_t *heap_cell_json_path(struct heap_report *h, const struct heap_path *path)
{
    json_t *list = json_array();
    for (size_t i = 0; i < path->n; i++) {
        struct buf b = {0};
        json_t *j = heap_cell_json_object(h, path->v[i]);
        if (i + 1 < path->n && links_name(&h->reader, path->v[i], path->v[i + 1], &b) == 0)
            json_object_set_new(j, "refers_by", heap_cell_json_text(buf_str(&b)));
        json_array_append_new(list, j);
        buf_fini(&b);
    }
    return list;
}

json_t *heap_cell_json_other_paths(struct heap_report *h, const struct heap_paths *paths)
{
    json_t *list = json_array();
    for (size_t i = 1; i < paths->n; i++)
        json_array_append_new(list, heap_cell_json_path(h, &paths->v[i]));
    return list;
}
