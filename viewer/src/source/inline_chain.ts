// inline_chain.ts - the thread that a wait waited for, and the one that this thread waited for in that time: src/view/chain.c over a pack.
import { duration } from "../format.ts";
import { FLAG, INTERACTIONS, STATES } from "../types.ts";
import type { Link } from "../types.ts";
import { BLOCKED, JOINING, PARKED, REACQUIRING, SLEEPING, UNKNOWN, upper } from "./inline_model.ts";
import type { Model } from "./inline_model.ts";
import { classOf, placeOf } from "./inline_pack.ts";

const CHAIN_MAX = 32;

/** A wait, or the part of it that is asked about. */
interface Part { k: number; thread: number; from: number; to: number }
/** Who held a part up; woke: it ended the wait, else it is seen to own what the wait is for. */
interface Holder { thread: number; woke: boolean; from: number; to: number }

export function chainOf(m: Model, k: number): Link[] {
    const w = m.pack.waits, links: Link[] = [], asked = new Set<number>();
    let part: Part | null = { k, thread: m.threadOf(k), from: w.start[k], to: w.end[k] };
    while (part && asked.size < CHAIN_MAX) {
        asked.add(part.k);
        const h = holderOf(m, part), next = h.thread ? longestWait(m, h) : null;
        const again = next !== null && asked.has(next.k);
        links.push(linkOf(m, part, h, next, again));
        part = again ? null : next;
    }
    return links;
}

const contextOf = (m: Model, k: number) => m.pack.waits.context[k];

function isForLock(m: Model, k: number): boolean {
    const state = m.state(k);
    return m.lock(k) > 0 && (state === BLOCKED || state === REACQUIRING || state === PARKED);
}

// --- who, and when ----------------------------------------------------------------------------------------

function holderOf(m: Model, p: Part): Holder {
    const w = m.pack.waits, flags = w.flags[p.k];
    const h: Holder = { thread: w.waker[p.k], woke: w.waker[p.k] > 0, from: p.from, to: p.to };
    if (h.woke)
        h.to = Math.max(p.from, Math.min(Number.isNaN(w.wake[p.k]) ? w.end[p.k] : w.wake[p.k], p.to));
    else if (!(flags & FLAG.timed) || isForLock(m, p.k))
        h.thread = m.pack.contexts.other[contextOf(m, p.k)];
    if (h.thread)
        h.from = gotLock(m, p, h);
    return h;
}

/** When it last got the lock that the part is for, if it had to wait for that; else the part's beginning. */
function gotLock(m: Model, p: Part, h: Holder): number {
    const w = m.pack.waits;
    if (!isForLock(m, p.k) || m.pack.contexts.other[contextOf(m, p.k)] === h.thread)
        return p.from;
    for (let k = upper(w.start, h.to, w.first[h.thread], w.first[h.thread + 1]) - 1; k >= w.first[h.thread] && w.end[k] > p.from; k--)
        if (m.lock(k) === m.lock(p.k) && isForLock(m, k) && w.end[k] <= h.to)
            return Math.max(p.from, w.start[k]);
    return p.from;
}

/** Its longest wait in that time, cut to it. */
function longestWait(m: Model, h: Holder): Part | null {
    const w = m.pack.waits;
    let best: Part | null = null;
    for (let k = m.firstNear(h.thread, h.from); k < w.first[h.thread + 1] && w.start[k] <= h.to; k++) {
        const from = Math.max(w.start[k], h.from), to = Math.min(w.end[k], h.to);
        if (to > from && m.state(k) !== UNKNOWN && (!best || to - from >= best.to - best.from))
            best = { k, thread: h.thread, from, to };
    }
    return best;
}

// --- words ------------------------------------------------------------------------------------------------

function linkOf(m: Model, p: Part, h: Holder, next: Part | null, again: boolean): Link {
    const w = m.pack.waits, s = m.pack.sites;
    let text = !h.thread ? unknownText(m, p.k) : h.woke ? endText(m, p, h) : ownerText(m, p, h);
    if (next)
        text += whatText(m, next);
    else if (h.thread)
        text += ", and did not wait in that time";
    if (again)
        text += isDeadlocked(m, h.thread) ? ", which leads back to a wait of this chain: a deadlock" : ", which leads back to a wait of this chain";
    const lock = next ? m.lock(next.k) : 0, site = next ? m.pack.contexts.site[contextOf(m, next.k)] : s.n;
    return {
        thread: h.thread, index: next ? next.k - w.first[h.thread] : null, state: next ? STATES[m.state(next.k)] : h.thread ? "running" : "unknown",
        from: next ? next.from : h.from, to: next ? next.to : h.to, lock, class: lock ? classOf(m.pack, lock) : null,
        at: site < s.n ? placeOf(m.pack.names, s.app_method[site], s.app_line[site]) : null, text,
    };
}

const nameOf = (m: Model, thread: number) => (thread ? m.pack.meta.threads.name[thread] || `#${m.pack.meta.threads.id[thread]}` : "unknown");

function unknownText(m: Model, k: number): string {
    const flags = m.pack.waits.flags[k];
    if (flags & FLAG.unknown)
        return "unknown: one end of this wait is not recorded";
    if (m.state(k) === SLEEPING)
        return "the sleep ended by itself";
    if (flags & (FLAG.timedOut | FLAG.timed) && !(flags & FLAG.open))
        return "unknown: the wait had a time limit, and no waker was recorded";
    if (isForLock(m, k))
        return "unknown: the owner was not seen";
    return flags & FLAG.open ? "unknown: the wait was not over when the recording ended" : "unknown: the waker was not recorded";
}

const DID: Record<string, string> = {
    interrupt: "interrupted it", notify: "notified it", "notify-all": "notified it", "dead-and-notify-joined": "had to end first", unpark: "unparked it",
    semaphore: "released the semaphore", "handoff-lock": "released it", "last-owner-seen": "was the last owner seen",
};

/** How the holder ended a wait. */
function endText(m: Model, p: Part, h: Holder): string {
    const name = nameOf(m, h.thread), how = INTERACTIONS[m.pack.waits.how[p.k]];
    if (m.pack.contexts.other[contextOf(m, p.k)] === h.thread && isForLock(m, p.k))
        return `${name} held it`;
    return `${name} ${DID[how] ?? "ended it"}`;
}

function ownerText(m: Model, p: Part, h: Holder): string {
    const open = (m.pack.waits.flags[p.k] & FLAG.open) !== 0, name = nameOf(m, h.thread);
    if (m.state(p.k) === JOINING)
        return `${name} ${open ? "has not ended" : "was waited for"}`;
    return `${name} held it when this wait began${open ? "" : "; Orca does not know who released it"}`;
}

const WAITED = ["waited", "was in Object.wait", "was parked", "waited", "slept", "waited"];

function whatText(m: Model, next: Part): string {
    const state = m.state(next.k), lock = m.lock(next.k), other = m.pack.contexts.other[contextOf(m, next.k)];
    let text = `, and itself ${WAITED[state]} ${duration(next.to - next.from)}`;
    if (state === JOINING)
        text += ` for the end of ${nameOf(m, other)}`;
    else if (lock)
        text += ` ${isForLock(m, next.k) ? "for" : "on"} ${classOf(m.pack, lock) ?? "unknown class"}`;
    return isForLock(m, next.k) && other ? `${text}, owned by ${nameOf(m, other)}` : text;
}

function isDeadlocked(m: Model, thread: number): boolean {
    const id = m.pack.meta.threads.id[thread];
    return m.pack.meta.deadlocks.some((d) => d.members.some((x) => x.thread === id));
}
