/* heap_found_test.c - what a heap dump's page receives beside the stages of the reading: suspects,
 * threads, equal strings, collections, what has grown; and when it is found. */
#include "../patience.h"
#include "base/clock.h"
#include "heap_made.h"
#include "view_ask.h"

#include <criterion/criterion.h>
#include <unistd.h>

enum { LIST = MADE_OWN, OBJECTS = MADE_OWN + 0x80, LIST_SERIAL = 10 };

static struct made m, earlier;
static struct heap_view *h;

static uint64_t string(struct made *d, const char *text)
{
    uint64_t array = made_bytes(d, text, (uint32_t)strlen(text));
    return made_instance(d, STRING, (uint64_t[]){array, 0, 0});
}

/* An ArrayList with room for 40, of which the first `used` are `of`. */
static uint64_t list(struct made *d, uint32_t used, uint64_t of)
{
    uint64_t ids[40] = {0}, array = made_place(d, 16 + sizeof ids);
    for (uint32_t i = 0; i < used; i++)
        ids[i] = of;
    hw_objects(&d->w, array, OBJECTS, ids, 40);
    return made_instance(d, LIST, (uint64_t[]){array, used});
}

/* A chain of n nodes, the last with a list that is nearly empty; n equal strings; thread "main"
 * with two frames, the older one of which holds the chain. */
static void make(struct made *d, int n)
{
    made_begin(d, 8, "a:L b:L");
    hw_class(&d->w, LIST, "java/util/ArrayList", OBJECT, "elementData:L size:I");
    hw_class(&d->w, OBJECTS, "[Ljava/lang/Object;", OBJECT, "");
    uint64_t chain = list(d, 1, 0), frames[] = {made_frame(d, "inner", LIST_SERIAL, 11),
                                                made_frame(d, "outer", LIST_SERIAL, 22)};
    for (int i = 0; i < n; i++)
        chain = made_instance(d, NODE, (uint64_t[]){chain, string(d, "same <&>")});
    made_trace(d, 5, frames, 2);
    uint64_t thread = made_instance(d, THREAD, (uint64_t[]){string(d, "main")});
    hw_root(&d->w, HPROF_ROOT_THREAD_OBJ, thread, 1, 5);
    hw_root(&d->w, HPROF_ROOT_JAVA_FRAME, chain, 1, 1);
    hw_root(&d->w, HPROF_ROOT_JNI_LOCAL, thread, 1, 0);
    hw_end(&d->w);
}

static void open_both(void)
{
    struct err err = {""};
    make(&m, 100);
    make(&earlier, 40);
    cr_assert_eq(heap_view_new(&h, m.path, earlier.path, &err), 0, "%s", err.msg);
}

static void begin(void)
{
    open_both();
    heap_view_read(h);
}

static void end(void)
{
    heap_view_free(h);
    fclose(m.f);
    fclose(earlier.f);
}

TestSuite(heap_found, .init = begin, .fini = end);

/* --- what is found ---------------------------------------------------------------------------- */

Test(heap_found, suspects_in_words_and_as_objects)
{
    json_t *j = ask_heap(h, "suspects", "");
    cr_assert_eq(json_array_size(at_path(j, "suspects")), 1);
    const char *words = text_at(j, "suspects.0.text");
    cr_assert(strstr(words, "java.lang.Thread \"main\" (0x"), "%s", words);
    cr_assert(strstr(words, "chain of"), "%s", words);
    cr_assert_str_eq(text_at(j, "suspects.0.below.0.name"), "Node");
    cr_assert_gt(number_at(j, "suspects.0.chain"), 16);
    cr_assert_eq(number_at(j, "suspects.0.object.object"), number_at(j, "suspects.0.top.object"));
    cr_assert_leq(number_at(j, "suspects.0.retained"), number_at(j, "alive"));
    cr_assert_geq(number_at(j, "suspects.0.retained"), number_at(j, "least"));
    json_decref(j);
    ask_heap_refused(h, "suspects", "top=1", -EINVAL, "is unknown");
}

Test(heap_found, threads_and_what_their_frames_hold)
{
    json_t *j = ask_heap(h, "threads", "");
    cr_assert_eq(number_at(j, "n"), 1);
    cr_assert_str_eq(text_at(j, "threads.0.name"), "main");
    cr_assert_eq(number_at(j, "threads.0.frames"), 2);
    cr_assert_eq(number_at(j, "threads.0.held"), 2);
    json_decref(j);
    j = ask_heap(h, "threads", "offset=1");
    cr_assert_eq(json_array_size(at_path(j, "threads")), 0);
    json_decref(j);
    j = ask_heap(h, "thread", "thread=0");
    cr_assert_str_eq(text_at(j, "stack.0.holds.0.label"), "java.lang.Thread \"main\"");
    cr_assert_str_eq(text_at(j, "stack.0.holds.0.kind"), "JNI local");
    cr_assert_str_eq(text_at(j, "stack.1.frame"), "java.util.ArrayList.outer (Node.java:22)");
    cr_assert_eq(number_at(j, "stack.1.depth"), 1);
    cr_assert_eq(number_at(j, "stack.1.n"), 1);
    cr_assert_str_eq(text_at(j, "stack.1.holds.0.label"), "Node");
    cr_assert_eq(number_at(j, "no_frame.n"), 0);
    cr_assert_eq(number_at(j, "left_out"), 0);
    json_decref(j);
    ask_heap_refused(h, "thread", "", -EINVAL, "thread=3");
    ask_heap_refused(h, "thread", "thread=1", -ENOENT, "less than 1");
}

Test(heap_found, equal_strings)
{
    json_t *j = ask_heap(h, "strings", "");
    cr_assert_eq(number_at(j, "strings"), 101);
    cr_assert_eq(number_at(j, "values"), 2);
    cr_assert_eq(number_at(j, "n"), 1);
    cr_assert_str_eq(text_at(j, "equal.0.text"), "same <&>");
    cr_assert_eq(number_at(j, "equal.0.strings"), 100);
    cr_assert_eq(number_at(j, "equal.0.wasted"),
                 99 * (number_at(j, "string_bytes") + number_at(j, "equal.0.array_bytes")));
    cr_assert_eq(number_at(j, "equal.0.wasted"), number_at(j, "wasted"));
    cr_assert_str_eq(text_at(j, "equal.0.holders.0.field"), "Node.b");
    cr_assert_eq(number_at(j, "equal.0.holders.0.references"), 100);
    json_decref(j);
    j = ask_heap(h, "strings", "top=0");
    cr_assert_eq(json_array_size(at_path(j, "equal")), 0);
    cr_assert_eq(number_at(j, "n"), 1);
    json_decref(j);
}

Test(heap_found, collections_that_are_nearly_empty)
{
    json_t *j = ask_heap(h, "collections", "");
    cr_assert_eq(number_at(j, "collections"), 1);
    cr_assert_eq(number_at(j, "n_classes"), 1);
    cr_assert_str_eq(text_at(j, "classes.0.name"), "java.util.ArrayList");
    cr_assert_eq(number_at(j, "classes.0.wasted"), number_at(j, "wasted"));
    cr_assert_gt(number_at(j, "wasted"), 0);
    cr_assert_str_eq(text_at(j, "fields.0.field"), "Node.a");
    json_decref(j);
    j = ask_heap(h, "collections", "top=0");
    cr_assert_eq(json_array_size(at_path(j, "classes")), 0);
    cr_assert_eq(number_at(j, "n_classes"), 1);
    json_decref(j);
}

Test(heap_found, what_has_grown)
{
    json_t *j = ask_heap(h, "diff", "");
    cr_assert_eq(number_at(j, "n"), 3); /* nodes, strings, their arrays */
    cr_assert_eq(number_at(j, "grown"), 3);
    cr_assert_eq(number_at(j, "shrunk"), 0);
    size_t i;
    int64_t then = number_at(j, "then.bytes"), now = number_at(j, "now.bytes");
    json_t *row;
    json_array_foreach(at_path(j, "classes"), i, row)
    {
        cr_assert_eq(number_at(row, "now.objects") - number_at(row, "then.objects"), 60);
        then += number_at(row, "now.bytes") - number_at(row, "then.bytes");
    }
    cr_assert_eq(then, now);
    int64_t number = number_at(j, "classes.0.class");
    const char *name = text_at(j, "classes.0.name");
    char question[64];
    snprintf(question, sizeof question, "class=%d", (int)number);
    json_t *of = ask_heap(h, "instances", question);
    cr_assert_str_eq(text_at(of, "name"), name);
    json_decref(of);
    json_decref(j);
    j = ask_heap(h, "diff", "top=2");
    cr_assert_eq(json_array_size(at_path(j, "classes")), 2);
    cr_assert_eq(number_at(j, "n"), 3);
    json_decref(j);
}

/* --- when it is found ------------------------------------------------------------------------- */

/* The overview, when the reader has nothing to do: between two stages it has no phase, too. */
static json_t *when_idle(void)
{
    for (;; patience_pause()) {
        json_t *j = ask_heap(h, "overview", "");
        const char *stage = text_at(j, "stage");
        bool on_its_way = strcmp(stage, "ready") != 0;
        if (!on_its_way && json_is_null(at_path(j, "phase")))
            return j;
        json_decref(j);
    }
}

Test(heap_found_later, only_when_somebody_asks)
{
    struct buf b = {0};
    const struct view_question none = {0};
    open_both();
    cr_assert_eq(heap_view_start(h, NULL, NULL, NULL), 0);
    json_t *j = when_idle();
    cr_assert_str_eq(text_at(j, "stage"), "ready");
    cr_assert_str_eq(text_at(j, "found.strings"), "no");
    json_decref(j);
    int rc;
    while ((rc = heap_view_json(h, "strings", &none, &b, NULL)) == -EINPROGRESS)
        patience_pause();
    cr_assert_eq(rc, 0);
    j = when_idle();
    cr_assert_str_eq(text_at(j, "found.strings"), "found");
    cr_assert_str_eq(text_at(j, "found.collections"), "no");
    json_decref(j);
    buf_fini(&b);
    cr_assert(!heap_view_end(h));
    end();
}

Test(heap_found_later, one_that_cannot_be_found_spoils_nothing)
{
    open_both();
    cr_assert_eq(ftruncate(fileno(earlier.f), 10), 0);
    heap_view_read(h);
    json_t *j = ask_heap(h, "overview", "");
    cr_assert_str_eq(text_at(j, "found.diff"), "never");
    cr_assert_str_eq(text_at(j, "found.suspects"), "found");
    cr_assert(json_is_null(at_path(j, "error")));
    json_decref(j);
    ask_heap_refused(h, "diff", "", -EIO, "not an HPROF heap dump");
    end();
}

Test(heap_found_later, without_another_dump_nothing_has_grown)
{
    make(&m, 1);
    cr_assert_eq(heap_view_new(&h, m.path, NULL, NULL), 0);
    heap_view_read(h);
    ask_heap_refused(h, "diff", "", -ENOENT, "--diff");
    json_t *j = ask_heap(h, "overview", "");
    cr_assert_null(json_object_get(at_path(j, "found"), "diff"));
    json_decref(j);
    heap_view_free(h);
    fclose(m.f);
}
