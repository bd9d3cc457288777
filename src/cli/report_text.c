/* report_text.c - `orca report` for a terminal: what was recorded, and the findings. */
#include "cli/page.h"

#include "base/buf.h"
#include "base/printable.h"
#include "base/util.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char SPINNING[] =
    "Contention shorter than about 10 us that spinning wins is not reported by the JVM.";

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
            buf_puts(&b, "nothing was lost, it was written later");
        if (i + 1 == LINES && n > LINES)
            buf_printf(&b, "; and %s times more", human_count(n - LINES).text);
        page_wrapped(p, u[i].lost ? STYLE_PROBLEM : STYLE_PLAIN, "DISK     ", buf_str(&b), 9);
    }
    buf_fini(&b);
}

/* Whatever part of the report follows. */
static void print_warnings(const struct page *p)
{
    print_losses(p);
    print_full_disk(p);
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
    printable_cut(clean, PAGE_WIDTH - 9);
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
               first ? "" : "; waits that began in an earlier one are not whole here");
    head_line(p, "part", buf_str(&b));
    head_line(p, "next", trace_info(t, "orca.next", ""));
    buf_fini(&b);
}

static void print_ending(const struct page *p)
{
    static const char *const texts[] = {
        [ENDED_CLOSED] = "",
        [ENDED_RECOVERED] = "the JVM was killed; completed from what its rings held",
        [ENDED_STOPPED] = "stopped early: the file could not be written further",
        [ENDED_LIVE] = "still being recorded: this is what has been written so far",
        [ENDED_CUT] = "unfinished: the JVM was killed and its rings are gone, or the file was cut",
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

static void print_recorded(const struct page *p)
{
    const struct analysis *a = p->r->a;
    char date[64] = "";
    time_t at = (time_t)(p->r->trace->header.start_real / 1000000000u);
    struct tm tm;
    struct buf b = {0};
    if (at && localtime_r(&at, &tm))
        strftime(date, sizeof date, " from %Y-%m-%d %H:%M:%S", &tm);
    buf_printf(&b, "%s%s, %s events", page_time(p, duration(p->r)).text, date,
               human_count(a->decoded.events).text);
    head_line(p, "recorded", buf_str(&b));
    buf_clear(&b);
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
    print_recorded(p);
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
        buf_printf(&b, "%s thread%s held up %s time%s for %s in all", human_count(threads).text,
                   threads == 1 ? " was" : "s were", human_count(held_up->count).text,
                   held_up->count == 1 ? "" : "s", page_time(p, held_up->ns).text);
    else
        buf_puts(&b, "No contention was recorded");
    if (waited->count)
        buf_printf(&b, "; %s wait%s in Object.wait for %s in all", human_count(waited->count).text,
                   waited->count == 1 ? "" : "s", page_time(p, waited->ns).text);
    buf_putc(&b, '.');
    page_wrapped(p, STYLE_PLAIN, "", buf_str(&b), 0);
    buf_fini(&b);
}

/* What the rules looked at in vain. */
static void print_nothing(const struct page *p)
{
    struct buf b = {0};
    buf_puts(&b, "Nothing stands out. Looked at: ");
    for (size_t i = 0; i < n_rules; i++)
        buf_printf(&b, "%s%s", i ? "; " : "", rules[i].looks_at);
    buf_putc(&b, '.');
    page_wrapped(p, STYLE_PLAIN, "", buf_str(&b), 0);
    buf_fini(&b);
}

static void print_findings(const struct page *p)
{
    static const enum page_style styles[] = {STYLE_PLAIN, STYLE_WARNING, STYLE_PROBLEM};
    if (p->r->group == EVERY_CLASS)
        print_sum(p);
    int number = 0;
    if (!p->r->a->has_orders)
        page_wrapped(p, STYLE_FAINT, "",
                     "Not looked at: orders of locks, in so many waits and without holds; --orders "
                     "does.",
                     0);
    if (p->r->n_findings == 0 && p->r->group == EVERY_CLASS)
        print_nothing(p);
    for (size_t i = 0; i < p->r->n_findings; i++) {
        const struct rule_finding *f = &p->r->findings[i];
        char first[16], text[2 * FINDING_TEXT];
        if (strcmp(f->rule, "events-lost") == 0)
            continue; /* heads the report already */
        snprintf(first, sizeof first, "%2d. ", ++number);
        printable_text(f->text, p->utf8, text, sizeof text);
        page_wrapped(p, p->color ? styles[f->severity] : STYLE_PLAIN, first, text, 4);
    }
}

/* --- the page --------------------------------------------------------------------------------- */

static bool wants_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) &&
           !(term && strcmp(term, "dumb") == 0);
}

int report_text(const struct report *r, struct err *err)
{
    setlocale(LC_CTYPE, "");
    bool begun = false;
    const struct page page = {.r = r,
                              .to = stdout,
                              .color = wants_color(),
                              .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                              .begun = &begun};
    const struct page *p = &page;
    print_warnings(p);
    if (r->sections & REPORT_FINDINGS) {
        print_head(p);
        fputc('\n', p->to);
        print_findings(p);
    }
    if (r->sections & REPORT_DEADLOCKS)
        page_deadlocks(p);
    if (r->sections & REPORT_ORDERS)
        page_orders(p);
    if (r->sections & REPORT_PATH)
        page_path(p);
    if (r->sections & REPORT_THREADS)
        page_threads(p);
    if (r->sections & REPORT_MONITORS)
        page_monitors(p);
    if (r->sections & REPORT_QUEUES)
        page_queues(p);
    if (r->sections & REPORT_SITES)
        page_sites(p);
    if (r->sections & REPORT_OWNERS)
        page_owners(p);
    if (r->sections & REPORT_CALLS)
        page_calls(p);
    if (r->sections & REPORT_HOT)
        page_hot(p);
    if (r->sections & REPORT_GC)
        page_gc(p);
    if (r->sections & REPORT_ALLOC)
        page_allocs(p);
    if (r->sections & REPORT_INTERACTIONS)
        page_interactions(p);
    if (r->sections & REPORT_BOTTLES)
        page_bottles(p);
    if (r->sections & REPORT_POOLS)
        page_pools(p);
    if (r->sections & REPORT_FINDINGS) {
        fputc('\n', p->to);
        page_line(p, STYLE_FAINT, SPINNING);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0
                                                  : err_set(err, -EIO, "cannot write to stdout");
}
