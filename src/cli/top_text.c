#include "cli/top_text.h"

#include "analyze/labels.h"
#include "base/human.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/page_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* On a page below WIDE the shares of waiting and idle time, and the owner, have no room. */
enum { HEAD_LINES = 4, WANTED_WIDTH = 30, WIDE = 96, WANTED_NARROW = 14 };

/* --- the head --------------------------------------------------------------------------------- */

static void put_jvm(const struct page *p, const struct top_view *v)
{
    const struct jvm *jvm = &v->source->jvm;
    char name[sizeof jvm->name];
    struct buf b = {0};
    printable_text(jvm->name, v->utf8, name, sizeof name);
    buf_printf(&b, "%d %s, Java %s, up %s; ", (int)jvm->pid, name, *jvm->java ? jvm->java : "?",
               human_time(top_source_uptime(v->source)).text);
    buf_printf(&b, "the last %s, every %s%s", human_time(top_source_span(v->source)).text,
               human_time(v->delay).text, v->paused ? "  PAUSED" : "");
    page_line(p, STYLE_BOLD, buf_str(&b));
    buf_fini(&b);
}

static void put_states(const struct page *p, const struct top_view *v)
{
    static const uint8_t order[] = {TIME_BLOCKED, TIME_WAITING, TIME_RUNNING, TIME_IDLE,
                                    TIME_CARRIER, NOW_ASLEEP,   NOW_PARKED,   NOW_UNKNOWN};
    size_t n[NOW_LIMIT] = {0};
    struct buf b = {0};
    for (size_t i = 0; i < v->source->n_now; i++)
        n[v->source->now[i].now]++;
    buf_printf(&b, "threads %zu", v->source->n_now);
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (n[order[i]] || order[i] <= TIME_IDLE)
            buf_printf(&b, "%s%zu %s", i ? ", " : ": ", n[order[i]], now_names[order[i]]);
    page_wrapped(p, STYLE_PLAIN, "", buf_str(&b), 0);
    buf_fini(&b);
}

static void put_rates(const struct page *p, const struct top_view *v)
{
    const struct top_source *s = v->source;
    uint64_t span = top_source_span(s);
    struct buf b = {0};
    buf_printf(&b, "cpu %.0f %%  gc %.1f %%  events %s/s  lost %s  recording %.1f %% + %.1f %%",
               s->cpu * 100, span ? 100.0 * (double)s->report.a->gc_ns / (double)span : 0.0,
               human_count((uint64_t)(s->rate + 0.5)).text,
               s->lost ? human_count(s->lost).text : "none", s->recording * 100, s->writing * 100);
    page_line(p, STYLE_PLAIN, buf_str(&b));
    buf_fini(&b);
}

static void put_state(const struct page *p, const struct top_view *v)
{
    static const char *const texts[] = {
        [TOP_RECORDING] = "",
        [TOP_UNWRITTEN] = "the trace cannot be written; showing the last state: ",
        [TOP_SILENT] = "the JVM does not answer: it is stopped, or very busy",
        [TOP_ENDED] = "the recording has ended; showing its last state",
        [TOP_GONE] = "the JVM has ended; showing its last state",
    };
    enum top_state s = v->source->state;
    if (*texts[s])
        page_line_of(p, STYLE_WARNING, texts[s], s == TOP_UNWRITTEN ? v->source->unwritten : "");
}

/* States that are not recorded do not occur here. */
static void put_groups(const struct page *p, const struct top_view *v)
{
    static const int wanted[] = {GROUP_threads, GROUP_monitors, GROUP_waits,
                                 GROUP_parks,   GROUP_joins,    GROUP_sleeps};
    struct buf names = {0}, b = {0};
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (!(v->source->groups >> (wanted[i] - 1) & 1))
            buf_printf(&names, "%s%s", names.len ? "+" : "", event_groups[wanted[i]].name);
    if (names.len && v->source->state == TOP_RECORDING) {
        buf_printf(&b, "not recorded: %s; orca attach %d --on %s", buf_str(&names),
                   (int)v->source->jvm.pid, buf_str(&names));
        page_line(p, STYLE_WARNING, buf_str(&b));
    }
    buf_fini(&names);
    buf_fini(&b);
}

static void put_head(const struct page *p, const struct top_view *v)
{
    put_jvm(p, v);
    put_states(p, v);
    put_rates(p, v);
    put_state(p, v);
    put_groups(p, v);
    fputc('\n', p->to);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* "HikariPool-1 (connection pool)", "shop.Order (object 3)"; of a join the thread. */
static void name_wanted(const struct page *p, const struct thread_now *x, char *out)
{
    char raw[PAGE_NAME];
    *out = 0;
    if (x->of && x->now != TIME_IDLE) {
        finding_resource(p->r->resources, x->of, p->r->a, raw, sizeof raw);
        printable_text(raw, p->utf8, out, PAGE_NAME);
    } else if (x->wait == STATE_JOINING && x->other) {
        page_thread(p, x->other, out);
    } else if (x->lock.v && x->now != TIME_IDLE) {
        page_lock(p, x->lock, out);
    } else if (x->wait == STATE_SLEEPING) {
        snprintf(out, PAGE_NAME, "a timer");
    }
}

/* "Order.take:88" */
static void name_at(const struct page *p, struct place at, char *out)
{
    char method[2 * LABEL_MAX], text[3 * LABEL_MAX];
    *out = 0;
    if (!at.method.v)
        return;
    label_method(p->r->trace, at.method, method, sizeof method);
    char *dot = strrchr(method, '.');
    if (dot)
        *dot = 0;
    snprintf(text, sizeof text, "%s%s%s", label_simple(method), dot ? "." : "", dot ? dot + 1 : "");
    if (at.line >= 0)
        snprintf(text + strlen(text), 16, ":%" PRId32, at.line);
    printable_text(text, p->utf8, out, PAGE_NAME);
}

static void put_row(const struct page *p, struct table *t, const struct thread_now *x)
{
    char text[PAGE_NAME], place[PAGE_NAME], since[PAGE_NAME];
    uint64_t now = p->r->a->window.to;
    struct place at = program_place(&p->r->resources->program, x->stack);
    cell_thread(t, p, x->thread);
    table_put(t, now_names[x->now]);
    *since = 0;
    if (x->since)
        snprintf(since, sizeof since, "%s%s", x->now >= THREAD_TIMES ? "> " : "",
                 human_time(now - min_u64(x->since, now)).text);
    table_put(t, *since ? since : "-");
    cell_share(t, x->ns[TIME_BLOCKED], x->life);
    if (p->width >= WIDE) {
        cell_share(t, x->ns[TIME_WAITING], x->life);
        cell_share(t, x->ns[TIME_IDLE], x->life);
    }
    name_wanted(p, x, text);
    printable_cut(text, p->width >= WIDE ? page_room(p, WANTED_WIDTH) : WANTED_NARROW);
    table_put(t, *text ? text : "-");
    if (p->width >= WIDE && x->other && x->wait != STATE_JOINING)
        cell_thread(t, p, x->other);
    else if (p->width >= WIDE)
        table_put(t, "-");
    name_at(p, at, place);
    table_put(t, *place ? place : "-");
}

static bool is_wanted(const struct page *p, const struct top_view *v, const struct thread_now *x)
{
    char name[PAGE_NAME], wanted[PAGE_NAME];
    if (!*v->filter)
        return true;
    page_thread(p, x->thread, name);
    name_wanted(p, x, wanted);
    return strcasestr(name, v->filter) || strcasestr(wanted, v->filter);
}

static void put_threads(const struct page *p, const struct top_view *v)
{
    static const struct table_column columns[] = {
        {"thread", TABLE_LEFT, false},    {"state", TABLE_LEFT, false},
        {"since", TABLE_RIGHT, false},    {"blocked", TABLE_RIGHT, false},
        {"waiting", TABLE_RIGHT, false},  {"idle", TABLE_RIGHT, false},
        {"waits for", TABLE_LEFT, false}, {"owner", TABLE_LEFT, false},
        {"at", TABLE_LEFT, true}};
    struct table_column narrow[ARRAY_LEN(columns)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        if (p->width >= WIDE || (i != 4 && i != 5 && i != 7))
            narrow[n++] = columns[i];
    struct table t;
    size_t rows = 0;
    table_init(&t, narrow, n);
    for (size_t i = 0; i < v->source->n_now && (!v->rows || rows < v->rows); i++)
        if (is_wanted(p, v, &v->source->now[i])) {
            put_row(p, &t, &v->source->now[i]);
            rows++;
        }
    page_table(p, &t);
    if (!rows)
        page_line(p, STYLE_FAINT, *v->filter ? "no thread matches the filter" : "no thread yet");
}

/* --- the pages -------------------------------------------------------------------------------- */

static void put_picture(const struct page *p, const struct top_view *v)
{
    put_head(p, v);
    if (!report_findings(p->r))
        fprintf(p->to, "No findings.\n\n");
    page_screen(p, HEAD_LINES);
    put_threads(p, v);
}

static void put_finding(const struct page *p, unsigned number)
{
    if (number > report_findings(p->r))
        page_line(p, STYLE_FAINT, "no finding has this number now");
    else
        page_finding(p, number);
}

static void put_help(const struct page *p)
{
    static const char *const lines[] = {
        "q            quit",
        "t, Tab       only the threads, or everything",
        "1 to 9       a finding with its facts and stacks; Esc: back",
        "arrows, PgUp, PgDn, Home, End   scroll",
        "/            only threads with this in their name, or in what they wait for; Esc: all",
        "p, Space     pause, continue",
        "+, -         a longer, a shorter window",
        "d            time between refreshes",
        "h, ?         this help",
        "",
        "All figures cover the last seconds (--window); orca report uses the same words.",
        "blocked      on a monitor, a lock, a pool or a limit",
        "waiting      for an answer, a thread, input or output, or for a timer",
        "idle         without work",
        "running      the rest",
        "unknown      events are missing, until the thread's next event",
        "asleep when Orca attached   no event of the thread since then; parked: likewise",
        "since        how long in this state",
        "recording    cost in % of a processor: in the program's threads + for writing",
        "",
        "HotSpot does not report contention that spinning wins, below about 10 µs.",
    };
    page_line(p, STYLE_BOLD, "orca top: keys");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        page_line_of(p, STYLE_PLAIN, " ", lines[i]);
}

void top_print(const struct top_view *v, enum top_page page, unsigned number, FILE *to,
               size_t width, size_t lines, bool marks)
{
    bool begun = false;
    const struct page p = {.r = &v->source->report,
                           .to = to,
                           .width = width,
                           .utf8 = v->utf8,
                           .begun = &begun,
                           .live = true,
                           .marks = marks,
                           .lines = lines};
    if (page == TOP_PICTURE)
        put_picture(&p, v);
    else if (page == TOP_THREADS)
        put_threads(&p, v);
    else if (page == TOP_FINDING)
        put_finding(&p, number);
    else
        put_help(&p);
}
