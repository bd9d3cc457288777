#include "cli/query_heap.h"

#include "base/human.h"
#include "base/printable.h"
#include "cli/live_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

static void set_text(json_t *o, const char *key, const char *text)
{
    char clean[1024];
    printable_utf8(text, clean, sizeof clean);
    json_object_set_new(o, key, json_string(clean));
}

static json_t *frames_of(const struct trace *t, uint32_t stack)
{
    char text[1024], clean[1024];
    json_t *frames = json_array();
    const struct trace_stack *s = trace_stack(t, (stack_id){stack});
    for (uint32_t i = 0; s->id.v && i < s->n_frames; i++) {
        live_trace_frame(t, s->frames[i], text, sizeof text);
        printable_utf8(text, clean, sizeof clean);
        json_array_append_new(frames, json_string(clean));
    }
    return frames;
}

void query_heap_name(const struct jvm *jvm, json_t *answer)
{
    struct trace *t;
    json_t *a = json_object_get(answer, "allocated");
    if (!json_is_object(a) || live_trace_open(&t, jvm, NULL) < 0)
        return;
    thread_id thread = {(uint32_t)json_integer_value(json_object_get(a, "thread"))};
    uint32_t stack = (uint32_t)json_integer_value(json_object_get(a, "stack"));
    set_text(a, "thread_name", trace_thread(t, thread)->name);
    json_object_set_new(a, "frames", frames_of(t, stack));
    trace_close(t);
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_clean(const char *s)
{
    char out[4096];
    printable_text(s ? s : "?", true, out, sizeof out);
    fputs(out, stdout);
}

static void put(const char *before, const json_t *o, const char *key, const char *after)
{
    fputs(before, stdout);
    put_clean(json_string_value(json_object_get(o, key)));
    fputs(after, stdout);
}

static json_int_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* "java.lang.String #17"; without a number when objects have none. */
static void put_object(const json_t *o)
{
    if (!json_is_object(o)) {
        printf("null");
        return;
    }
    put("", o, "class", "");
    if (number(o, "number"))
        printf(" #%" JSON_INTEGER_FORMAT, number(o, "number"));
}

static void put_value(const json_t *v)
{
    if (json_is_string(v))
        put_clean(json_string_value(v));
    else if (json_is_object(v) || json_is_null(v))
        put_object(v);
    else if (v)
        json_dumpf(v, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
}

static void print_fields(const json_t *o)
{
    size_t i;
    json_t *f;
    json_array_foreach(json_object_get(o, "fields"), i, f)
    {
        put("    ", f, "name", " = ");
        json_t *ref = json_object_get(f, "ref");
        put_value(ref ? ref : json_object_get(f, "value"));
        if (strcmp(json_string_value(json_object_get(f, "in")),
                   json_string_value(json_object_get(o, "class"))) != 0)
            put("  (", f, "in", ")");
        printf("\n");
    }
    if (number(o, "fields_left_out"))
        printf("    and %" JSON_INTEGER_FORMAT " fields more\n", number(o, "fields_left_out"));
}

static void print_elements(const json_t *o)
{
    size_t i;
    json_t *v, *elements = json_object_get(o, "elements");
    json_array_foreach(elements, i, v)
    {
        printf("    [%zu] = ", i);
        put_value(v);
        printf("\n");
    }
    json_int_t length = number(o, "length"), shown = (json_int_t)json_array_size(elements);
    if (length > shown)
        printf("    and %s more elements, of %s\n", human_count((uint64_t)(length - shown)).text,
               human_count((uint64_t)length).text);
}

static void print_text(const json_t *o)
{
    json_int_t length = number(o, "text_length");
    put("    \"", o, "text", "\"");
    if (length > (json_int_t)1024)
        printf("... of %s characters", human_count((uint64_t)length).text);
    printf("\n");
}

static void print_allocated(const json_t *o)
{
    size_t i;
    json_t *f, *a = json_object_get(o, "allocated");
    if (json_object_get(o, "collections"))
        printf("    outlived %" JSON_INTEGER_FORMAT " collections%s\n", number(o, "collections"),
               a ? "" : " since the object got its number; the allocation was not recorded");
    if (!a)
        return;
    printf("    allocated %s ago", human_time((uint64_t)number(a, "age_ns")).text);
    if (json_object_get(a, "thread_name"))
        put(" by ", a, "thread_name", "");
    printf("%s\n", json_is_true(json_object_get(a, "sampled")) ? " (sampled)" : "");
    json_array_foreach(json_object_get(a, "frames"), i, f)
    {
        printf("        at ");
        put_clean(json_string_value(f));
        printf("\n");
    }
}

int query_heap_print_object(const struct jvm *jvm, const json_t *answer)
{
    json_t *o = json_deep_copy(answer);
    query_heap_name(jvm, o);
    put("", o, "class", "");
    put(" @", o, "hash", "");
    if (number(o, "id"))
        printf(", lock %" JSON_INTEGER_FORMAT, number(o, "id"));
    if (number(o, "number"))
        printf(", object %" JSON_INTEGER_FORMAT, number(o, "number"));
    printf(", %" JSON_INTEGER_FORMAT " bytes", number(o, "bytes"));
    if (json_object_get(o, "thread"))
        put(", the thread ", json_object_get(o, "thread"), "name", "");
    if (json_object_get(o, "class_object_of"))
        put(", the class ", o, "class_object_of", "");
    printf("\n");
    print_allocated(o);
    if (json_object_get(o, "text"))
        print_text(o);
    print_fields(o);
    print_elements(o);
    json_decref(o);
    return 0;
}

/* --- references ------------------------------------------------------------------------------- */

static void put_numbered(const json_t *answer, json_int_t n)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(answer, "objects"), i, o)
    {
        if (number(o, "number") == n) {
            put_object(o);
            return;
        }
    }
    printf("an object that is gone");
}

/* "field name", "element 3", "local variable, frame 2 of thread 1" */
static void put_how(const json_t *e)
{
    put("", e, "how", "");
    if (json_object_get(e, "field"))
        put(" ", e, "field", "");
    if (json_object_get(e, "index"))
        printf(" %" JSON_INTEGER_FORMAT, number(e, "index"));
    if (json_object_get(e, "frame"))
        printf(", frame %" JSON_INTEGER_FORMAT, number(e, "frame"));
    if (json_object_get(e, "java_thread"))
        printf(" of Java's thread %" JSON_INTEGER_FORMAT, number(e, "java_thread"));
    if (json_is_true(json_object_get(e, "weak")))
        printf(", a weak reference");
}

static void print_path(const json_t *answer)
{
    size_t i;
    json_t *step, *path = json_object_get(answer, "path");
    printf("%s\n", json_array_size(path)
                       ? "path from a GC root"
                       : "path from a GC root: none found; the object may be garbage, or the path "
                         "too long");
    json_array_foreach(path, i, step)
    {
        printf("    ");
        put_how(step);
        printf(" -> ");
        put_numbered(answer, number(step, "number"));
        printf("\n");
    }
}

static void print_edges(const json_t *answer, const char *key, const char *left_out,
                        const char *title)
{
    size_t i;
    json_t *e, *edges = json_object_get(answer, key);
    printf("%s%s\n", title, json_array_size(edges) ? "" : ": none");
    json_array_foreach(edges, i, e)
    {
        printf("    ");
        put_numbered(answer, number(e, "from"));
        printf(" -> ");
        put_how(e);
        printf(" -> ");
        put_numbered(answer, number(e, "to"));
        printf("\n");
    }
    if (number(answer, left_out))
        printf("    and %s more references\n",
               human_count((uint64_t)number(answer, left_out)).text);
}

int query_heap_print_refs(const struct jvm *jvm, const json_t *answer)
{
    (void)jvm;
    put_numbered(answer, number(answer, "number"));
    printf("\n");
    print_path(answer);
    print_edges(answer, "referrers", "referrers_left_out", "what refers to it");
    print_edges(answer, "refers_to", "refers_to_left_out", "what it refers to");
    printf("%" JSON_INTEGER_FORMAT " walks through the heap; the program was paused for %s\n",
           number(answer, "walks"), human_time((uint64_t)number(answer, "stopped_ns")).text);
    return 0;
}

/* --- classes ---------------------------------------------------------------------------------- */

void query_heap_print_class(const json_t *c)
{
    size_t i;
    json_t *f;
    if (json_object_get(c, "instances"))
        printf("    %s instances, %s\n", human_count((uint64_t)number(c, "instances")).text,
               human_bytes((uint64_t)number(c, "instance_bytes")).text);
    json_array_foreach(json_object_get(c, "fields"), i, f)
    {
        printf("    %s", json_is_true(json_object_get(f, "static")) ? "static " : "");
        put("", f, "type", " ");
        put("", f, "name", "\n");
    }
}
