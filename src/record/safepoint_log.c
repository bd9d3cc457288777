#include "record/safepoint_log.h"

#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { READ_BYTES = 8192, READS = 128, FREE_BYTES = 1 << 16 };

/* The VM thread may be kept off its processor between a safepoint's end and the stamp; a distance
 * above that is rather a line that is missing. */
enum { LATE_NS = 50000000 };

/* --- a line ----------------------------------------------------------------------------------- */

struct text {
    const char *p, *end;
};

static bool skip(struct text *t, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0)
        return false;
    t->p += n;
    return true;
}

/* At most 18 digits: sums of three cannot overflow. */
static bool number(struct text *t, uint64_t *out)
{
    enum { DIGITS = 18 };
    const char *first = t->p;
    *out = 0;
    for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++)
        if (t->p - first < DIGITS)
            *out = *out * 10 + (uint64_t)(*t->p - '0');
    return t->p > first && t->p - first <= DIGITS;
}

static bool find(struct text *t, const char *word)
{
    const char *at = memmem(t->p, (size_t)(t->end - t->p), word, strlen(word));
    if (at)
        t->p = at + strlen(word);
    return at;
}

/* The number behind ", KEY: ". */
static bool field(struct text t, const char *key, uint64_t *out)
{
    return find(&t, key) && number(&t, out) && skip(&t, " ns");
}

static bool operation(struct text *t, char out[SAFEPOINT_NAME_BYTES])
{
    size_t n = 0;
    for (; t->p < t->end && *t->p != '"'; t->p++)
        if (n + 1 < SAFEPOINT_NAME_BYTES)
            out[n++] = *t->p >= ' ' && *t->p <= '~' ? *t->p : '?';
    out[n] = 0;
    return n && skip(t, "\"");
}

/* "[    12] messages dropped due to async logging" and the like. */
static void count_dropped(struct safepoint_log *log, struct text t)
{
    static const char word[] = " dropped";
    uint64_t n = 0;
    struct text end = t;
    if (!find(&end, word))
        return;
    t.end = end.p - (sizeof word - 1);
    skip(&t, "[");
    number(&t, &n); /* the stamp, not the count */
    for (n = 0; t.p < t.end; t.p++)
        if (*t.p >= '0' && *t.p <= '9' && number(&t, &n))
            break;
    log->dropped += n;
}

static uint64_t end_of(struct safepoint_log *log, uint64_t stamp, uint64_t behind_last)
{
    uint64_t end = log->last ? log->last + behind_last : stamp;
    return end <= stamp && stamp - end <= LATE_NS ? end : stamp;
}

bool safepoint_log_parse(struct safepoint_log *log, const char *line, size_t n,
                         struct safepoint_line *out)
{
    struct text t = {line, line + n};
    uint64_t stamp, since_last = 0, reaching, total;
    bool ok = skip(&t, "[") && number(&t, &stamp) && skip(&t, "ns]");
    while (ok && t.p < t.end && *t.p == ' ')
        t.p++;
    ok = ok && skip(&t, "Safepoint \"") && operation(&t, out->operation) &&
         field(t, ", Time since last: ", &since_last) &&
         field(t, ", Reaching safepoint: ", &reaching) && field(t, ", Total: ", &total) &&
         reaching <= total && total < stamp;
    if (!ok) {
        count_dropped(log, (struct text){line, line + n});
        log->last = 0;
        return false;
    }
    out->until = end_of(log, stamp, since_last + total);
    out->since = out->until - min_u64(total, out->until);
    out->reached = min_u64(out->since + reaching, out->until);
    log->last = out->until;
    return true;
}

/* --- the file --------------------------------------------------------------------------------- */

int safepoint_log_open(struct safepoint_log *log, char *out, size_t max, struct err *err)
{
    struct rlimit most;
    *log = (struct safepoint_log){.fd = -1};
    /* Holes count: the JVM would be sent SIGXFSZ one day. */
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur != RLIM_INFINITY)
        return err_set(err, -EFBIG, "the size of files is limited (ulimit -f)");
    log->fd = memfd_create("orca-safepoints", MFD_CLOEXEC);
    if (log->fd < 0)
        return err_set(err, -errno, "a file in memory: %s", strerror(errno));
    snprintf(out, max, "/proc/self/fd/%d", log->fd);
    if (access(out, W_OK) != 0) {
        int rc = err_set(err, -errno, "%s: %s", out, strerror(errno));
        safepoint_log_close(log);
        return rc;
    }
    return 0;
}

void safepoint_log_close(struct safepoint_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

/* Whole lines; returns how many bytes they are. */
static size_t take_lines(struct safepoint_log *log, const char *text, size_t n,
                         void (*take)(void *ctx, const struct safepoint_line *line), void *ctx)
{
    const char *p = text, *end = text + n, *nl;
    struct safepoint_line line;
    for (; p < end && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1)
        if (safepoint_log_parse(log, p, (size_t)(nl - p), &line))
            take(ctx, &line);
    return (size_t)(p - text);
}

static void give_back(struct safepoint_log *log)
{
    uint64_t whole = log->at / FREE_BYTES * FREE_BYTES;
    if (whole > log->freed && fallocate(log->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                        (off_t)log->freed, (off_t)(whole - log->freed)) == 0)
        log->freed = whole;
}

void safepoint_log_read(struct safepoint_log *log,
                        void (*take)(void *ctx, const struct safepoint_line *line), void *ctx)
{
    char text[READ_BYTES];
    for (int i = 0; i < READS; i++) {
        ssize_t n = pread(log->fd, text, sizeof text, (off_t)log->at);
        if (n <= 0)
            break;
        size_t used = take_lines(log, text, (size_t)n, take, ctx);
        /* A line longer than all of it is none of ours. */
        log->at += used ? used : (size_t)n == sizeof text ? sizeof text : 0;
        if ((size_t)n < sizeof text)
            break;
    }
    give_back(log);
}
