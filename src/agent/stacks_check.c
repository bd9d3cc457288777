#include "agent/stacks_check.h"

#ifdef ORCA_DEBUG

#include "agent/methods.h"
#include "agent/natives.h"
#include "agent/stacks.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 20, AROUND = 3 };

static bool on, spoil;

/* older: the walk has an older version of a redefined method, which JVMTI calls by the id of the
 * newest. */
static struct {
    _Atomic uint64_t compared, frames, older, ids, different, shown, trails, trails_different;
} sums;

void stacks_check_start(void)
{
    const char *wanted = getenv("ORCA_CHECK_STACKS");
    spoil = wanted && strcmp(wanted, "wrong") == 0;
    on = wanted && !spoil;
}

void stacks_check_spoil(struct walk_frame *walked, uint32_t n)
{
    if (spoil && n > 1)
        walked[1].bci++;
}

bool stacks_checked(void)
{
    return on;
}

void stacks_check_trail(stack_id by_trail, stack_id walked)
{
    atomic_fetch_add(&sums.trails, 1);
    if (by_trail.v == walked.v)
        return;
    atomic_fetch_add(&sums.trails_different, 1);
    if (atomic_fetch_add(&sums.shown, 1) < SHOWN_MAX)
        log_line("stacks differ: %" PRIu32 " by its trail, %" PRIu32 " walked", by_trail.v,
                 walked.v);
}

static void put_method(struct buf *b, const char *whose, uintptr_t method, int32_t bci)
{
    char names[8192];
    struct method_text t;
    if (method && method_describe(agent.walker, method, names, sizeof names, &t) == 0)
        buf_printf(b, "  %s %.*s.%.*s @%" PRId32 "\n", whose, t.class_name_len, t.class_name,
                   t.name_len, t.name, bci);
    else
        buf_printf(b, "  %s %#" PRIxPTR " @%" PRId32 "\n", whose, method, bci);
}

static bool same_frame(const struct walk_frame *f, const jvmtiFrameInfo *theirs)
{
    return f->bci == (int32_t)theirs->location && methods_is_version(theirs->method, f->method);
}

static uint32_t first_different(const struct walk_frame *walked, uint32_t n,
                                const jvmtiFrameInfo *theirs, uint32_t n_theirs)
{
    uint32_t i = 0;
    while (i < n && i < n_theirs && same_frame(&walked[i], &theirs[i]))
        i++;
    return i;
}

void stacks_check_show(const struct walk_frame *walked, uint32_t n, const jvmtiFrameInfo *theirs,
                       jint n_theirs)
{
    struct buf b;
    if (!on || atomic_fetch_add(&sums.shown, 1) >= SHOWN_MAX)
        return;
    uint32_t m = (uint32_t)n_theirs, at = first_different(walked, n, theirs, m);
    buf_init(&b);
    buf_printf(&b, "%" PRIu32 " frames walked, JVMTI has %" PRIu32 ", equal up to %" PRIu32 "\n", n,
               m, at);
    for (uint32_t i = at > AROUND ? at - AROUND : 0; i < at + AROUND; i++) {
        if (i < n)
            put_method(&b, "walked", walked[i].method, walked[i].bci);
        if (i < m)
            put_method(&b, "JVMTI ", natives_method(theirs[i].method), (int32_t)theirs[i].location);
    }
    log_line("stacks differ: %s", buf_str(&b));
    buf_fini(&b);
}

void stacks_check(JNIEnv *jni, const struct stacks_taken *t, stack_id id)
{
    jvmtiFrameInfo theirs[DEPTH_MAX + 1];
    jint got = 0, depth = (jint)agent.settings.depth;
    uint32_t m = 0, older = 0;
    bool same = false;
    if (!on)
        return;
    for (int looks = 0; looks < STACKS_LOOKS && !same; looks++) {
        if ((*agent.jvmti)
                ->GetStackTrace(agent.jvmti, t->myself, t->skip, depth + 1, theirs, &got) !=
            JVMTI_ERROR_NONE)
            return;
        m = (uint32_t)got;
        same = m == t->n + t->cut && first_different(t->walked, t->n, theirs, m) == t->n;
    }
    for (uint32_t i = 0; i < t->n && same; i++)
        older += natives_method(theirs[i].method) != t->walked[i].method;
    atomic_fetch_add(&sums.compared, 1);
    atomic_fetch_add(&sums.frames, t->n);
    atomic_fetch_add(&sums.older, older > 0);
    if (same && (older || stacks_of_frames(jni, theirs, got).v == id.v))
        return;
    atomic_fetch_add(same ? &sums.ids : &sums.different, 1);
    stacks_check_show(t->walked, t->n, theirs, got);
}

void stacks_check_report(void)
{
    struct buf b;
    if (!on)
        return;
    buf_init(&b);
    buf_printf(&b,
               "compared %" PRIu64 ", frames %" PRIu64 ", older versions %" PRIu64
               ", ids differ %" PRIu64 ", stacks differ %" PRIu64 ", followed %" PRIu64
               ", trails differ %" PRIu64,
               atomic_load(&sums.compared), atomic_load(&sums.frames), atomic_load(&sums.older),
               atomic_load(&sums.ids), atomic_load(&sums.different), atomic_load(&sums.trails),
               atomic_load(&sums.trails_different));
    recorder_put_info(agent.rec, "orca.stacks.check", buf_str(&b));
    buf_fini(&b);
}

#endif
