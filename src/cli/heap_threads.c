/* heap_threads.c - `orca heap --threads`: stacks, and the objects that their frames hold. */
#include "base/human.h"
#include "cli/heap_cells.h"
#include "cli/heap_parts.h"
#include "heap/links.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 100, LOCALS = 5 }; /* of a thread and of a frame, in the text */

static int find(struct heap_report *h, struct err *err)
{
    return threads_find(&h->threads, h->d, &h->retained, &h->reader, err);
}

static void release(struct heap_report *h)
{
    threads_fini(&h->threads);
}

static const char *kind_name(uint8_t kind)
{
    return kind == HPROF_ROOT_JAVA_FRAME     ? "local"
           : kind == HPROF_ROOT_JNI_LOCAL    ? "JNI local"
           : kind == HPROF_ROOT_NATIVE_STACK ? "native stack"
                                             : "thread block";
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_local(struct heap_report *h, const struct frame_local *l)
{
    struct buf b = {0}, clean = {0};
    if (links_describe(&h->reader, l->object, &b) < 0)
        buf_puts(&b, "(cannot be read)");
    printf("%18s  0x%" PRIx64 "  %s%s\n", h->retained.known ? human_count(l->retained).text : "",
           ids_at(&h->d->ids, l->object), heap_printable(h, buf_str(&b), &clean),
           l->kind == HPROF_ROOT_JAVA_FRAME  ? ""
           : l->kind == HPROF_ROOT_JNI_LOCAL ? " (JNI)"
                                             : " (no frame)");
    buf_fini(&b);
    buf_fini(&clean);
}

/* Those of one frame, from t->locals[*at] on. */
static void print_locals(struct heap_report *h, const struct thread_seen *t, uint32_t depth,
                         size_t *at)
{
    size_t n = 0;
    for (; *at < t->n_locals && t->locals[*at].depth == depth; ++*at)
        if (n++ < LOCALS)
            print_local(h, &t->locals[*at]);
    if (n > LOCALS)
        printf("%18s  and %s more\n", "", human_count(n - LOCALS).text);
}

static void print_frame(struct heap_report *h, const struct thread_seen *t, uint32_t depth)
{
    struct buf b = {0}, clean = {0};
    threads_put_frame(h->d, t->trace, depth, &b);
    printf("    at %s\n", heap_printable(h, buf_str(&b), &clean));
    buf_fini(&b);
    buf_fini(&clean);
}

/* Beyond the first frames, those that hold something. */
static void print_thread(struct heap_report *h, const struct thread_seen *t)
{
    struct buf name = {0};
    uint32_t frames = t->trace ? t->trace->n_frames : 0, left_out = 0;
    size_t at = 0;
    printf("\n\"%s\" 0x%" PRIx64, heap_printable(h, t->name, &name), t->thread->id);
    if (h->retained.known)
        printf(" keeps %s", human_bytes(t->retained).text);
    printf("\n");
    for (uint32_t depth = 0; depth < frames; depth++) {
        bool holds = at < t->n_locals && t->locals[at].depth == depth;
        if (depth >= FRAMES && !holds) {
            left_out++;
            continue;
        }
        print_frame(h, t, depth);
        print_locals(h, t, depth, &at);
    }
    if (left_out)
        printf("    ... and %s more frames, which hold nothing\n", human_count(left_out).text);
    print_locals(h, t, THREADS_NO_FRAME, &at);
    buf_fini(&name);
}

static void text(struct heap_report *h)
{
    const struct threads_seen *t = &h->threads;
    size_t n = t->n < h->top ? t->n : h->top;
    heap_heading(h->retained.known ? "Threads, and what each object that a frame holds keeps alive"
                                   : "Threads that could be read, and objects that frames hold");
    if (t->n == 0)
        printf(h->retained.known ? "The dump has no threads.\n"
                                 : "The part of the dump that could be read has no threads.\n");
    for (size_t i = 0; i < n; i++)
        print_thread(h, &t->v[i]);
    heap_more(t->n, n);
}

/* --- JSON ------------------------------------------------------------------------------------- */

struct unread {
    uint32_t place, object; /* objects.h */
    json_t *json;
};

struct unread_list {
    struct unread *v;
    size_t n;
};

static int by_place(const void *a, const void *b)
{
    const struct unread *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* In the order of the file: in a compressed one, to go back is to unpack again. */
static void describe_all(struct heap_report *h, struct unread_list *l)
{
    if (l->n)
        qsort(l->v, l->n, sizeof *l->v, by_place);
    for (size_t i = 0; i < l->n; i++)
        heap_cell_json_describe(h, l->v[i].object, l->v[i].json);
    free(l->v);
}

static struct unread_list room_for_all(const struct heap_report *h, size_t n)
{
    struct unread_list l = {0};
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += h->threads.v[i].n_locals;
    l.v = malloc((all + 1) * sizeof *l.v);
    return l;
}

static json_t *locals_json(struct heap_report *h, const struct thread_seen *t, uint32_t depth,
                           size_t *at, struct unread_list *all)
{
    json_t *list = json_array();
    for (; *at < t->n_locals && t->locals[*at].depth == depth; ++*at) {
        uint32_t object = t->locals[*at].object;
        json_t *j = heap_cell_json_undescribed(h, object);
        if (all->v)
            all->v[all->n++] = (struct unread){h->reader.o->places[object], object, j};
        else
            heap_cell_json_describe(h, object, j);
        json_object_set_new(j, "bytes", heap_cell_json_number(t->locals[*at].size));
        json_object_set_new(j, "kind", json_string(kind_name(t->locals[*at].kind)));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *thread_json(struct heap_report *h, const struct thread_seen *t,
                           struct unread_list *all)
{
    json_t *frames = json_array();
    size_t at = 0;
    for (uint32_t depth = 0; t->trace && depth < t->trace->n_frames; depth++) {
        struct buf b = {0};
        threads_put_frame(h->d, t->trace, depth, &b);
        json_array_append_new(frames,
                              json_pack("{s:o, s:o}", "frame", heap_cell_json_text(buf_str(&b)),
                                        "holds", locals_json(h, t, depth, &at, all)));
        buf_fini(&b);
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", heap_cell_json_text(t->name), "id",
                     heap_cell_json_id(t->thread->id), "retained",
                     heap_cell_json_retained(h, t->retained), "frames", frames, "holds",
                     locals_json(h, t, THREADS_NO_FRAME, &at, all));
}

static json_t *json(struct heap_report *h)
{
    json_t *list = json_array();
    size_t n = h->threads.n < h->top ? h->threads.n : h->top;
    struct unread_list all = room_for_all(h, n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, thread_json(h, &h->threads.v[i], &all));
    describe_all(h, &all);
    return list;
}

const struct heap_part heap_part_threads = {
    .section = HEAP_THREADS,
    .key = "threads",
    .phase = "looking at threads",
    .find_retained = find,
    .text = text,
    .json = json,
    .release = release,
};
