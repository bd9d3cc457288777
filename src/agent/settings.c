#include "agent/settings.h"

#include "base/util.h"
#include "format/writer.h"
#include "record/recorder.h"

#include <fnmatch.h>
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

#define AT(field) offsetof(struct settings, field)
static const struct opt rows[] = {
    {"file", 0, OPT_STR, AT(file), "PATH",
     "the trace; %p is the pid, %t the time (default orca-%p.otrace)", NULL, 0, 0},
    {"format", 0, OPT_SET, AT(formats), "FORMAT",
     "what to write, several joined by + (default otrace)", format_names, 0, 0},
    {"events", 0, OPT_SET, AT(events), "GROUP+...",
     "event groups to record (default: all but virtual, mounts and locks)", event_group_names, 0,
     0},
    {"contanalysis", 0, OPT_FLAG, AT(contanalysis), "on|off",
     "contention analysis: off leaves out monitors and waits (default on)", NULL, 0, 0},
    {"include", 0, OPT_STR, AT(include), "PATTERN+...",
     "only locks of these classes: java.util.*, shop.Order (default all)", NULL, 0, 0},
    {"exclude", 0, OPT_STR, AT(exclude), "PATTERN+...", "no locks of these classes (default none)",
     NULL, 0, 0},
    {"depth", 0, OPT_UINT, AT(depth), "N", "frames of a stack at most, 0 to 1024 (default 256)",
     NULL, 0, DEPTH_MAX},
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
    {"maxsize", 0, OPT_SIZE, AT(maxsize), "SIZE",
     "keep the newest part in a file of this size, at least 4m (default no limit)", NULL,
     WRITER_CAPACITY_MIN, 0},
    {"duration", 0, OPT_TIME, AT(duration), "TIME",
     "stop recording after this time (default never)", NULL, 0, 0},
    {"quiet", 0, OPT_FLAG, AT(quiet), NULL, "no line at the end (default off)", NULL, 0, 0},
    {"session", 0, OPT_STR, AT(session), "FILE", NULL, NULL, 0, 0}, /* orca record's own */
};
const struct opt_table settings_table = OPT_TABLE(rows);

static void apply_groups(struct settings *s)
{
    s->groups[GROUP_meta] = true;
    for (size_t i = 0; i + 1 < GROUP_LIMIT; i++)
        s->groups[i + 1] = s->events >> i & 1;
    if (!s->contanalysis)
        s->groups[GROUP_monitors] = s->groups[GROUP_waits] = false;
}

static uint64_t default_events(void)
{
    uint64_t bits = 0;
    for (size_t i = 0; i + 1 < GROUP_LIMIT; i++)
        bits |= (uint64_t)event_groups[i + 1].on << i;
    return bits;
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

int settings_parse(struct settings *s, const char *options, bool spec2, struct err *err)
{
    *s = (struct settings){
        .formats = FORMAT_OTRACE, .events = default_events(), .depth = 256, .contanalysis = true};
    bool empty = !options || !*options;
    s->text = strdup(empty ? "" : options);
    if (!s->text)
        return err_set(err, -ENOMEM, "out of memory");
    bool flag_alone = !empty && opt_find(settings_table, options, strlen(options)) != NULL;
    if (spec2 && empty) {
        s->file = "orca";
        s->formats = FORMAT_ORCA;
    } else if (!empty && !strchr(options, '=') && !strchr(options, ',') && !flag_alone) {
        s->file = s->text; /* spec 2: the word is the prefix of three text files */
        s->formats = FORMAT_ORCA;
    } else if (opt_parse_keys(settings_table, s->text, s, err) < 0) {
        return -EINVAL;
    }
    if (!s->file || !*s->file)
        s->file = spec2 ? "orca" : s->formats & FORMAT_OTRACE ? "orca-%p.otrace" : "orca-%p";
    TRY(check_formats(s->formats, err));
    apply_groups(s);
    return 0;
}

/* --- class patterns -----------------------------------------------------------------------------
 */

/* Whether one of the patterns, joined by '+', matches a class name with dots. */
static bool matches(const char *patterns, const char *name)
{
    char one[512];
    while (patterns && *patterns) {
        size_t n = strcspn(patterns, "+");
        if (n < sizeof one) {
            memcpy(one, patterns, n);
            one[n] = 0;
            if (fnmatch(one, name, 0) == 0)
                return true;
        }
        patterns += n + (patterns[n] == '+');
    }
    return false;
}

bool settings_wants_class(const struct settings *s, const char *signature)
{
    if (!s->include && !s->exclude)
        return true;
    char name[1024];
    size_t n = 0;
    const char *p = signature + (*signature == 'L');
    for (; *p && *p != ';' && n + 1 < sizeof name; p++)
        name[n++] = (char)(*p == '/' ? '.' : *p);
    name[n] = 0;
    if (s->include && !matches(s->include, name))
        return false;
    return !matches(s->exclude, name);
}

/* --- the file name ------------------------------------------------------------------------------
 */

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

/* file=app.trcxml with format=tptp means the prefix "app". */
static void cut_suffix(const struct settings *s, struct buf *b)
{
    for (size_t i = 0; exporters[i]; i++) {
        size_t n = strlen(exporters[i]->suffixes[0]);
        if ((s->formats & FORMAT_OF(i)) && b->len > n &&
            memcmp(b->p + b->len - n, exporters[i]->suffixes[0], n) == 0) {
            b->len -= n;
            return;
        }
    }
}

int settings_path(const struct settings *s, char *out, size_t n, struct err *err)
{
    struct buf b;
    char cwd[PATH_MAX];
    buf_init(&b);
    if (s->file[0] != '/' && getcwd(cwd, sizeof cwd))
        buf_printf(&b, "%s/", strcmp(cwd, "/") == 0 ? "" : cwd);
    put_expanded(&b, s->file);
    if (!(s->formats & FORMAT_OTRACE)) { /* the prefix of text files: the trace is beside them */
        cut_suffix(s, &b);
        buf_puts(&b, ".otrace");
    }
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
