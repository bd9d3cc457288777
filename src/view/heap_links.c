/* heap_links.c - who refers to an object, and the way to it from a root. */
#include "view/heap_parts.h"

#include "base/util.h"
#include "heap/links.h"
#include "heap/missing.h"

/* A brief of `from`, and by what it refers to `to`. */
static json_t *link_from(struct heap_ask *a, uint32_t from, uint32_t to)
{
    struct buf by = {0};
    json_t *j = heap_json_brief(a, from);
    if (links_name(&a->reader, from, to, &by) < 0)
        buf_clear(&by);
    json_object_set_new(j, "by", heap_json_text_n((const char *)by.p, by.len));
    buf_fini(&by);
    return j;
}

json_t *heap_answer_referrers(struct heap_ask *a, int *rc, struct err *err)
{
    uint32_t n;
    const uint32_t *list = referrers_of(&a->h->referrers, a->object, &n);
    uint64_t seen = 0, end = a->offset + min_u64(a->top, HEAP_TOP_MAX);
    json_t *out = json_array();
    UNUSED(rc);
    UNUSED(err);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && list[i] >> 1 == list[i - 1] >> 1)
            continue; /* once more: what is not weak stood first */
        if (seen >= a->offset && seen < end) {
            json_t *j = link_from(a, list[i] >> 1, a->object);
            json_object_set_new(j, "weak", json_boolean(list[i] & 1));
            json_array_append_new(out, j);
        }
        seen++;
    }
    return json_pack("{s:o, s:o, s:o}", "n", heap_json_count(seen), "offset",
                     heap_json_count(a->offset), "referrers", out);
}

/* As what it is a root, and each object of the path with what the one before it has it by; of a
 * long one both ends. */
static json_t *path_json(struct heap_ask *a, const struct heap_path *path)
{
    json_t *list = json_array();
    for (size_t i = 0; i < path->n; i++) {
        if (i == HEAP_PATH_ENDS && path->n > 2 * (size_t)HEAP_PATH_ENDS)
            i = path->n - HEAP_PATH_ENDS;
        struct buf by = {0};
        json_t *j = heap_json_brief(a, path->v[i]);
        if (i > 0 && links_name(&a->reader, path->v[i - 1], path->v[i], &by) < 0)
            buf_clear(&by);
        json_object_set_new(j, "by", heap_json_text_n((const char *)by.p, by.len));
        json_array_append_new(list, j);
        buf_fini(&by);
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "n", heap_json_count(path->n), "left_out",
                     heap_json_count(path->n - json_array_size(list)), "roots",
                     path->n ? heap_json_roots(a, path->v[0]) : json_array(), "path", list);
}

json_t *heap_answer_path(struct heap_ask *a, int *rc, struct err *err)
{
    const struct heap_view *h = a->h;
    struct heap_paths paths;
    if (!missing_knows_paths(h->d))
        return json_pack("{s:s}", "not_known",
                         "the dump lacks the names by which Orca knows weak references");
    *rc = referrers_paths(&h->referrers, &h->retained.objects, a->object, &paths);
    if (*rc < 0) {
        err_set(err, *rc, "out of memory");
        return NULL;
    }
    if (paths.n == 0 && !h->retained.known)
        return json_pack("{s:s}", "not_known",
                         "the part of the dump that could be read has no path to it; there may be "
                         "one");
    json_t *j = path_json(a, &paths.v[0]), *others = json_array();
    for (size_t i = 1; i < paths.n; i++)
        json_array_append_new(others, path_json(a, &paths.v[i]));
    json_object_set_new(j, "others", others);
    paths_fini(&paths);
    return j;
}
