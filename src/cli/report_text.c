/* report_text.c - `orca report` for a terminal: the head of the whole report, its sections and
 * their order, and which part is printed. */
#include "cli/page.h"

#include "base/buf.h"
#include "base/printable.h"
#include "base/util.h"
#include "cli/screen.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char SPINNING[] =
    "Contention shorter than about 10 µs that spinning wins is not reported by the JVM.";

static const char NO_ORDERS[] =
    "Not checked: lock orders (too many waits, recorded without holds); --orders checks them.";

enum { GC_SHOWN = 10 }; /* thousandths */

static uint64_t duration(const struct report *r)
{
    return r->a->window.to - r->a->window.from;
}

/* --- the head --------------------------------------------------------------------------------- */

static void print_losses(const struct page *p)
{
    const struct analysis *a = p->r->a;
    uint64_t lost = analysis_lost_events(a);
    struct buf b = {0};
    if (a->n_losses == 0)
        return;
    if (lost)
        buf_printf(&b, "%s of %s events were lost: counts and times below are lower bounds",
                   human_count(lost).text, human_count(lost + a->decoded.events).text);
    else
        buf_puts(&b, "stacks or locks of some events were lost: they count as unknown");
    page_wrapped(p, STYLE_PROBLEM, "LOST     ", buf_str(&b), 9);
    for (size_t i = 0; i < a->n_losses; i++) {
        buf_clear(&b);
        buf_printf(&b, "%s %s: %s", human_count(a->losses[i].count).text,
                   loss_causes[a->losses[i].cause].name, loss_causes[a->losses[i].cause].doc);
        page_wrapped(p, STYLE_PROBLEM, "         ", buf_str(&b), 9);
    }
    buf_fini(&b);
}

/* "12.3 s": since the recording began. */
static struct human since_start(const struct page *p, uint64_t time)
{
    uint64_t from = p->r->trace->header.start_mono;
    return human_time(time > from ? time - from : 0);
}

static void print_full_disk(const struct page *p)
{
    enum { LINES = 5 };
    struct buf b = {0};
    const struct buf *all = &p->r->a->decoded.unwritten;
    const struct unwritten *u = (const void *)all->p;
    size_t n = all->len / sizeof *u;
    for (size_t i = 0; i < n && i < LINES; i++) {
        buf_clear(&b);
        buf_printf(&b, "full from %s to %s of the recording: ", since_start(p, u[i].from).text,
                   since_start(p, u[i].to).text);
        if (u[i].lost)
            buf_printf(&b, "%s events of that time were lost", human_count(u[i].lost).text);
        else
            buf_puts(&b, "nothing was lost, events were written later");
        if (i + 1 == LINES && n > LINES)
            buf_printf(&b, "; and %s more times", human_count(n - LINES).text);
        page_wrapped(p, u[i].lost ? STYLE_PROBLEM : STYLE_PLAIN, "DISK     ", buf_str(&b), 9);
    }
    buf_fini(&b);
}

static void print_summed(const struct page *p)
{
    const struct summed *s = &p->r->a->decoded.summed;
    struct buf b = {0};
    if (!s->waits && !s->stretches.len)
        return;
    human_put_summed(&b, summed_time(s), summed_below(s) / 1000000, s->waits, s->ns);
    buf_puts(&b, ", because recording each wait would have taken more of the processors' time than "
                 "--cost allows");
    if (summed_is_timed(s))
        buf_puts(&b, "; even sums cost too much: lock and call site of most parks are estimates");
    if (summed_is_cut(s) && p->r->trace->header.state == TRACE_RECOVERED)
        buf_puts(&b, "; the JVM was killed while it recorded sums: the last 0.2 s may be missing");
    page_wrapped(p, STYLE_PLAIN, "SUMMED   ", buf_str(&b), 9);
    buf_fini(&b);
}

/* Whatever part of the report follows. */
/* What this JVM did not let Orca have. */
static void print_lacks(const struct page *p)
{
    const char *at = trace_info(p->r->trace, "orca.lacks", "");
    char line[512];
    for (; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        page_wrapped(p, STYLE_PROBLEM, "LACKING  ", line, 9);
    }
}

static void print_warnings(const struct page *p)
{
    print_lacks(p);
    print_losses(p);
    print_full_disk(p);
    print_summed(p);
    if (p->r->trace->n_damaged)
        page_wrapped(p, STYLE_PROBLEM, "DAMAGED  ",
                     "parts of the file could not be read: counts and times below are lower bounds",
                     9);
}

/* "program  text", where there is a text. */
static void head_line(const struct page *p, const char *what, const char *text)
{
    char first[16], clean[2 * PAGE_NAME];
    if (!*text)
        return;
    snprintf(first, sizeof first, "%-9s", what);
    printable_text(text, p->utf8, clean, sizeof clean);
    printable_cut(clean, p->width - 9);
    fprintf(p->to, "%s%s\n", first, clean);
    *p->begun = true;
}

static void print_jvm(const struct page *p)
{
    const struct trace *t = p->r->trace;
    const char *name = trace_info(t, "java.vm.name", ""), *host = trace_info(t, "host", "");
    struct buf b = {0};
    buf_printf(&b, "%s%s%s", name, *name ? " " : "", trace_info(t, "java.vm.version", ""));
    if (t->header.pid)
        buf_printf(&b, "%spid %u", b.len ? ", " : "", t->header.pid);
    if (*host)
        buf_printf(&b, " on %s", host);
    head_line(p, "jvm", buf_str(&b));
    buf_fini(&b);
}

/* Which file of a recording of several this is. */
static void print_part(const struct page *p)
{
    const struct trace *t = p->r->trace;
    const char *number = trace_info(t, "orca.part", "");
    bool first = !*trace_info(t, "orca.previous", "");
    struct buf b = {0};
    if (!*number)
        return;
    buf_printf(&b, "file %s of its recording%s", number,
               first ? "" : "; waits that began in an earlier file are incomplete");
    head_line(p, "part", buf_str(&b));
    head_line(p, "next", trace_info(t, "orca.next", ""));
    buf_fini(&b);
}

static void print_ending(const struct page *p)
{
    static const char *const texts[] = {
        [ENDED_CLOSED] = "",
        [ENDED_RECOVERED] = "the JVM was killed; completed from its rings",
        [ENDED_STOPPED] = "stopped early: the file could not be written further",
        [ENDED_LIVE] = "still being recorded: this report covers the events written so far",
        [ENDED_CUT] =
            "unfinished: the JVM was killed and its rings are gone, or the file was truncated",
    };
    head_line(p, "state", texts[p->r->ending]);
    if (!p->r->a->windowed)
        return;
    struct buf b = {0};
    uint64_t evicted = p->r->trace->header.evicted_events;
    buf_puts(&b, "the newest part of a longer recording (maxsize)");
    if (evicted)
        buf_printf(&b, ": %s older events were overwritten", human_count(evicted).text);
    head_line(p, "window", buf_str(&b));
    buf_fini(&b);
}

/* least: thousandths of the time in pauses of the collector, below which they are left out. */
static void print_recorded(const struct page *p, uint64_t least)
{
    const struct analysis *a = p->r->a;
    char date[64] = "";
    time_t at = (time_t)(p->r->trace->header.start_real / 1000000000u);
    struct tm tm;
    struct buf b = {0};
    if (at && localtime_r(&at, &tm))
        strftime(date, sizeof date, " from %Y-%m-%d %H:%M:%S", &tm);
    buf_printf(&b, "%s%s, %s events", human_time(duration(p->r)).text, date,
               human_count(a->decoded.events).text);
    if (a->stop.thread)
        buf_printf(&b, ", stopped by %s", a->stop.signal);
    head_line(p, "recorded", buf_str(&b));
    buf_clear(&b);
    if (a->gc_ns >= duration(p->r) / 1000 * least)
        page_put_gc(p, &b);
    head_line(p, "gc", buf_str(&b));
    buf_fini(&b);
}

/* An import of a file of method calls, which are counted and no more. */
static void print_calls(const struct page *p)
{
    const char *calls = trace_info(p->r->trace, "import.calls", "");
    struct buf b = {0};
    if (!*calls)
        return;
    buf_printf(&b, "%s: a trace of method calls, which are not analysed", calls);
    head_line(p, "calls", buf_str(&b));
    buf_fini(&b);
}

static void print_head(const struct page *p)
{
    head_line(p, "program", trace_info(p->r->trace, "sun.java.command", ""));
    print_jvm(p);
    print_recorded(p, 0);
    print_calls(p);
    print_part(p);
    print_ending(p);
}

/* --- findings --------------------------------------------------------------------------------- */

static void print_sum(const struct page *p)
{
    const struct analysis *a = p->r->a;
    const struct state_stats *held_up = &a->stats.total[HELD_UP];
    const struct state_stats *waited = &a->stats.total[STATE_WAITING];
    uint64_t threads = 0;
    struct buf b = {0};
    for (size_t i = 0; i < a->threads.n; i++)
        threads += a->stats.threads[i].state[HELD_UP].count > 0;
    if (held_up->count)
        buf_printf(&b, "%s thread%s blocked %s time%s for a total of %s", human_count(threads).text,
                   threads == 1 ? " was" : "s were", human_count(held_up->count).text,
                   held_up->count == 1 ? "" : "s", human_time(held_up->ns).text);
    else
        buf_puts(&b, "No contention was recorded");
    if (waited->count)
        buf_printf(&b, "; %s wait%s in Object.wait for a total of %s",
                   human_count(waited->count).text, waited->count == 1 ? "" : "s",
                   human_time(waited->ns).text);
    buf_putc(&b, '.');
    page_wrapped(p, STYLE_PLAIN, "", buf_str(&b), 0);
    buf_fini(&b);
}

/* What the rules looked at in vain. */
static void print_nothing(const struct page *p)
{
    struct buf b = {0};
    buf_puts(&b, "No findings. Looked for: ");
    for (size_t i = 0; i < n_rules; i++)
        buf_printf(&b, "%s%s", i ? "; " : "", rules[i].looks_at);
    buf_putc(&b, '.');
    page_wrapped(p, STYLE_PLAIN, "", buf_str(&b), 0);
    buf_fini(&b);
}

static void print_findings(const struct page *p)
{
    if (p->r->group == EVERY_CLASS)
        print_sum(p);
    if (!p->r->a->has_orders)
        page_wrapped(p, STYLE_FAINT, "", NO_ORDERS, 0);
    if (p->r->n_findings == 0 && p->r->group == EVERY_CLASS)
        print_nothing(p);
    for (unsigned i = 1; i <= report_findings(p->r); i++) {
        fputc('\n', p->to);
        page_card(p, i, false);
    }
}

/* --- the page --------------------------------------------------------------------------------- */

static bool wants_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
           !(term && strcmp(term, "dumb") == 0);
}

static bool processors_may_be_short(const struct page *p)
{
    uint64_t running = 0;
    for (size_t i = 0; i < p->r->n_pools; i++)
        running += thread_pool_runs(&p->r->pools[i], p->r->a);
    return thread_pools_lack_processors(p->r->a, running);
}

/* What the recording could not know. */
static void print_limits(const struct page *p)
{
    const char *groups = trace_info(p->r->trace, "orca.events", "");
    const char *looks = trace_info(p->r->trace, "orca.looks", "");
    if (!p->r->a->has_orders)
        page_wrapped(p, STYLE_FAINT, "limits   ", NO_ORDERS, 9);
    if (*looks)
        page_wrapped(p, STYLE_FAINT, "limits   ", looks, 9);
    else if (*groups && !event_groups_list(groups, GROUP_looks) &&
             !event_groups_list(groups, GROUP_wall))
        page_wrapped(p, STYLE_FAINT, "limits   ",
                     "group looks is off: what lock holders did was not sampled", 9);
    if (*groups && processors_may_be_short(p))
        page_wrapped(p, STYLE_FAINT, "limits   ",
                     "recorded without --time: threads that run may have waited for a processor",
                     9);
}

static const struct section {
    unsigned bit;
    void (*print)(const struct page *p);
} sections[] = {
    {REPORT_DEADLOCKS, page_deadlocks},
    {REPORT_ORDERS, page_orders},
    {REPORT_PATH, page_path},
    {REPORT_THREADS, page_threads},
    {REPORT_MONITORS, page_monitors},
    {REPORT_QUEUES, page_queues},
    {REPORT_SITES, page_sites},
    {REPORT_OWNERS, page_owners},
    {REPORT_CALLS, page_calls},
    {REPORT_HOT, page_hot},
    {REPORT_IO, page_io},
    {REPORT_GC, page_gc},
    {REPORT_ALLOC, page_allocs},
    {REPORT_INTERACTIONS, page_interactions},
    {REPORT_BOTTLES, page_bottles},
    {REPORT_POOLS, page_pools},
};

static void print_sections(const struct page *p)
{
    if (p->r->sections & REPORT_FINDINGS) {
        print_head(p);
        fputc('\n', p->to);
        print_findings(p);
    }
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (p->r->sections & sections[i].bit)
            sections[i].print(p);
    if (p->r->sections & REPORT_FINDINGS) {
        fputc('\n', p->to);
        page_line(p, STYLE_FAINT, SPINNING);
    }
}

/* What was recorded, in a few lines. */
static void print_short_head(const struct page *p)
{
    print_warnings(p);
    head_line(p, "program", trace_info(p->r->trace, "sun.java.command", ""));
    print_recorded(p, GC_SHOWN);
    print_calls(p);
    print_part(p);
    print_ending(p);
    print_limits(p);
    fputc('\n', p->to);
}

/* What stands above the tables. */
static void print_begin(const struct page *p, unsigned unused)
{
    (void)unused;
    print_short_head(p);
    if (p->r->n_findings)
        return;
    print_nothing(p);
    fputc('\n', p->to);
}

int report_text(const struct report *r, unsigned finding, struct err *err)
{
    bool begun = false;
    const struct page page = {.r = r,
                              .to = stdout,
                              .width = screen_width(),
                              .color = wants_color(),
                              .utf8 = screen_utf8(),
                              .begun = &begun};
    if (r->sections & REPORT_SCREEN) {
        print_begin(&page, 0);
        page_screen(&page, page_lines(&page, print_begin, 0));
    } else if (finding) {
        page_finding(&page, finding);
    } else {
        print_warnings(&page);
        print_sections(&page);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0
                                                  : err_set(err, -EIO, "cannot write to stdout");
}
