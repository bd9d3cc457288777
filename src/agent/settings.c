#include "agent/settings.h"

#include "base/log.h"
#include "base/util.h"
#include "format/writer.h"
#include "record/recorder.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORTER(id, name) name,
static const char *const format_names[] = {"otrace", EXPORTERS NULL};
#undef EXPORTER
static const char *const full_names[] = {"drop", "block", NULL};
static const char *const ownerstack_names[] = {"auto", "all", "none", NULL}; /* enum ownerstacks */
static const char *const iodetails_names[] = {"full", "hashed", "none", NULL}; /* enum iodetails */
static const char *const cpuclock_names[] = {"auto", "timer", "perf",
                                             NULL}; /* enum sampled_clock */

enum { EVERY_MIN = 1000000000 /* ns */, KEEP_MAX = 100000 };
#define EVERY_MAX (UINT64_C(31536000) * EVERY_MIN)                /* a year */
static const char *const allocby_names[] = {"code", "jvm", NULL}; /* enum allocby */

enum { SAMPLEBYTES_MAX = 1 << 30 /* JVMTI takes an int */ };
enum { SAMPLE_MIN = 100000, SAMPLE_MAX = 1000000000 };

#define AT(field) offsetof(struct settings, field)
static const struct opt rows[] = {
    {"file", 0, OPT_STR, AT(file), "PATH",
     "the trace; %p is the pid, %t the time (default orca-%p.otrace)", NULL, 0, 0},
    {"format", 0, OPT_SET, AT(formats), "FORMAT",
     "what to write, several joined by + (default otrace)", format_names, 0, 0},
    {"fast", 0, OPT_TIME, AT(fast), "TIME",
     "fast contention: leave blocks on a monitor shorter than TIME out of the text "
     "formats (default: none)",
     NULL, 0, 0},
    {"events", 0, OPT_SET, AT(events), "GROUP+...",
     "event groups to record (default: all but virtual, mounts, locks, holds, cpu, wall, sched, "
     "alloc, "
     "sampled-alloc and frees; all: all but alloc and frees)",
     event_group_names, EVENT_GROUPS_NAMED, 0},
    {"contanalysis", 0, OPT_FLAG, AT(contanalysis), "on|off",
     "contention analysis; off: only the monitors, waits and threads that the JVM reports by "
     "itself, without changes to methods of the JDK: no starts, notifies, interrupts, parks, "
     "sleeps, joins, semaphores, locks and holds (default on)",
     NULL, 0, 0},
    {"include", 0, OPT_STR, AT(include), "PATTERN+...",
     "only locks and objects of these classes: java.util.*, shop.Order, byte[] (default all)", NULL,
     0, 0},
    {"exclude", 0, OPT_STR, AT(exclude), "PATTERN+...",
     "no locks and objects of these classes (default none)", NULL, 0, 0},
    {"methods", 0, OPT_STR, AT(methods), "FILE",
     "more methods whose calls are recorded: a table, or CLASS#METHOD+... "
     "(docs/reference/method-tables.md)",
     NULL, 0, 0},
    {"ownerstacks", 0, OPT_CHOICE, AT(ownerstacks), "auto|all|none",
     "what a lock's owner executes when another thread blocks; auto: up to 1 % of the time, and "
     "not for owners in native code (default auto)",
     ownerstack_names, 0, 0},
    {"cpu", 0, OPT_TIME, AT(cpu), "TIME",
     "a sample of each thread's stack per TIME of processor time, at least 100us; turns the group "
     "cpu on (default 10ms)",
     NULL, SAMPLE_MIN, SAMPLE_MAX},
    {"cpuclock", 0, OPT_CHOICE, AT(cpuclock), "auto|timer|perf",
     "what counts processor time: perf events (with the kernel's frames; finer than its tick), or "
     "timers where those are not allowed (default auto)",
     cpuclock_names, 0, 0},
    {"wall", 0, OPT_TIME, AT(wall), "TIME",
     "a sample of each thread's stack every TIME, running or not, at least 100us; turns the group "
     "wall on (default 20ms)",
     NULL, SAMPLE_MIN, SAMPLE_MAX},
    {"time", 0, OPT_FLAG, AT(time), "on|off",
     "when threads were on a processor, and when they waited for one; on turns the group sched on "
     "(docs/concepts/processor.md; default off)",
     NULL, 0, 0},
    {"io", 0, OPT_TIME, AT(io), "TIME",
     "record calls of input and output that take at least TIME, and 1 ns for each 4 bytes that "
     "they "
     "move (default 10us)",
     NULL, 0, 0},
    {"iodetails", 0, OPT_CHOICE, AT(iodetails), "full|hashed|none",
     "the other end of input and output: addresses, host names and paths as they are, a number in "
     "place of each, or nothing (default full)",
     iodetails_names, 0, 0},
    {"samplebytes", 0, OPT_SIZE, AT(samplebytes), "SIZE",
     "sample one object for each SIZE bytes of allocation; turns the group sampled-alloc on "
     "(default 512k)",
     NULL, 1, SAMPLEBYTES_MAX},
    {"allocby", 0, OPT_CHOICE, AT(allocby), "code|jvm",
     "group alloc: count objects by calls added to the program's code, or by the JVM, which is "
     "slower per object and changes no code (default code)",
     allocby_names, 0, 0},
    {"allocstacks", 0, OPT_FLAG, AT(allocstacks), "on|off",
     "group alloc: record where objects are allocated, or only how many (default on)", NULL, 0, 0},
    {"holdsample", 0, OPT_UINT, AT(holdsample), "N",
     "group holds: record one of N holds (default 1: each)", NULL, 1, HOLDSAMPLE_MAX},
    {"depth", 0, OPT_UINT, AT(depth), "N", "frames of a stack at most, up to 1024 (default 256)",
     NULL, 0, 0},
    {"ring", 0, OPT_SIZE, AT(ring), "SIZE",
     "a thread's ring at most; rings start at 2k and grow (default 8m)", NULL, RING_SIZE_MIN,
     1u << 30},
    {"ringmem", 0, OPT_SIZE, AT(ringmem), "SIZE", "all rings together at most (default 64m)", NULL,
     1 << 20, (uint64_t)64 << 30},
    {"ringdir", 0, OPT_STR, AT(ringdir), "DIR",
     "where the rings live (default /dev/shm, else beside the trace)", NULL, 0, 0},
    {"full", 0, OPT_CHOICE, AT(full), "drop|block",
     "when a ring is full: drop events and count them, or make the thread wait (default drop)",
     full_names, 0, 0},
    {"cost", 0, OPT_STR, AT(cost_text), "PERCENT|off",
     "while recording takes more than this share of the processors' time, record parks and blocks "
     "on monitors below 1 ms, or up to 16 ms, as sums by site; off: record each (default 5%; off "
     "with other formats, methods=, every=, keep= and maxsize=)",
     NULL, 0, 0},
    {"maxsize", 0, OPT_SIZE, AT(maxsize), "SIZE",
     "keep the newest part in a file of this size, at least 4m (default no limit)", NULL,
     WRITER_CAPACITY_MIN, 0},
    {"duration", 0, OPT_TIME, AT(duration), "TIME",
     "stop recording after this time (default never)", NULL, 0, 0},
    {"every", 0, OPT_TIME, AT(every), "TIME",
     "continue in a new file after each TIME, at least 1s (default never)", NULL, EVERY_MIN,
     EVERY_MAX},
    {"keep", 0, OPT_UINT, AT(keep), "N",
     "keep the newest N files of this recording, the one being written included; at least 2 "
     "(default all)",
     NULL, 2, KEEP_MAX},
    {"control", 0, OPT_FLAG, AT(control), "on|off",
     "a socket through which orca status, dump and detach reach this JVM (default on)", NULL, 0, 0},
    {"arguments", 0, OPT_FLAG, AT(arguments), "on|off",
     "record the program's arguments in addition to its main class or jar; they may contain passwords "
     "(default off)",
     NULL, 0, 0},
    {"quiet", 0, OPT_FLAG, AT(quiet), NULL, "print no line at the end (default off)", NULL, 0, 0},
    {"session", 0, OPT_STR, AT(session), "FILE", NULL, NULL, 0, 0},    /* orca record's own */
    {"costflip", 0, OPT_FLAG, AT(costflip), NULL, NULL, NULL, 0, 0},   /* the tests' */
    {"costlight", 0, OPT_FLAG, AT(costlight), NULL, NULL, NULL, 0, 0}, /* the tests' */
};
const struct opt_table settings_table = OPT_TABLE(rows);

static const enum event_group instrumented[] = {GROUP_parks,      GROUP_sleeps,     GROUP_joins,
                                                GROUP_interrupts, GROUP_semaphores, GROUP_locks,
                                                GROUP_holds};

static bool is_left_out(const struct settings *s, enum event_group g)
{
    static const enum event_group rewriting[] = {GROUP_methods, GROUP_alloc, GROUP_frees};
    for (size_t i = 0; i < ARRAY_LEN(instrumented) && !s->contanalysis; i++)
        if (g == instrumented[i])
            return true;
    for (size_t i = 0; i < ARRAY_LEN(rewriting) && s->archive; i++)
        if (g == rewriting[i])
            return true;
    return false;
}

void settings_complete_groups(const struct settings *s, bool groups[GROUP_LIMIT])
{
    for (int g = 1; g < GROUP_LIMIT; g++)
        groups[g] = groups[g] && !is_left_out(s, (enum event_group)g);
    if (groups[GROUP_holds]) /* a wait does not belong to the hold around it */
        groups[GROUP_waits] = true;
}

bool settings_put_left_out(const struct settings *s, const bool groups[GROUP_LIMIT], struct buf *to)
{
    size_t n = 0, i = 0;
    for (int g = 1; g < GROUP_LIMIT; g++)
        n += groups[g] && is_left_out(s, (enum event_group)g);
    if (!n)
        return false;
    if (s->archive)
        buf_printf(
            to, "-XX:%s archives this JVM's classes, so Orca changes none of them: ", s->archive);
    else
        buf_puts(to, "contanalysis=off: ");
    for (int g = 1; g < GROUP_LIMIT; g++)
        if (groups[g] && is_left_out(s, (enum event_group)g))
            buf_printf(to, "%s%s",
                       i == 0      ? ""
                       : i + 1 < n ? ", "
                                   : " and ",
                       event_groups[g].name),
                i++;
    buf_puts(to, n == 1 ? " is left out" : " are left out");
    return true;
}

static void apply_groups(struct settings *s)
{
    s->groups[GROUP_meta] = true;
    for (size_t i = 0; i + 1 < GROUP_LIMIT; i++)
        s->groups[i + 1] = s->events >> i & 1;
    if (s->methods) /* who names some wants them, whatever else events= says */
        s->groups[GROUP_methods] = true;
    s->groups[GROUP_cpu] |= s->cpu != 0;
    s->groups[GROUP_wall] |= s->wall != 0;
    s->groups[GROUP_sched] |= s->time;
    s->groups[GROUP_sampled_alloc] |= s->samplebytes != 0;
    memcpy(s->asked, s->groups, sizeof s->asked);
    settings_complete_groups(s, s->groups);
}

static uint64_t default_events(void)
{
    uint64_t bits = 0;
    for (size_t i = 0; i + 1 < GROUP_LIMIT; i++)
        bits |= (uint64_t)event_groups[i + 1].on << i;
    return bits;
}

void settings_leave_classes(struct settings *s, const char *option)
{
    s->archive = option;
    s->contanalysis = false;
    settings_complete_groups(s, s->groups);
}

/* --- what would have no effect ---------------------------------------------------------------- */

static bool is_set_of_all(uint64_t events)
{
    static const uint64_t all = ((UINT64_C(1) << (GROUP_LIMIT - 1)) - 1) & ~EVENT_GROUPS_NAMED;
    return (events & all) == all || events == default_events();
}

/* A group that was named, while contanalysis=off keeps it out. */
static int check_contanalysis(const struct settings *s, struct err *err)
{
    if (s->contanalysis || is_set_of_all(s->events))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(instrumented); i++)
        if (s->events >> (instrumented[i] - 1) & 1)
            return err_set(err, -EINVAL,
                           "contanalysis=off leaves out the group %s, which events= names: leave "
                           "out one of the two",
                           event_groups[instrumented[i]].name);
    return 0;
}

int settings_check_groups(const bool groups[GROUP_LIMIT], struct err *err)
{
    if (groups[GROUP_frees] && !groups[GROUP_alloc])
        return err_set(err, -EINVAL,
                       "the group frees is about the objects of the group alloc: alloc+frees");
    return 0;
}

/* Options of a group that is not recorded. */
static int check_options(const struct settings *s, struct err *err)
{
    const struct {
        const char *option;
        bool is_set;
        enum event_group group;
    } of[] = {{"allocby", s->allocby != ALLOCBY_CODE, GROUP_alloc},
              {"allocstacks", !s->allocstacks, GROUP_alloc},
              {"holdsample", s->holdsample != 1, GROUP_holds},
              {"cpuclock", s->cpuclock != 0, GROUP_cpu},
              {"io", s->io != IO_DEFAULT_NS, GROUP_io},
              {"iodetails", s->iodetails != IODETAILS_FULL, GROUP_io}};
    for (size_t i = 0; i < ARRAY_LEN(of); i++)
        if (of[i].is_set && !s->groups[of[i].group])
            return err_set(err, -EINVAL,
                           "%s= belongs to the group %s, which is not recorded: name %s in "
                           "events=, or leave %s= out",
                           of[i].option, event_groups[of[i].group].name,
                           event_groups[of[i].group].name, of[i].option);
    return 0;
}

/* All files of a recording have one prefix. */
static int check_formats(uint64_t formats, struct err *err)
{
#define EXPORTER(id, name) ", " name
    if (!formats)
        return err_set(err, -EINVAL, "format=none would record nothing: name otrace" EXPORTERS);
#undef EXPORTER
    for (size_t a = 0; exporters[a]; a++)
        for (size_t b = a + 1; exporters[b]; b++) {
            const char *suffix = exporter_clash(exporters[a], exporters[b]);
            if (suffix && (formats & FORMAT_OF(a)) && (formats & FORMAT_OF(b)))
                return err_set(err, -EINVAL,
                               "format=%s+%s: both write a %s file; record one, and make the "
                               "other with orca export",
                               exporters[a]->name, exporters[b]->name, suffix);
        }
    return 0;
}

/* A request for whole stacks gives the largest depth there is. */
static void limit_depth(struct settings *s)
{
    if (s->depth <= DEPTH_MAX)
        return;
    log_line("depth=%" PRIu64 ": stacks have %d frames at most; deeper ones are truncated",
             s->depth, DEPTH_MAX);
    s->depth = DEPTH_MAX;
}

/* A percentage, with or without its sign. */
static int check_cost(struct settings *s, struct err *err)
{
    enum { UNIT = 1000, USUAL = 5 * UNIT };
    char *end = NULL;
    bool all = settings_has_texts(s) || s->methods || s->every || s->keep || s->maxsize;
    s->cost = s->cost_text || all ? COST_OFF : USUAL;
    if (!s->cost_text || strcmp(s->cost_text, "off") == 0)
        return 0;
    double percent = strtod(s->cost_text, &end);
    end += *end == '%';
    if (end == s->cost_text || *end || !(percent >= 0 && percent <= 100))
        return err_set(err, -EINVAL,
                       "cost=%s: it takes a percentage from 0 to 100, such as 5%%, or off",
                       s->cost_text);
    if (all)
        return err_set(err, -EINVAL,
                       "cost= leaves out single waits: use it with one file, format=otrace, and "
                       "without methods=, every=, keep= and maxsize=");
    s->cost = (uint64_t)(percent * UNIT);
    return 0;
}

/* The text formats are made at the end, from one trace. */
static int check_files(const struct settings *s, struct err *err)
{
    if ((s->every || s->keep) && settings_has_texts(s))
        return err_set(err, -EINVAL,
                       "%s= goes with format=otrace only: record the trace, and make the other "
                       "formats from its files with orca export",
                       s->every ? "every" : "keep");
    if (s->fast && !settings_has_texts(s))
        return err_set(err, -EINVAL,
                       "fast= applies to text formats: the trace has every block; orca export "
                       "--fast leaves out the short ones later");
    return 0;
}

bool settings_has_texts(const struct settings *s)
{
    return s->formats & ~(uint64_t)FORMAT_OTRACE;
}

/* The 2014 Orca back-end manual: a first item that is neither a key nor has a value is the prefix
 * of three text files.  Returns the options behind it. */
static char *take_prefix(struct settings *s)
{
    size_t n = strcspn(s->text, "=,");
    if (!n || s->text[n] == '=' || opt_find(settings_table, s->text, n))
        return s->text;
    char *rest = opt_cut_item(s->text);
    s->file = s->text;
    s->is_prefix = true;
    return rest;
}

static int parse_text(struct settings *s, bool spec2, struct err *err)
{
    char *options = take_prefix(s);
    const char *prefix = s->file;
    if (spec2 || prefix)
        s->formats = FORMAT_ORCA;
    TRY(opt_parse_keys(settings_table, options, s, err));
    if (prefix && s->file != prefix)
        return err_set(err, -EINVAL, "%s,file=%s: two names; leave one out", prefix, s->file);
    if (spec2 && !s->file) {
        s->file = "orca";
        s->is_prefix = true;
    }
    return 0;
}

int settings_parse(struct settings *s, const char *options, bool spec2, struct err *err)
{
    *s = (struct settings){.formats = FORMAT_OTRACE,
                           .events = default_events(),
                           .depth = 256,
                           .holdsample = 1,
                           .io = IO_DEFAULT_NS,
                           .contanalysis = true,
                           .allocstacks = true,
                           .control = true};
    s->text = strdup(options ? options : "");
    if (!s->text)
        return err_set(err, -ENOMEM, "out of memory");
    TRY(parse_text(s, spec2, err));
    if (!s->file)
        s->file = s->formats & FORMAT_OTRACE ? "orca-%p.otrace" : "orca-%p";
    TRY(check_formats(s->formats, err));
    TRY(check_files(s, err));
    TRY(check_cost(s, err));
    limit_depth(s);
    apply_groups(s);
    TRY(check_contanalysis(s, err));
    TRY(settings_check_groups(s->groups, err));
    return check_options(s, err);
}

/* --- class patterns --------------------------------------------------------------------------- */

/* For fnmatch: the brackets of an array are not a set of characters.  False: too long for any
 * name. */
static bool pattern_of(const char *p, size_t n, char *out, size_t max)
{
    size_t len = 0;
    for (size_t i = 0; i < n && len + 2 < max; i++) {
        if (p[i] == '[')
            out[len++] = '\\';
        out[len++] = p[i];
    }
    out[len] = 0;
    return n + 2 < max && len + 2 < max;
}

/* Whether one of the patterns, joined by '+', matches a class name with dots. */
static bool matches(const char *patterns, const char *name)
{
    char one[512];
    while (patterns && *patterns) {
        size_t n = strcspn(patterns, "+");
        if (pattern_of(patterns, n, one, sizeof one) && fnmatch(one, name, 0) == 0)
            return true;
        patterns += n + (patterns[n] == '+');
    }
    return false;
}

/* As in Java's source: byte[], shop.Order. */
static void class_name_of(const char *signature, char *out, size_t max)
{
    static const char *const types[] = {"Zboolean", "Bbyte", "Cchar",  "Sshort",
                                        "Iint",     "Jlong", "Ffloat", "Ddouble"};
    size_t dims = strspn(signature, "["), n = 0, brackets = 2 * dims + 1;
    const char *p = signature + dims;
    for (size_t i = 0; dims && i < ARRAY_LEN(types); i++)
        if (*p == types[i][0]) {
            p = types[i] + 1;
            break;
        }
    for (p += *p == 'L'; *p && *p != ';' && n + brackets < max; p++)
        out[n++] = (char)(*p == '/' ? '.' : *p);
    for (; dims && n + 3 <= max; dims--) {
        out[n++] = '[';
        out[n++] = ']';
    }
    out[n] = 0;
}

bool settings_wants_class(const struct settings *s, const char *signature)
{
    if (!s->include && !s->exclude)
        return true;
    char name[1024];
    class_name_of(signature, name, sizeof name);
    if (s->include && !matches(s->include, name))
        return false;
    return !matches(s->exclude, name);
}

/* --- the file name ---------------------------------------------------------------------------- */

static void put_expanded(struct buf *b, const char *file)
{
    time_t now = time(NULL);
    struct tm tm;
    char stamp[32] = "";
    if (localtime_r(&now, &tm))
        strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
    for (const char *p = file; *p; p++) {
        if (p[0] == '%' && p[1] == 'p')
            buf_printf(b, "%d", (int)getpid());
        else if (p[0] == '%' && p[1] == 't')
            buf_puts(b, stamp);
        else if (p[0] == '%' && p[1] == '%')
            buf_putc(b, '%');
        else {
            buf_putc(b, *p);
            continue;
        }
        p++;
    }
}

bool settings_names_time(const struct settings *s)
{
    for (const char *p = s->file; *p; p++)
        if (p[0] == '%' && p[1] && *++p == 't')
            return true;
    return false;
}

static bool cut_end(struct buf *b, const char *end)
{
    size_t n = strlen(end);
    bool is = b->len > n && memcmp(b->p + b->len - n, end, n) == 0;
    b->len -= is ? n : 0;
    return is;
}

/* file=app.trcxml with format=tptp means the prefix "app"; so does file=app.otrace. */
static void cut_suffix(const struct settings *s, struct buf *b)
{
    if (cut_end(b, ".otrace"))
        return;
    for (size_t i = 0; exporters[i]; i++)
        if ((s->formats & FORMAT_OF(i)) && cut_end(b, exporters[i]->suffixes[0]))
            return;
}

int settings_path(const struct settings *s, char *out, size_t n, struct err *err)
{
    struct buf b;
    char cwd[PATH_MAX];
    buf_init(&b);
    if (s->file[0] != '/' && getcwd(cwd, sizeof cwd))
        buf_printf(&b, "%s/", strcmp(cwd, "/") == 0 ? "" : cwd);
    put_expanded(&b, s->file);
    if (!(s->formats & FORMAT_OTRACE)) /* the prefix of text files: the trace is beside them */
        cut_suffix(s, &b);
    if (s->is_prefix || !(s->formats & FORMAT_OTRACE))
        buf_puts(&b, ".otrace");
    int rc = 0;
    if (b.oom)
        rc = err_set(err, -ENOMEM, "out of memory");
    else if (b.len >= n)
        rc = err_set(err, -ENAMETOOLONG, "file= is too long a path: %zu bytes, at most %zu", b.len,
                     n - 1);
    else
        memcpy(out, buf_str(&b), b.len + 1);
    buf_fini(&b);
    return rc;
}
