/* report_screen.c - findings as cards, and the first screen of `orca report`: what was recorded,
 * the cards, the threads by pool, the resources, and what to type next.
 *
 *     at most SCREEN_LINES lines: what does not fit has its own option */
#include "cli/page.h"

#include "base/printable.h"
#include "base/util.h"
#include "cli/page_cells.h"
#include "conclude/resource_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCREEN_LINES = 40,
    CARDS_WHOLE = 3,
    CARDS_BRIEF = 5,
    CARD_WIDTH = 120, /* at most: lines of text are not a table */
    LABEL_WIDTH = 10,
    INDENT = 4,
    NEXT_LINES = 2,
    FRAMES = 60,
};

/* --- cards ------------------------------------------------------------------------------------ */

static size_t card_width(const struct page *p)
{
    return p->width < CARD_WIDTH ? p->width : CARD_WIDTH;
}

static enum page_style style_of(const struct page *p, const struct rule_finding *f)
{
    static const enum page_style styles[] = {STYLE_PLAIN, STYLE_WARNING, STYLE_PROBLEM};
    return p->color ? styles[f->severity] : STYLE_PLAIN;
}

static void line_text(const struct page *p, const struct rule_finding *f, uint32_t line, char *out)
{
    char raw[FINDING_TEXT];
    finding_line(f, line, raw);
    printable_text(raw, p->utf8, out, FINDING_TEXT);
}

/* The share at the right end, where both fit into one line. */
static void print_title(const struct page *p, const struct rule_finding *f, unsigned number,
                        bool brief)
{
    char first[16], text[2 * FINDING_TEXT], share[64];
    size_t room = card_width(p) - INDENT;
    snprintf(first, sizeof first, "%2u  ", number);
    line_text(p, f, 0, text);
    finding_share(f, share, sizeof share);
    size_t width = printable_width(share), free = room > width + 2 ? room - width - 2 : 0;
    if (brief)
        printable_cut(text, *share ? free : room);
    bool one_line = *share && printable_width(text) <= free;
    if (one_line)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%*s%s",
                 (int)(room - printable_width(text) - width), "", share);
    if (one_line)
        page_line_of(p, style_of(p, f), first, text);
    else
        page_wrapped(p, style_of(p, f), first, text, INDENT);
    if (*share && !one_line)
        page_wrapped(p, STYLE_PLAIN, "    ", share, INDENT);
}

static void print_line(const struct page *p, const char *label, const char *text)
{
    char first[32];
    snprintf(first, sizeof first, "    %-*s", LABEL_WIDTH, label);
    page_wrapped(p, STYLE_PLAIN, first, text, INDENT + LABEL_WIDTH);
}

/* "orca report app.otrace --finding 1" */
static void put_command(const struct page *p, struct buf *b, const char *command,
                        const char *options)
{
    char clean[2 * PAGE_NAME];
    struct buf word = {0};
    human_shell_word(&word, p->r->path);
    printable_text(buf_str(&word), p->utf8, clean, sizeof clean);
    buf_printf(b, "%sorca %s %s%s%s",
               !b->len   ? ""
               : p->utf8 ? " \xc2\xb7 "
                         : " | ",
               command, clean, *options ? " " : "", options);
    buf_fini(&word);
}

static void print_see(const struct page *p, unsigned number)
{
    char option[32];
    struct buf b = {0};
    snprintf(option, sizeof option, "--finding %u", number);
    put_command(p, &b, "report", option);
    size_t one = b.len;
    put_command(p, &b, "view", option);
    if (printable_width(buf_str(&b)) + INDENT + LABEL_WIDTH > card_width(p))
        b.len = one;                                             /* buf_str ends it */
    page_line_of(p, STYLE_FAINT, "    see       ", buf_str(&b)); /* to be copied: never broken */
    buf_fini(&b);
}

void page_card(const struct page *p, unsigned number, bool see)
{
    const struct rule_finding *f = report_finding(p->r, number);
    char text[FINDING_TEXT];
    struct page narrow = *p;
    narrow.width = card_width(p);
    print_title(&narrow, f, number, false);
    for (uint32_t i = 1; i < f->n_lines; i++) {
        unsigned label = f->lines[i].label;
        line_text(p, f, i, text);
        if (label == CARD_PLAIN)
            page_wrapped(&narrow, STYLE_PLAIN, "    ", text, INDENT);
        else
            print_line(&narrow, card_labels[label], text);
    }
    if (see)
        print_see(&narrow, number);
}

/* --- one card, with all its facts ------------------------------------------------------------- */

static void print_names(const struct page *p, const char *what, const struct id_list *l,
                        void (*name)(const struct page *p, uint32_t id, char *out))
{
    char text[PAGE_NAME];
    struct buf b = {0};
    for (uint32_t i = 0; i < l->n; i++) {
        name(p, l->v[i], text);
        buf_printf(&b, "%s%s", i ? ", " : "", text);
    }
    if (b.len)
        print_line(p, what, buf_str(&b));
    buf_fini(&b);
}

static void name_thread(const struct page *p, uint32_t id, char *out)
{
    page_thread(p, thread_set_index(&p->r->a->threads, (thread_id){id}), out);
}

static void name_lock(const struct page *p, uint32_t id, char *out)
{
    page_lock(p, (lock_id){id}, out);
}

static const char *stack_heading(const struct rule_finding *f, uint32_t stack)
{
    const struct resource *r = f->resource;
    if (r && r->wait_stack.v == stack)
        return "    waiting";
    for (size_t i = 0; r && i < r->n_doing; i++)
        if (r->doing[i].stack.v == stack)
            return r->kind == RESOURCE_ANSWERS ? "    answering" : "    holding";
    return "    stack";
}

void page_finding(const struct page *p, unsigned number)
{
    const struct rule_finding *f = report_finding(p->r, number);
    uint64_t from = p->r->trace->header.start_mono;
    struct buf b = {0};
    page_card(p, number, false);
    buf_printf(&b, "%s (%s), docs/concepts/findings.md", f->rule, severity_name(f->severity));
    print_line(p, "rule", buf_str(&b));
    buf_clear(&b);
    buf_printf(&b, "%s to %s", human_time(f->from > from ? f->from - from : 0).text,
               human_time(f->to > from ? f->to - from : 0).text);
    print_line(p, "time", buf_str(&b));
    print_names(p, "threads", &f->threads, name_thread);
    print_names(p, "objects", &f->locks, name_lock);
    for (uint32_t i = 0; i < f->stacks.n; i++) {
        page_heading(p, stack_heading(f, f->stacks.v[i]));
        page_stack(p, (stack_id){f->stacks.v[i]}, FRAMES);
    }
    buf_fini(&b);
}

/* --- the tables ------------------------------------------------------------------------------- */

/* The columns of times: without turns on processors, and with them. */
static const struct {
    enum thread_time time;
    const char *title[2]; /* NULL: none */
} pool_times[] = {
    {TIME_RUNNING, {"running", "on cpu"}},  {TIME_READY, {NULL, "ready"}},
    {TIME_BLOCKED, {"blocked", "blocked"}}, {TIME_WAITING, {"waiting", "waiting"}},
    {TIME_IDLE, {"idle", "idle"}},          {TIME_STOPPED, {"stopped", "stopped"}},
    {TIME_OTHER, {NULL, "other"}},          {TIME_CARRIER, {"no carrier", "no carrier"}}};

/* What few programs have only where it is a whole per cent of a pool's time: stops by the JVM,
 * virtual threads that waited for a carrier. */
/* Whether a pool lived for a thousandth of the recording: a shutdown hook's row says nothing. */
static bool has_row(const struct page *p, const struct thread_pool *v)
{
    const struct decode_window *w = &p->r->a->window;
    return !v->life || v->life >= (w->to - w->from) / 1000;
}

static bool has_column(const struct page *p, size_t column)
{
    enum thread_time time = pool_times[column].time;
    bool shown = time != TIME_CARRIER && time != TIME_STOPPED;
    for (size_t i = 0; i < p->r->n_pools; i++) {
        const struct thread_pool *v = &p->r->pools[i];
        shown |= has_row(p, v) && v->ns[time] && v->ns[time] >= v->life / 100;
    }
    return shown && pool_times[column].title[processors_any(&p->r->a->processors)];
}

static size_t pool_rows(const struct page *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->r->n_pools; i++)
        n += has_row(p, &p->r->pools[i]);
    return n;
}

static void print_pools(const struct page *p, size_t rows)
{
    struct table_column columns[2 + THREAD_TIMES] = {{"threads by pool", TABLE_LEFT, true},
                                                     {"threads", TABLE_RIGHT, false}};
    bool turns = processors_any(&p->r->a->processors);
    size_t n = 2;
    for (size_t k = 0; k < THREAD_TIMES; k++)
        if (has_column(p, k))
            columns[n++] = (struct table_column){pool_times[k].title[turns], TABLE_RIGHT, false};
    struct table t;
    table_init(&t, columns, n);
    for (size_t i = 0; i < p->r->n_pools && rows; i++) {
        const struct thread_pool *v = &p->r->pools[i];
        char name[PAGE_NAME];
        if (!has_row(p, v))
            continue;
        rows--;
        if (v->threads == 1)
            page_thread(p, v->first, name);
        else
            printable_text(thread_pool_label(p->r->a, v->name, v->first), p->utf8, name,
                           sizeof name);
        table_put(&t, name);
        cell_count(&t, v->threads);
        for (size_t k = 0; k < THREAD_TIMES; k++)
            if (has_column(p, k))
                cell_share(&t, v->ns[pool_times[k].time], v->life);
    }
    page_table(p, &t);
}

/* Of a program that was stopped what bounds its throughput: how often it is wanted, how many wait
 * and have it on average. */
static void put_load(struct table *t, const struct page *p, const struct resource *v)
{
    const struct decode_window *w = &p->r->a->window;
    double length = (double)(w->to - w->from);
    char text[32];
    snprintf(text, sizeof text, "%.1f", length ? (double)v->count * 1e9 / length : 0.0);
    table_put(t, text);
    snprintf(text, sizeof text, "%.2f", length ? (double)v->ns / length : 0.0);
    table_put(t, text);
    /* Where no event shows all that is taken, only how many have it at least. */
    bool known = v->all_known || (v->kind == RESOURCE_LOCK && v->lock.v);
    snprintf(text, sizeof text, "%.2f", length ? (double)v->held / length : 0.0);
    table_put(t, known ? text : "-");
}

/* Resources whose waits took 0 ns say nothing; they are the last ones. */
static size_t resource_rows(const struct page *p)
{
    size_t n = p->r->resources->n;
    while (n && !p->r->resources->v[n - 1].ns)
        n--;
    return n;
}

static void print_resources(const struct page *p, size_t rows)
{
    static const struct table_column columns[][6] = {{{"resources", TABLE_LEFT, true},
                                                      {"waits", TABLE_RIGHT, false},
                                                      {"time", TABLE_RIGHT, false},
                                                      {"mean", TABLE_RIGHT, false},
                                                      {"held by", TABLE_LEFT, false}},
                                                     {{"resources", TABLE_LEFT, true},
                                                      {"waits/s", TABLE_RIGHT, false},
                                                      {"queue", TABLE_RIGHT, false},
                                                      {"in use", TABLE_RIGHT, false},
                                                      {"mean", TABLE_RIGHT, false},
                                                      {"held by", TABLE_LEFT, false}}};
    bool stopped = p->r->a->stop.thread;
    struct table t;
    table_init(&t, columns[stopped], stopped ? 6 : 5);
    for (size_t i = 0; i < rows; i++) {
        const struct resource *v = &p->r->resources->v[i];
        char raw[PAGE_NAME], name[PAGE_NAME];
        finding_resource(p->r->resources, v, p->r->a, raw, sizeof raw);
        printable_text(raw, p->utf8, name, sizeof name);
        table_put(&t, name);
        if (stopped) {
            put_load(&t, p, v);
        } else {
            cell_count(&t, v->count);
            cell_time(&t, v->ns, true);
        }
        cell_time(&t, v->count ? v->ns / v->count : 0, v->count);
        finding_holders(v, p->r->a, raw, sizeof raw);
        const char *nobody = v->kind == RESOURCE_DELAY ? "-" : "unknown"; /* time passes */
        printable_text(*raw ? raw : nobody, p->utf8, name, sizeof name);
        printable_cut(name, page_room(p, THREAD_WIDTH));
        table_put(&t, name);
    }
    page_table(p, &t);
}

/* --- the screen ------------------------------------------------------------------------------- */

/* How much of everything. */
struct plan {
    size_t whole, brief, pools, resources; /* cards, rows */
    size_t lines[CARDS_WHOLE];             /* of the whole cards */
    size_t head;
};

static void print_whole(const struct page *p, unsigned number)
{
    page_card(p, number, !p->live);
}

static size_t lines_of(const struct page *p, const struct plan *x)
{
    size_t n = x->head + (p->live ? 0 : NEXT_LINES), cards = x->whole + x->brief;
    for (size_t i = 0; i < x->whole; i++)
        n += x->lines[i] + 1;
    n += x->brief ? x->brief + 1 : 0;
    n += report_findings(p->r) > cards;
    n += x->pools ? x->pools + 2 : 0;
    n += x->resources ? x->resources + 2 : 0;
    return n;
}

static bool less(size_t *n, size_t least)
{
    if (*n <= least)
        return false;
    (*n)--;
    return true;
}

/* What is given up first, until all fits. */
static void fit(const struct page *p, struct plan *x)
{
    while (lines_of(p, x) > (p->lines ? p->lines : SCREEN_LINES)) {
        if (less(&x->pools, 5) || less(&x->resources, 4) || less(&x->brief, 3) ||
            less(&x->pools, 4) || less(&x->resources, 3) || less(&x->brief, 1))
            continue;
        if (less(&x->whole, 1))
            x->brief++;
        else if (!less(&x->pools, 2) && !less(&x->resources, 1))
            return;
    }
}

static struct plan plan_of(const struct page *p, size_t head)
{
    const struct report *r = p->r;
    struct plan x = {.head = head,
                     .whole = report_findings(r) < CARDS_WHOLE ? report_findings(r) : CARDS_WHOLE,
                     .pools = pool_rows(p) < 8 ? pool_rows(p) : 8,
                     .resources = resource_rows(p) < 6 ? resource_rows(p) : 6};
    x.brief =
        report_findings(r) - x.whole < CARDS_BRIEF ? report_findings(r) - x.whole : CARDS_BRIEF;
    for (size_t i = 0; i < x.whole; i++)
        x.lines[i] = page_lines(p, print_whole, (unsigned)i + 1);
    fit(p, &x);
    return x;
}

static void print_cards(const struct page *p, const struct plan *x)
{
    struct page narrow = *p;
    narrow.width = card_width(p);
    for (size_t i = 0; i < x->whole; i++) {
        print_whole(p, (unsigned)i + 1);
        fputc('\n', p->to);
    }
    for (size_t i = x->whole; i < x->whole + x->brief; i++)
        print_title(&narrow, report_finding(p->r, (unsigned)i + 1), (unsigned)i + 1, true);
    if (report_findings(p->r) > x->whole + x->brief)
        fprintf(p->to, "    and %zu more%s\n", report_findings(p->r) - x->whole - x->brief,
                p->live ? "" : ": --findings");
    if (x->brief)
        fputc('\n', p->to);
}

static void print_next(const struct page *p)
{
    struct buf b = {0};
    put_command(p, &b, "report", "--all");
    size_t one = b.len;
    put_command(p, &b, "view", "");
    if (printable_width(buf_str(&b)) + 6 > p->width)
        b.len = one;
    page_line_of(p, STYLE_FAINT, "next  ", buf_str(&b));
    page_line_of(p, STYLE_FAINT, "      ",
                 "sections: --findings --threads --sites --queues --path; more: --help");
    buf_fini(&b);
}

void page_screen(const struct page *p, size_t head)
{
    struct plan x = plan_of(p, head);
    print_cards(p, &x);
    if (x.pools) {
        print_pools(p, x.pools);
        fputc('\n', p->to);
    }
    if (x.resources) {
        print_resources(p, x.resources);
        fputc('\n', p->to);
    }
    if (!p->live)
        print_next(p);
}
