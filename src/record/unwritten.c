/* unwritten.c - while the file cannot be written, because its disk is full; on the drain thread.
 *
 * Staged events stay there, and what the threads record stays in their rings, until there is space
 * again, which is tried several times a second.  An event that finds its ring full is lost, and
 * counted (LOSS_write): no thread waits, even with full=block.  Then everything that waited is
 * written, and behind it an event that says since when, and how many were lost from when on
 * (EV_unwritten). If the JVM is killed before, the recovery writes that event, from the notes in
 * the region.
 *
 * A disk that is full again and again has one line a minute at most. */
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "record/recorder_parts.h"

#include <stdio.h>
#include <string.h>

#define QUIET_NS (60 * UINT64_C(1000000000))

bool unwritten_passes(int rc)
{
    return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG;
}

void unwritten_begin(struct recorder *rec, const struct err *why, uint64_t now)
{
    struct unwritten *u = &rec->gap;
    struct region_notes *n = region_notes(rec->region.h);
    u->since = now;
    u->said = !u->said_at || now - u->said_at >= QUIET_NS;
    snprintf(u->why, sizeof u->why, "%.120s", why->msg);
    n->lost_before = atomic_load_explicit(&rec->region.h->loss[LOSS_write], memory_order_relaxed);
    atomic_store_explicit(&n->first_lost, 0, memory_order_relaxed);
    /* release: a recovery that sees it sees the rest */
    atomic_store_explicit(&n->unwritten_since, now, memory_order_release);
    atomic_store_explicit(&rec->unwritten, true, memory_order_relaxed);
    if (!u->said)
        return;
    u->said_at = now;
    log_line("%s: %s: events are buffered in memory until there is space; events that do not fit "
             "are lost",
             rec->path, u->why);
}

void unwritten_note_lost(struct recorder *rec)
{
    struct region_notes *n = region_notes(rec->region.h);
    uint64_t none = 0;
    if (!atomic_load_explicit(&n->first_lost, memory_order_relaxed))
        atomic_compare_exchange_strong_explicit(&n->first_lost, &none, clock_mono_ns(),
                                                memory_order_relaxed, memory_order_relaxed);
}

struct event unwritten_event(struct region_header *h, uint64_t now)
{
    struct event e;
    const struct region_notes *n = region_notes(h);
    uint64_t first = atomic_load_explicit(&n->first_lost, memory_order_relaxed);
    memset(&e, 0, sizeof e);
    e.kind = EV_unwritten;
    e.size = event_kinds[EV_unwritten].size;
    e.time = now;
    e.unwritten.since = atomic_load_explicit(&n->unwritten_since, memory_order_relaxed);
    e.unwritten.first_lost = first ? first : now;
    e.unwritten.lost =
        atomic_load_explicit(&h->loss[LOSS_write], memory_order_relaxed) - n->lost_before;
    return e;
}

static void say_end(struct recorder *rec, const struct event *e)
{
    struct unwritten *u = &rec->gap;
    uint64_t lost = e->unwritten.lost;
    if (!u->said)
        return;
    log_line("%s: written again after %s; %s%s", rec->path, human_time(e->time - u->since).text,
             lost ? human_count(lost).text : "nothing was lost",
             lost ? " events were lost until then" : "");
}

/* The event is the last that is written of it: what fails before leaves things as they are. */
int unwritten_end(struct recorder *rec, struct err *err)
{
    struct unwritten *u = &rec->gap;
    struct region_notes *n = region_notes(rec->region.h);
    TRY(drain_all(rec, clock_mono_ns(), err));
    const struct event e = unwritten_event(rec->region.h, clock_mono_ns());
    if (!rec->own_stream)
        rec->own_stream = pool_new_stream(rec);
    TRY(stage_write_unwritten(&rec->writer, n->times + 1, n->ns + e.time - u->since, err));
    TRY(stage_note(&rec->stager, &rec->writer, rec->own_stream, &e, 1, err));
    atomic_store_explicit(&rec->unwritten, false, memory_order_relaxed);
    /* release: after the event is in the file */
    atomic_store_explicit(&n->unwritten_since, 0, memory_order_release);
    rec->result.events++;
    n->times++;
    n->ns += e.time - u->since;
    u->times++;
    u->ns += e.time - u->since;
    say_end(rec, &e);
    return 0;
}

void unwritten_tell(const struct recorder *rec, struct recorder_unwritten *out)
{
    const struct unwritten *u = &rec->gap;
    bool now = recorder_unwritten(rec);
    *out = (struct recorder_unwritten){u->times + now, u->ns, now, ""};
    if (!now)
        return;
    out->ns += clock_mono_ns() - u->since;
    snprintf(out->why, sizeof out->why, "%s", u->why);
}
