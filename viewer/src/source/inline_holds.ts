// inline_holds.ts - who is known to have held a lock of which no hold is recorded: src/analyze/lock_holds.c over a pack.
//
// Evidence are moments at which a thread is known to own it: another one began to wait and saw so, it got it
// after a wait, it gave it back to who had waited, or began to wait on it.  A hold is concluded from one of
// them to the next, when both are of one thread, it did not give the lock back at the first, and somebody
// was in the queue all the time.
import { FLAG, isHandoff } from "../types.ts";
import { BLOCKED, REACQUIRING, WAITING, lower } from "./inline_model.ts";
import type { Model } from "./inline_model.ts";
import { covers } from "./inline_lock.ts";
import type { LockHistory, Recorded } from "./inline_lock.ts";
import { orderOf } from "./inline_order.ts";

const GAVE_BACK = 0, GOT_IT = 1, WAS_SEEN = 2; // in the order in which those of one time are weighed


interface Evidence { time: number[]; thread: number[]; kind: number[] }

function add(e: Evidence, time: number, thread: number, kind: number): void {
    if (!thread)
        return;
    e.time.push(time);
    e.thread.push(thread);
    e.kind.push(kind);
}

/** When an owner gave a monitor back that somebody got at `time` after waiting since `since`: before it waited itself, and before its end; 0: not then. */
function releasedAt(m: Model, owner: number, since: number, time: number): number {
    const w = m.pack.waits;
    time = Math.min(time, m.pack.meta.threads.to[owner]);
    let k = lower(w.start, time, w.first[owner], w.first[owner + 1]) - 1;
    while (k >= w.first[owner] && w.start[k] === w.end[k])
        k--;
    if (k >= w.first[owner] && w.end[k] > time)
        time = w.start[k];
    return time > since ? time : -Infinity;
}

/** A monitor was got: who had it before gave it back, where that is known, then it is its own. */
function weighMonitor(h: LockHistory, e: Evidence, i: number): void {
    const m = h.model, s = h.items, w = m.pack.waits, k = s.wait[i], again = m.state(k) === WAITING;
    const r = m.pack.regains, of = again ? m.regain(k) : -1, wake = again ? r.wake[of] : w.wake[k];
    const by = of >= 0 ? r.owner[of] : again ? 0 : w.waker[k];
    if (by && by !== s.thread[i]) {
        const unknown = isHandoff(again ? r.how[of] : w.how[k]) && wake === w.end[k];
        const time = unknown ? releasedAt(m, by, s.from[i], s.to[i]) : wake;
        if (time > s.from[i] && time <= s.to[i])
            add(e, time, by, GAVE_BACK);
    }
    const next = k + 1;
    const own = next >= w.first[s.thread[i] + 1] || w.start[next] > s.to[i] || m.state(next) !== REACQUIRING;
    if (!again || own)
        add(e, s.to[i], s.thread[i], GOT_IT);
}

function weigh(h: LockHistory, e: Evidence, i: number): void {
    const m = h.model, s = h.items, w = m.pack.waits, k = s.wait[i], state = s.state[i], seen = m.pack.contexts.other[w.context[k]];
    if (s.flags[i] & (FLAG.unknown | FLAG.reacquired))
        return;
    if (s.queued[i] && state !== REACQUIRING)
        add(e, s.from[i], seen, WAS_SEEN);
    if (state === REACQUIRING && m.state(k) === WAITING)
        add(e, s.from[i], w.waker[k], WAS_SEEN); // it notified
    if (state === WAITING)
        add(e, s.from[i], s.thread[i], GAVE_BACK);
    if (s.queued[i] && s.flags[i] & FLAG.open)
        add(e, s.to[i], ownerAtEnd(m, s.thread[i]) || seen, WAS_SEEN);
    else if (state === BLOCKED || state === REACQUIRING)
        weighMonitor(h, e, i);
    else if (s.queued[i] && w.waker[k] && w.waker[k] === seen && w.wake[k] > s.from[i])
        add(e, Math.min(w.wake[k], s.to[i]), w.waker[k], GAVE_BACK);
}

/** Whom a thread of a deadlock waits for; 0: not known. */
function ownerAtEnd(m: Model, thread: number): number {
    const t = m.pack.meta.threads, id = t.id[thread];
    for (const d of m.pack.meta.deadlocks)
        for (const x of [...d.members, ...d.behind])
            if (x.thread === id && x.on !== null)
                return Math.max(t.id.indexOf(x.on), 0);
    return 0;
}

function ordered(e: Evidence): number[] {
    const list = [...orderOf(Float64Array.from(e.time))];
    const before = (a: number, b: number) => (e.time[a] !== e.time[b] ? e.time[a] < e.time[b] : e.kind[a] !== e.kind[b] ? e.kind[a] < e.kind[b] : e.thread[a] < e.thread[b]);
    for (let i = 1; i < list.length; i++)
        for (let k = i; k > 0 && before(list[k], list[k - 1]); k--)
            [list[k], list[k - 1]] = [list[k - 1], list[k]];
    return list;
}

export function conclude(h: LockHistory, recorded: Recorded, put: (from: number, to: number, owner: number) => void): void {
    const e: Evidence = { time: [], thread: [], kind: [] };
    for (let i = 0; i < h.items.n; i++)
        weigh(h, e, i);
    const list = ordered(e), busy = h.busy();
    let from = 0, to = -Infinity, owner = 0, at = 0;
    for (let i = 1; i < list.length; i++) {
        const p = list[i - 1], q = list[i];
        if (e.thread[p] !== e.thread[q] || e.kind[p] === GAVE_BACK || e.time[p] === e.time[q] || !covers(busy, e.time[p], e.time[q]))
            continue;
        while (at < recorded.to.length && recorded.to[at] <= e.time[p])
            at++;
        if (at < recorded.from.length && recorded.from[at] < e.time[q])
            continue;
        if (to === e.time[p] && owner === e.thread[p]) {
            to = e.time[q];
            continue;
        }
        if (owner)
            put(from, to, owner);
        [from, to, owner] = [e.time[p], e.time[q], e.thread[p]];
    }
    if (owner)
        put(from, to, owner);
}
