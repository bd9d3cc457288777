/* allocs.c - how fast allocations are read and added up where very many places allocate.
 *
 *   allocs [KIND [RECORDS [STACKS]]]     counts, 5,000,000 of them in 2,000,000 stacks
 *   allocs -o FILE ...                   keep the trace, to run the commands on it
 *
 * KIND: counts (object_allocs), samples or objects (object_sample, object_alloc, each with the end
 * of four in five).  64 threads, 2,000 classes, 20,000 methods of 40 lines, stacks of 16 frames
 * that agree in their outer ones; a stack allocates objects of three classes.  Shown is processor
 * time, so that other work on the machine matters little: the best of RUNS. */
#include "synthetic.h"

#include "analyze/alloc_sums.h"
#include "analyze/alloc_tables.h"
#include "base/hash.h"
#include "base/human.h"
#include "conclude/rules.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

enum { RUNS = 2, THREADS = 64, KINDS_OF_OBJECTS = 2000, PER_STACK = 3 };
enum { METHODS = 20000, PER_CLASS = 10, METHOD_LINES = 40, DEPTH = 16, JDK_PERCENT = 30 };
enum { PAUSES = 200, END_STREAM = 9000, GC_STREAM = 9001, STEP = 2000 };

enum kind { COUNTS, SAMPLES, OBJECTS };

static const char *const kinds[] = {"counts", "samples", "objects"};

struct made {
    struct trace_builder b;
    thread_id threads[THREADS];
    class_id classes[KINDS_OF_OBJECTS];
    uint64_t records, stacks;
    enum kind kind;
};

static struct str text_of(const char *s)
{
    return (struct str){s, strlen(s)};
}

static void define_methods(struct made *m)
{
    char text[60];
    class_id in = {0};
    for (uint32_t i = 1; i <= METHODS; i++) {
        struct buf lines = {0};
        if (i % PER_CLASS == 1) {
            bool jdk = i % 100 < JDK_PERCENT;
            snprintf(text, sizeof text, "L%s/p%u/C%u;", jdk ? "java" : "shop", i % 70, i);
            in = builder_class(&m->b, text);
        }
        for (uint32_t k = 1; k <= METHOD_LINES; k++)
            packed_put_line(&lines, k, k, k - 1, k - 1);
        snprintf(text, sizeof text, "m%u", i);
        builder_def(&m->b, &(struct def){.kind = DEF_method,
                                         .method = {.id = {i},
                                                    .class_ = in,
                                                    .name = text_of(text),
                                                    .signature = text_of("()V"),
                                                    .lines = {lines.p, lines.len, METHOD_LINES}}});
        buf_fini(&lines);
    }
}

/* The frame at a depth, from outside: what is common to neighbours becomes less from frame to
 * frame. */
static void put_frame(struct buf *to, uint64_t stack, int depth)
{
    uint64_t branch = depth >= DEPTH - 1 ? stack : stack >> (2 * (DEPTH - 1 - depth));
    uint64_t h = hash_u64(branch * DEPTH + (uint64_t)depth);
    packed_put_frame(to, (method_id){1 + (uint32_t)(h % METHODS)},
                     1 + (int32_t)((h >> 32) % METHOD_LINES));
}

static void define_stacks(struct made *m)
{
    struct buf packed = {0};
    for (uint32_t i = 1; i <= m->stacks; i++) {
        buf_clear(&packed);
        for (int depth = DEPTH - 1; depth >= 0; depth--)
            put_frame(&packed, i, depth);
        builder_def(&m->b,
                    &(struct def){.kind = DEF_stack,
                                  .stack = {.id = {i}, .frames = {packed.p, packed.len, DEPTH}}});
    }
    buf_fini(&packed);
}

static void define_all(struct made *m)
{
    char text[60];
    builder_info(&m->b, "jvm.name", "synthetic");
    for (int i = 0; i < THREADS; i++) {
        snprintf(text, sizeof text, "worker-%d", i);
        m->threads[i] = builder_thread(&m->b, text);
    }
    for (int i = 0; i < KINDS_OF_OBJECTS; i++) {
        snprintf(text, sizeof text, "Lshop/part%d/Item%d;", i % 7, i);
        m->classes[i] = builder_class(&m->b, text);
    }
    define_methods(m);
    define_stacks(m);
}

static void add_end(struct made *m, uint64_t time, const struct ev_object_free *of)
{
    struct event e = {.time = BUILDER_START + time,
                      .kind = EV_object_free,
                      .size = EVENT_HEAD,
                      .object_free = *of};
    builder_event(&m->b, END_STREAM, &e);
}

/* One count, sample or object; ends come in their order, of the thread's last one. */
static void add_record(struct made *m, uint64_t i)
{
    uint32_t who = (uint32_t)random_below(THREADS);
    stack_id stack = {1 + (uint32_t)random_below(m->stacks)};
    class_id class_ =
        m->classes[hash_u64(stack.v * PER_STACK + random_below(PER_STACK)) % KINDS_OF_OBJECTS];
    uint64_t time = i * STEP, size = 16 + 8 * (hash_u64(stack.v) % 40);
    uint64_t weight = m->kind == SAMPLES ? 512 * 1024 : 0;
    if (m->kind == COUNTS) {
        uint64_t n = 1 + random_below(1000), since = time > 1000000 ? time - 1000000 : 0;
        ADD(&m->b, who + 1, m->threads[who], time, object_allocs, .class_ = class_, .stack = stack,
            .count = n, .bytes = n * size, .since = BUILDER_START + since);
        return;
    }
    if (m->kind == SAMPLES)
        ADD(&m->b, who + 1, m->threads[who], time, object_sample, .object = i + 1, .class_ = class_,
            .size = size, .stack = stack, .weight = weight);
    else
        ADD(&m->b, who + 1, m->threads[who], time, object_alloc, .object = i + 1, .class_ = class_,
            .size = size, .stack = stack);
    if (random_below(5))
        add_end(m, time + STEP / 2,
                &(struct ev_object_free){.object = i + 1,
                                         .class_ = class_,
                                         .size = size,
                                         .stack = stack,
                                         .since = BUILDER_START + time,
                                         .allocated_by = m->threads[who],
                                         .weight = weight});
}

static void make(struct made *m, int fd)
{
    builder_init(&m->b);
    define_all(m);
    for (uint64_t i = 0; i < m->records; i++) {
        add_record(m, i);
        if (i % (m->records / PAUSES + 1) == 0) {
            ADD0(&m->b, GC_STREAM, (thread_id){0}, i * STEP, gc_start);
            ADD0(&m->b, GC_STREAM, (thread_id){0}, i * STEP + STEP / 2, gc_finish);
        }
    }
    builder_write(&m->b, fd, m->records * STEP);
}

/* --- what is measured ------------------------------------------------------------------------- */

static void sum(struct analysis *a, bool by_thread)
{
    const struct alloc_query q = {.selection = selection_all(), .by_thread = by_thread};
    struct alloc_sums s;
    require(alloc_sums_make(&s, a, &q) == 0, "sums");
    alloc_sums_fini(&s);
}

static void sum_threads(struct analysis *a)
{
    sum(a, true);
}

static void sum_all(struct analysis *a)
{
    sum(a, false);
}

static void tables(struct analysis *a)
{
    const struct selection all = selection_all();
    struct arena arena;
    struct alloc_tables x;
    arena_init(&arena, 0);
    require(alloc_tables_make(&x, a, &all, false, &arena) == 0, "tables");
    arena_fini(&arena);
}

static void find(struct analysis *a)
{
    struct rule_finding *f;
    size_t n;
    require(rules_apply(a, &f, &n, NULL, NULL) == 0, "rules");
}

static double used(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void measure(const char *what, struct analysis *a, void (*run)(struct analysis *), int runs)
{
    double best = INFINITY;
    const struct allocs *s = &a->allocs;
    uint64_t n = s->n[ALLOC_EXACT] + s->n[ALLOC_SAMPLED] + s->n_batches + s->n_frees;
    for (int i = 0; i < runs; i++) {
        double start = used();
        run(a);
        best = fmin(best, used() - start);
    }
    printf("%-34s %6.2f s, %6.0f ns an event\n", what, best, best * 1e9 / (double)max_u64(n, 1));
}

static void measure_all(struct trace *t)
{
    struct analysis *a;
    struct rusage u;
    double start = used();
    require(conclude_run(&a, t, NULL) == 0, "analysis");
    printf("%-34s %6.2f s\n", "reading and analysing all", used() - start);
    printf("%-34s %6zu MB\n", "kept",
           (a->allocs.arena.used + a->allocs.contexts.len +
            a->allocs.context_of.cap * sizeof(struct map_slot)) >>
               20);
    measure("sums by class and stack", a, sum_all, RUNS);
    measure("sums by thread, class and stack", a, sum_threads, RUNS);
    measure("tables of the report", a, tables, RUNS);
    measure("findings", a, find, 1); /* they keep what they have found */
    getrusage(RUSAGE_SELF, &u);
    printf("resident at most %ld MB, the trace included\n", u.ru_maxrss / 1024);
    analysis_free(a);
}

int main(int argc, char **argv)
{
    bool keep = argc > 2 && strcmp(argv[1], "-o") == 0;
    int fd = keep ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600) : memfd_create("trace", 0);
    char **arg = argv + (keep ? 3 : 1), **end = argv + argc;
    static struct made m = {.records = 5000000, .stacks = 2000000};
    require(fd >= 0, "cannot open the file");
    for (size_t i = 0; arg < end && i < ARRAY_LEN(kinds); i++)
        m.kind = strcmp(*arg, kinds[i]) == 0 ? (enum kind)i : m.kind;
    m.records = arg + 1 < end ? strtoull(arg[1], NULL, 10) : m.records;
    m.stacks = arg + 2 < end ? strtoull(arg[2], NULL, 10) : m.stacks;
    make(&m, fd);
    struct trace *t;
    double start = used();
    require(trace_open_fd(&t, fd, "synthetic", NULL) == 0, "open");
    printf("%s %s of %d threads in %s stacks, %s bytes\n", human_count(m.records).text,
           kinds[m.kind], THREADS, human_count(m.stacks).text,
           human_count((uint64_t)lseek(fd, 0, SEEK_END)).text);
    printf("%-34s %6.2f s\n", "opening", used() - start);
    measure_all(t);
    trace_close(t);
    return 0;
}
