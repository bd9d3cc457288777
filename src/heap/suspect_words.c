#include "heap/suspect_words.h"

#include "base/human.h"
#include "heap/links.h"

#include <inttypes.h>

struct words {
    const struct retained *r;
    struct object_reader *reader;
    struct buf *b;
};

static const char *class_name(const struct words *w, uint32_t number)
{
    return number == DUMP_NONE ? "?" : w->r->d->classes[number].name;
}

/* "java.util.HashMap (0x7f12)", "java.lang.Thread "main" (0x7f10)" */
static void put_object(const struct words *w, uint32_t object)
{
    const struct dump *d = w->r->d;
    if (links_describe(w->reader, object, w->b) < 0)
        buf_puts(w->b, class_name(w, objects_class(&w->r->objects, object)));
    buf_printf(w->b, " (0x%" PRIx64 ")", ids_at(&d->ids, object));
}

static void put_classes(const struct words *w, const struct suspect_class *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        buf_printf(w->b, "%s%s %s (%s)", i ? ", " : "", human_count(v[i].count).text,
                   class_name(w, v[i].class_number), human_bytes(v[i].retained).text);
}

/* What has come together there. */
static void put_below(const struct words *w, const struct suspect *x)
{
    if (x->chain && x->n_below) {
        buf_printf(w->b, " It is the beginning of a chain of %s or more %s.",
                   human_count(x->chain).text, class_name(w, x->below[0].class_number));
        return;
    }
    if (x->n_below) {
        buf_puts(w->b, " Directly below it: ");
        put_classes(w, x->below, x->n_below);
        buf_puts(w->b, ".");
    }
    if (x->n_further) {
        buf_puts(w->b, " Below these: ");
        put_classes(w, x->further, x->n_further);
        buf_puts(w->b, ".");
    }
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Tops of the tree of one class. */
static void put_group(const struct words *w, const struct suspect *x)
{
    buf_printf(w->b,
               "%s objects of the class %s, which no other single object keeps alive, keep %s "
               "together: %.1f %% of the live heap. The largest is ",
               human_count(x->count).text, class_name(w, x->class_number),
               human_bytes(x->retained).text, percent_of(x->retained, w->r->bytes_reached));
    put_object(w, x->top);
    buf_printf(w->b, " with %s.", human_bytes(retained_bytes(w->r, x->top)).text);
}

void suspect_words_put(const struct suspect *x, const struct retained *r,
                       struct object_reader *reader, struct buf *b)
{
    const struct words w = {r, reader, b};
    if (x->object == DUMP_NONE) {
        put_group(&w, x);
        return;
    }
    put_object(&w, x->object);
    buf_printf(b, " keeps %s: %.1f %% of the live heap.", human_bytes(x->retained).text,
               percent_of(x->retained, r->bytes_reached));
    if (x->top != x->object) {
        buf_puts(b, " It is kept by ");
        put_object(&w, x->top);
        buf_puts(b, " alone.");
    }
    put_below(&w, x);
}
