#include "cli/heap_parts.h"

#include "base/clock.h"
#include "base/util.h"

/* In the order of the page. */
static const struct heap_part *const parts[] = {
    &heap_part_suspects,    &heap_part_threads, &heap_part_strings,
    &heap_part_collections, &heap_part_diff,
};

int heap_parts_find(struct heap_report *h, bool with_retained, struct progress *p, struct err *err)
{
    uint64_t began = clock_mono_ns();
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        int (*find)(struct heap_report *, struct err *) =
            with_retained ? parts[i]->find_retained : parts[i]->find;
        if (!find || !(h->sections & parts[i]->section))
            continue;
        progress_phase(p, parts[i]->phase);
        TRY(find(h, err));
    }
    h->parts_ns += clock_mono_ns() - began;
    return 0;
}

void heap_parts_text(struct heap_report *h)
{
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (h->sections & parts[i]->section)
            parts[i]->text(h);
}

void heap_parts_json(struct heap_report *h, json_t *root)
{
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (h->sections & parts[i]->section)
            json_object_set_new(root, parts[i]->key, parts[i]->json(h));
}

void heap_parts_release(struct heap_report *h)
{
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (h->sections & parts[i]->section)
            parts[i]->release(h);
}
