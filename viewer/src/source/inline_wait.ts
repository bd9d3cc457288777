// inline_wait.ts - all about one wait, or about what a thread did at a moment, from the pack.
import { SourceError } from "../source.ts";
import { FLAG, INTERACTIONS, NO_INTERACTION, STATES } from "../types.ts";
import type { Effect, Interaction, Run, Wait, WaitRef } from "../types.ts";
import { UNKNOWN, WAITING, upper } from "./inline_model.ts";
import { chainOf } from "./inline_chain.ts";
import type { Model } from "./inline_model.ts";
import { ioAt, startedBy } from "./inline_marks.ts";
import { classOf, stackOf } from "./inline_pack.ts";

const EFFECTS_MAX = 50;

const FLAG_NAMES: [number, string][] = [
    [FLAG.open, "open"], [FLAG.unknown, "unknown"], [FLAG.timedOut, "timed_out"], [FLAG.reacquired, "reacquired"], [FLAG.timed, "timed"],
    [FLAG.interrupted, "interrupted"], [FLAG.limitUnknown, "limit_unknown"],
];

const refOf = (m: Model, thread: number, k: number): WaitRef => ({ thread, index: k - m.pack.waits.first[thread] });

export function waitOf(m: Model, thread: number, index: number): Wait {
    const w = m.pack.waits;
    const first = w.first[thread], last = w.first[thread + 1];
    if (!(thread > 0 && thread < m.threads))
        throw new SourceError(`There is no thread ${thread}.`);
    if (!(index >= 0 && index < last - first))
        throw new SourceError(`Thread ${thread} has ${last - first} waits: there is no wait ${index}.`);
    const k = first + index, x = w.context[k], c = m.pack.contexts;
    return {
        thread, index, state: STATES[c.state[x]], start: w.start[k], end: w.end[k], flags: FLAG_NAMES.filter(([bit]) => w.flags[k] & bit).map(([, name]) => name),
        timed_out: isTimedOut(m, k), lock: lockOf(m, c.lock[x]), other: c.other[x], stack: stackOf(m.pack, c.stack[x]),
        owner_stack: stackOf(m.pack, m.ownerStack(k)), owner_stack_note: ownerNote(m, k), ended_by: endedBy(m, thread, k),
        before: k > first ? refOf(m, thread, k - 1) : null, after: k + 1 < last ? refOf(m, thread, k + 1) : null,
        chain: chainOf(m, k), cause: causeOf(m, k), ...effectsOf(m, thread, w.end[k], k + 1 < last ? w.start[k + 1] : m.pack.meta.threads.to[thread]),
    };
}

export function lockOf(m: Model, id: number): Wait["lock"] {
    return id ? { id, class: classOf(m.pack, id), hash: m.pack.locks.hash[id] || null } : null;
}

/** The JVM reports a timeout only of Object.wait; other waits had a limit, and no thread woke
 * them. */
function isTimedOut(m: Model, k: number): boolean {
    const flags = m.pack.waits.flags[k], state = m.state(k);
    if (state === WAITING)
        return (flags & FLAG.timedOut) !== 0;
    return (flags & FLAG.timed) !== 0 && !(flags & FLAG.open) && m.pack.waits.waker[k] === 0;
}

function ownerNote(m: Model, k: number): string | null {
    const c = m.pack.contexts, x = m.pack.waits.context[k];
    if (!m.queues(k))
        return null;
    if (c.owner_stack[x])
        return "What the owner executed when this wait began.";
    if (m.ownerStack(k))
        return "the owner was waiting there";
    return "The owner's stack was not recorded (record with ownerstacks=).";
}

function endedBy(m: Model, thread: number, k: number): Wait["ended_by"] {
    const w = m.pack.waits;
    if (!w.waker[k] || w.how[k] === NO_INTERACTION)
        return null;
    const how = INTERACTIONS[w.how[k]] ?? "handoff-lock";
    const stack = how === "last-owner-seen" ? [] : stackOf(m.pack, m.wakeStack(thread, k - w.first[thread]));
    return { thread: w.waker[k], time: Number.isNaN(w.wake[k]) ? w.end[k] : w.wake[k], how, stack, note: stack.length ? null : whyNoStack(how) };
}

function whyNoStack(how: Interaction): string {
    return how === "dead-and-notify-joined" ? "The thread had ended." : how === "handoff-lock" ? "The release was not recorded (needs the event group holds)." : how === "last-owner-seen" ? "Another thread may have owned the lock in between (the event group holds records each release)." : "No stack was recorded.";
}

function causeOf(m: Model, k: number): Wait["cause"] {
    const w = m.pack.waits, thread = w.waker[k];
    if (!thread)
        return null;
    const time = Number.isNaN(w.wake[k]) ? w.end[k] : w.wake[k];
    let before = upper(w.end, time, w.first[thread], w.first[thread + 1]) - 1;
    while (before >= w.first[thread] && m.state(before) === UNKNOWN)
        before--;
    return { thread, time, index: before >= w.first[thread] ? before - w.first[thread] : null };
}

// --- effects ----------------------------------------------------------------------------------------------

/** What a thread did to others from one moment up to another. */
function effectsOf(m: Model, thread: number, from: number, to: number): { effects: Effect[]; n_effects: number } {
    const w = m.pack.waits, a = m.pack.acts, all: Effect[] = [];
    const woken = m.endedBy(thread);
    let low = 0, high = woken.length;
    while (low < high) {
        const mid = (low + high) >>> 1;
        if (w.wake[woken[mid]] < from)
            low = mid + 1;
        else
            high = mid;
    }
    let n = 0;
    for (; low < woken.length && w.wake[woken[low]] <= to; low++) {
        const k = woken[low], t = m.threadOf(k);
        if (t === thread)
            continue;
        n++;
        if (all.length < EFFECTS_MAX)
            all.push({ thread: t, index: k - w.first[t], time: Math.min(w.wake[k], w.end[k]), how: INTERACTIONS[w.how[k]] ?? "handoff-lock" });
    }
    for (const i of m.actsOf(thread))
        if (a.from_time[i] >= from && a.from_time[i] <= to) {
            all.push({ thread: a.to[i], index: null, time: a.from_time[i], how: INTERACTIONS[a.how[i]] ?? "submit" });
            n++;
        }
    all.sort((x, y) => x.time - y.time);
    return { effects: all.slice(0, EFFECTS_MAX), n_effects: n };
}

// --- a moment -----------------------------------------------------------------------------------------------

export function threadAt(m: Model, thread: number, time: number): Wait | Run {
    if (!(thread > 0 && thread < m.threads))
        throw new SourceError(`There is no thread ${thread}.`);
    const w = m.pack.waits, k = m.waitAt(thread, time);
    if (k >= 0)
        return waitOf(m, thread, k - w.first[thread]);
    const t = m.pack.meta.threads, first = w.first[thread], last = w.first[thread + 1];
    const after = upper(w.start, time, first, last), before = after - 1;
    const alive = time >= t.from[thread] && time < t.to[thread];
    const born = time < t.from[thread] ? m.pack.meta.from : alive ? t.from[thread] : t.to[thread];
    const died = time < t.from[thread] ? t.from[thread] : alive ? t.to[thread] : m.pack.meta.to;
    const start = alive && before >= first ? Math.max(w.end[before], born) : born;
    const end = alive && after < last ? Math.min(w.start[after], died) : died;
    return {
        thread, state: alive ? "running" : "not alive", start, end, before: before >= first ? refOf(m, thread, before) : null,
        after: after < last ? refOf(m, thread, after) : null, started_by: alive ? startedBy(m, thread, start) : null, io: alive ? ioAt(m, thread, time) : null, ...(alive ? effectsOf(m, thread, start, end) : { effects: [], n_effects: 0 }),
    };
}
