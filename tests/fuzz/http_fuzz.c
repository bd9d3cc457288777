/* http_fuzz.c - a request as bytes: greeting, gate, paths, parameters, questions in JSON, and the
 * answers of a small view and a small heap dump behind them.
 *
 * Input: a request line, headers, an empty line, a body.  "/gG/" in the path stands for the
 * generation that there is. */
#include "../hprof_writer.h"
#include "../unit/trace_builder.c"

#include "analyze/analysis.h"
#include "base/clock.h"
#include "conclude/resource.h"
#include "serve/compress.h"
#include "serve/core.h"
#include "serve/gate.h"
#include "serve/greeting.h"
#include "view/heap_view.h"
#include "view/view.h"

#include <jansson.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS_MAX = 16, PORT = 8000 };

static const struct gate gate = {
    .port = PORT,
    .token = {"00112233445566778899aabbccddeeff", "0123456789abcdeffedcba9876543210"},
    .key = "ffeeddccbbaa99887766554433221100"};
static struct core core;
static char generation[32];

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* --- what is behind it ------------------------------------------------------------------------ */

static void some_events(struct trace_builder *b)
{
    thread_id a = builder_thread(b, "worker-1"), c = builder_thread(b, "worker-2");
    class_id order = builder_class(b, "Lshop/Order;");
    lock_id lock = builder_lock(b, order), other = builder_lock(b, order);
    stack_id stack = builder_stack(b, "shop.Order.submit:88 shop.Main.main:12");
    for (uint64_t t = 0; t < 2000; t += 100) {
        ADD(b, 1, a, t + 10, monitor_contended_enter, .lock = lock, .owner = c, .stack = stack);
        ADD(b, 1, a, t + 50, monitor_contended_entered, .lock = lock);
        ADD(b, 2, c, t + 20, wait_enter, .lock = other, .stack = stack);
        ADD(b, 1, a, t + 60, notify, .lock = other, .stack = stack);
        ADD(b, 2, c, t + 70, wait_exit, .lock = other);
    }
}

static int read_source(struct serve_source *s, uint32_t gen, const struct serve_progress *p,
                       struct view **out, struct err *err)
{
    struct trace_builder b;
    struct analysis *a;
    (void)s;
    (void)p;
    builder_init(&b);
    some_events(&b);
    struct trace *t = builder_open(&b, 3000);
    check(conclude_run(&a, t, err) == 0);
    const struct view_about about = {
        .gen = gen, .name = "a.otrace", .path = "/a.otrace", .ending = "closed"};
    return view_new(out, a, &about, err);
}

static int look(struct serve_source *s, struct err *err)
{
    (void)s;
    (void)err;
    return 0;
}

static void close_source(struct serve_source *s)
{
    (void)s;
}

static void plain(const char *text)
{
    for (; text && *text; text++)
        check((unsigned char)*text >= ' ' && *text != 0x7f);
}

static int attach(void *ctx, const struct serve_attach *a, struct serve_source **out,
                  struct serve_why *why)
{
    (void)ctx;
    (void)out;
    check(a->pid > 0 && a->pid <= INT32_MAX);
    plain(a->events);
    plain(a->include);
    plain(a->exclude);
    plain(a->methods);
    plain(a->output);
    plain(a->ownerstacks);
    return err_set(&why->err, -ESRCH, "there is no JVM %u", (unsigned)a->pid);
}

static int stop(void *ctx, uint32_t pid, struct buf *file, struct serve_why *why)
{
    (void)ctx;
    (void)why;
    check(pid > 0);
    buf_puts(file, "/a.otrace");
    return 0;
}

static int save(void *ctx, const char *path, uint32_t live_pid, const char *to, struct buf *file,
                struct serve_why *why)
{
    (void)ctx;
    (void)live_pid;
    (void)why;
    check(strcmp(path, "/a.otrace") == 0 && *to);
    plain(to);
    buf_puts(file, to);
    return 0;
}

static int open_recent(void *ctx, uint32_t id, struct serve_opened *out, struct serve_why *why)
{
    (void)ctx;
    (void)out;
    why->field = "id";
    return err_set(&why->err, -ENOENT, "id: no trace %u", (unsigned)id);
}

static void begin_heap(void)
{
    static struct hprof_writer w;
    char path[64];
    int fd = memfd_create("dump", 0);
    FILE *f = fdopen(fd, "w+b");
    check(f != NULL);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    hw_begin(&w, f, 8);
    hw_class(&w, 0x100, "java/lang/Object", 0, "");
    hw_class(&w, 0x180, "shop/Order", 0x100, "next:L number:I");
    hw_class(&w, 0x200, "[Lshop/Order;", 0x100, "");
    hw_instance(&w, 0x300, 0x180, (uint64_t[]){0x380, 1});
    hw_instance(&w, 0x380, 0x180, (uint64_t[]){0, 2});
    hw_objects(&w, 0x400, 0x200, (uint64_t[]){0x300, 0x380, 0}, 3);
    hw_root(&w, HPROF_ROOT_JNI_GLOBAL, 0x400, 0, 0);
    hw_end(&w);
    struct heap_view *heap;
    check(heaps_init(&core.heaps, NULL, NULL, NULL) == 0);
    check(heap_view_new(&heap, path, path, NULL) == 0);
    heap_view_read(heap);
    core.heaps.v[core.heaps.n++] = heap; /* read already: the same answers each time */
    fclose(f);
}

static void begin(void)
{
    static const struct serve_source_ops ops = {read_source, look, close_source};
    static struct serve_source source = {.ops = &ops, .name = "a.otrace", .path = "/a.otrace"};
    struct trace_news n = {0};
    uint32_t k;
    core.start = true;
    core.hooks =
        (struct serve_hooks){.attach = attach, .stop = stop, .save = save, .open = open_recent};
    begin_heap();
    check(traces_init(&core.traces, NULL, NULL, NULL) == 0);
    check(traces_add(&core.traces, &source, &k, NULL) == 0 && k == 1);
    while (traces_news(&core.traces, 1, &n) && n.gen == 0)
        clock_sleep_ns(1000000);
    snprintf(generation, sizeof generation, "%u", (unsigned)n.gen);
}

/* --- a request -------------------------------------------------------------------------------- */

struct request {
    char *line, *body;
    size_t body_len;
    struct gate_request gate;
    char *target;
};

/* The next line, ended by a NUL; NULL: there is none. */
static char *next_line(char **at, char *end)
{
    char *line = *at, *stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    if (!stop)
        return NULL;
    *stop = 0;
    if (stop > line && stop[-1] == '\r')
        stop[-1] = 0;
    *at = stop + 1;
    return line;
}

static void take_header(struct gate_request *g, char *line)
{
    const struct {
        const char *name;
        const char **place;
    } known[] = {{"Host: ", &g->host},
                 {"Origin: ", &g->origin},
                 {"Orca-Key: ", &g->key},
                 {"Content-Type: ", &g->content_type},
                 {"Content-Length: ", &g->content_length}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t n = strlen(known[i].name);
        if (strncmp(line, known[i].name, n) != 0)
            continue;
        g->doubled += *known[i].place != NULL;
        *known[i].place = line + n;
    }
    compress_accepted(line);
}

/* "METHOD TARGET ..." */
static void take_line(struct request *r, char *line)
{
    char *target = strchr(line, ' ');
    r->gate.method = line;
    if (!target)
        return;
    *target++ = 0;
    target[strcspn(target, " ")] = 0;
    char *mark = strstr(target, "/gG/");
    size_t room = strlen(target) + sizeof generation;
    r->target = malloc(room);
    check(r->target != NULL);
    if (mark)
        snprintf(r->target, room, "%.*s/g%s%s", (int)(mark - target), target, generation, mark + 3);
    else
        snprintf(r->target, room, "%s", target);
    r->gate.target = r->target;
    r->gate.page = core_is_page(r->target);
}

static void take(struct request *r, char *text, size_t size)
{
    char *at = text, *end = text + size, *line = next_line(&at, end);
    *r = (struct request){.body = end};
    if (!line)
        return;
    take_line(r, line);
    for (int i = 0; i < HEADERS_MAX && (line = next_line(&at, end)) && *line; i++)
        take_header(&r->gate, line);
    r->body = at;
    r->body_len = (size_t)(end - at);
}

/* --- what must hold --------------------------------------------------------------------------- */

static void check_gate(const struct request *r)
{
    struct gate_answer a;
    gate_judge(&gate, &r->gate, &a);
    if (a.verdict == GATE_REFUSE)
        check(a.text && (a.status == 400 || a.status == 403 || a.status == 405 || a.status == 413));
    else
        check(strstr(r->gate.host, ":8000") && r->gate.target[0] == '/');
    if (a.verdict == GATE_PASS)
        check(r->gate.page || strcmp(r->gate.key, gate.key) == 0);
    if (a.verdict == GATE_ENTER)
        check(strstr(r->target, "/enter") && r->gate.origin && r->gate.content_type);
    int way = gate_way_of(&gate, r->body, r->body_len);
    check(way < 0 || memcmp(r->body, "token=", 6) == 0);
}

/* What has come first is measured alike however much of it there is. */
static void check_greeting(const char *text, size_t n)
{
    bool known;
    for (size_t most = n; most > 0; most /= 2) {
        enum greeting said = greeting_read(&gate, text, most, &known);
        check(!known || memmem(text, most, gate.key, GATE_SECRET_TEXT));
        check(said != GREETING_WHOLE || memmem(text, most, "\r\n\r\n", 4));
    }
}

static void check_json(const struct answer *a)
{
    json_error_t at;
    json_t *j = json_loadb((const char *)a->body.p, a->body.len, 0, &at);
    check(json_is_object(j) || (a->status == 200 && json_is_array(j)));
    check(a->status == 200 || json_is_string(json_object_get(j, "error")));
    json_decref(j);
}

static void check_answer(const struct answer *a, bool live)
{
    static const unsigned known[] = {200, 400, 404, 405, 410, 503};
    bool is = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is |= a->status == known[i];
    check(is && (!a->immutable || a->status == 200));
    if (live)
        check(a->body.len == 0);
    else if (a->kind == ANSWER_JSON)
        check_json(a);
    else
        check(a->status == 200 && a->body.len >= 8);
}

static void check_core(const struct request *r)
{
    struct answer a;
    bool live;
    const struct core_request asked = {.post = strcmp(r->gate.method, "POST") == 0,
                                       .target = r->target,
                                       .body = r->body,
                                       .body_len = r->body_len};
    answer_init(&a);
    core_answer(&core, &asked, &a, &live);
    check_answer(&a, live);
    answer_fini(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request r;
    if (!generation[0])
        begin();
    char *text = malloc(size + 1);
    check(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    check_greeting(text, size < GREETING_MAX ? size : (size_t)GREETING_MAX);
    take(&r, text, size);
    check_gate(&r);
    if (r.target)
        check_core(&r);
    free(r.target);
    free(text);
    return 0;
}
