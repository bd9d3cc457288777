/* edit.c - apply named edits to many classes, and count.
 *
 *   edit NAME [PROBE]    a stream of classes on stdin, the edited ones on stdout; PROBE: the class
 *                        called instead of orca/test/Probe
 *   edit --bench NAME    the same classes again and again for two seconds: classes and MB a second
 *   edit --names         all names
 *   edit --handmade      the stream of the classes of handmade.c
 *
 * A stream is, per class: length of its name (2 bytes, big-endian), name, length (4 bytes), bytes;
 * Classes.java makes and reads it.  What cannot be parsed goes through unchanged. */
#include "base/clock.h"
#include "edits.h"
#include "handmade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct totals {
    unsigned long classes, bytes, changed, refused, same;
    unsigned long methods, edited, sites, trampolines, left[CF_N_LEFT];
};

static void count(struct totals *t, const struct cf_result *r)
{
    t->methods += r->methods;
    t->edited += r->edited;
    t->sites += r->sites;
    t->trampolines += r->trampolines;
    for (int i = 0; i < CF_N_LEFT; i++)
        t->left[i] += r->left[i];
}

static void print(const char *name, const struct totals *t)
{
    fprintf(stderr,
            "%s: classes %lu changed %lu same-bytes %lu refused %lu methods %lu edited %lu"
            " sites %lu trampolines %lu",
            name, t->classes, t->changed, t->same, t->refused, t->methods, t->edited, t->sites,
            t->trampolines);
    for (int i = 0; i < CF_N_LEFT; i++)
        if (t->left[i])
            fprintf(stderr, " %s %lu", cf_left_name((enum cf_left)i), t->left[i]);
    fprintf(stderr, "\n");
}

static bool read_all(struct buf *in)
{
    size_t n;
    do {
        uint8_t *to = buf_reserve(in, 1 << 20);
        n = to ? fread(to, 1, 1 << 20, stdin) : 0;
        in->len += n;
    } while (n);
    return !in->oom;
}

static void one_class(struct edits *e, const uint8_t *p, size_t len, struct buf *out,
                      struct totals *t)
{
    struct cf_plan plan = edits_plan(e);
    struct cf_result result;
    struct err err = {0};
    size_t at = out->len;
    int rc = cf_edit_class(p, len, &plan, out, &result, &err);
    t->classes++;
    t->bytes += len;
    if (rc < 0) {
        t->refused++;
        if (getenv("WHY"))
            fprintf(stderr, "# refused: %s\n", err.msg);
        buf_put(out, p, len);
        return;
    }
    t->changed += rc > 0;
    t->same += out->len - at == len && memcmp(out->p + at, p, len) == 0;
    count(t, &result);
    if (result.first.msg[0] && getenv("WHY"))
        fprintf(stderr, "# %s\n", result.first.msg);
}

/* All classes of the stream; written to stdout, or only counted. */
static int all_classes(struct edits *e, const struct buf *in, FILE *to, struct totals *t)
{
    struct buf out = {0};
    struct be_reader r = {.p = in->p, .end = in->len};
    while (r.pos < r.end) {
        size_t name = r.pos;
        be_skip(&r, be_u2(&r));
        size_t name_len = r.pos - name;
        uint32_t len = be_u4(&r);
        const uint8_t *bytes = r.p + r.pos;
        if (!be_skip(&r, len)) {
            fprintf(stderr, "edit: the stream ends within a class\n");
            return 1;
        }
        buf_clear(&out);
        one_class(e, bytes, len, &out, t);
        uint8_t head[4];
        be_set4(head, (uint32_t)out.len);
        if (to && (fwrite(in->p + name, 1, name_len, to) != name_len ||
                   fwrite(head, 1, 4, to) != 4 || fwrite(out.p, 1, out.len, to) != out.len)) {
            perror("edit: stdout");
            return 1;
        }
    }
    buf_fini(&out);
    return 0;
}

static int bench(struct edits *e, const struct buf *in)
{
    uint64_t start = clock_mono_ns(), now = start;
    struct totals t = {0};
    while (now - start < 2000000000u) {
        if (all_classes(e, in, NULL, &t))
            return 1;
        now = clock_mono_ns();
    }
    double s = (double)(now - start) / 1e9;
    printf("%s: classes/s %.0f MB/s %.1f edited-methods/s %.0f us/class %.2f\n", e->name,
           (double)t.classes / s, (double)t.bytes / 1e6 / s, (double)t.edited / s,
           s * 1e6 / (double)t.classes);
    return 0;
}

static int write_handmade(void)
{
    struct buf out = {0};
    for (size_t i = 0; i < n_handmade; i++) {
        struct buf c = handmade[i].make();
        be_put2(&out, (uint32_t)strlen(handmade[i].name) + 6);
        buf_puts(&out, handmade[i].name);
        buf_puts(&out, ".class");
        be_put4(&out, (uint32_t)c.len);
        buf_put(&out, c.p, c.len);
        buf_fini(&c);
    }
    bool ok = !out.oom && fwrite(out.p, 1, out.len, stdout) == out.len;
    buf_fini(&out);
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct buf in = {0};
    static struct edits e;
    bool timed = argc == 3 && strcmp(argv[1], "--bench") == 0;
    if (argc == 2 && strcmp(argv[1], "--names") == 0) {
        for (size_t i = 0; edits_names[i]; i++)
            printf("%s\n", edits_names[i]);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--handmade") == 0)
        return write_handmade();
    if (argc < 2 || argc > 3 || !edits_init(&e, argv[timed ? 2 : 1])) {
        fprintf(stderr, "usage: edit [--bench] NAME [PROBE] <classes\n");
        return 2;
    }
    for (uint32_t i = 0; i < e.n && argc == 3 && !timed; i++)
        e.list[i].probe.cls = argv[2];
    if (!read_all(&in))
        return 1;
    struct totals t = {0};
    int status = timed ? bench(&e, &in) : all_classes(&e, &in, stdout, &t);
    if (!timed)
        print(e.name, &t);
    buf_fini(&in);
    return status;
}
