// inline_lock.ts - the history of one lock: who waited for it or on it, who is known to have held it when
// (src/analyze/lock_line.c over a pack).
//
// An Object.wait that reacquired the monitor after its notify is two items of one wait: waiting, and
// reacquiring.  Holds are the recorded ones; else what inline_holds.ts concludes.
import { FLAG } from "../types.ts";
import { BLOCKED, REACQUIRING, WAITING, lower, touches } from "./inline_model.ts";
import type { Model } from "./inline_model.ts";
import { conclude } from "./inline_holds.ts";
import { eachStep, orderOf } from "./inline_order.ts";

/** By `from`. */
export interface Items {
    n: number; wait: Uint32Array; thread: Uint32Array; from: Float64Array; to: Float64Array; state: Uint8Array; flags: Uint8Array; queued: Uint8Array;
}
export interface Holds { n: number; from: number[]; to: number[]; owner: number[]; sure: boolean[] }

/** Stretches that do not overlap, by time. */
export interface Stretches { from: number[]; to: number[] }

export class LockHistory {
    readonly lock: number;
    readonly model: Model;
    readonly items: Items;
    /** Greatest end of the items up to each one: it only grows. */
    private readonly reach: Float64Array;
    private busyMade: Stretches | null = null;
    private heldMade: Holds | null = null;

    constructor(model: Model, lock: number) {
        this.model = model;
        this.lock = lock;
        this.items = itemsOf(model, model.ofLock(lock));
        this.reach = new Float64Array(this.items.n);
        let most = -Infinity;
        for (let i = 0; i < this.items.n; i++)
            this.reach[i] = most = Math.max(most, this.items.to[i]);
    }

    /** The items that touch a range. */
    touching(from: number, to: number): number[] {
        const s = this.items, all: number[] = [];
        for (let i = lower(this.reach, from, 0, s.n); i < s.n && s.from[i] < to; i++)
            if (touches({ from, to }, s.from[i], s.to[i]))
                all.push(i);
        return all;
    }

    /** When somebody was in the queue. */
    busy(): Stretches {
        if (this.busyMade)
            return this.busyMade;
        const out: Stretches = { from: [], to: [] }, s = this.items;
        for (let i = 0; i < s.n; i++) {
            if (!s.queued[i] || s.from[i] === s.to[i])
                continue;
            const last = out.to.length - 1;
            if (last >= 0 && s.from[i] <= out.to[last]) {
                out.to[last] = Math.max(out.to[last], s.to[i]);
                continue;
            }
            out.from.push(s.from[i]);
            out.to.push(s.to[i]);
        }
        return (this.busyMade = out);
    }

    holds(): Holds {
        return (this.heldMade ??= holdsOf(this));
    }

    /** Who held it at a moment; 0: not known. */
    ownerAt(time: number): { owner: number; sure: boolean } {
        const h = this.holds();
        for (let i = h.n - 1; i >= 0; i--)
            if (h.from[i] <= time && time < h.to[i])
                return { owner: h.owner[i], sure: h.sure[i] };
        return { owner: 0, sure: false };
    }

    /** Who stood in the queue at a moment, and who waited otherwise. */
    at(time: number): { queue: number[]; waiters: number[] } {
        const s = this.items, last = this.model.pack.meta.to;
        const queue = new Set<number>(), waiters = new Set<number>();
        for (const i of this.touching(time === last ? time - 1 : time, time + 1))
            if (s.from[i] <= time && (time < s.to[i] || (s.flags[i] & FLAG.open && time === last)))
                (s.queued[i] ? queue : waiters).add(s.thread[i]);
        return { queue: [...queue], waiters: [...waiters] };
    }

    /** The longest queue in a range. */
    longestQueue(from: number, to: number, threads: Uint8Array | null): number {
        const s = this.items;
        const list = this.touching(from, to).filter((i) => s.queued[i] && s.to[i] > s.from[i] && (!threads || threads[s.thread[i]]));
        let length = 0, most = 0;
        eachStep(Float64Array.from(list, (i) => s.from[i]), Float64Array.from(list, (i) => s.to[i]), (_time, _i, begins) => {
            most = Math.max(most, (length += begins ? 1 : -1));
        });
        return most;
    }
}

// --- items ----------------------------------------------------------------------------------------------

function room(n: number): Items {
    return {
        n: 0, wait: new Uint32Array(n), thread: new Uint32Array(n), from: new Float64Array(n), to: new Float64Array(n), state: new Uint8Array(n),
        flags: new Uint8Array(n), queued: new Uint8Array(n),
    };
}

function itemsOf(m: Model, waits: Uint32Array): Items {
    const w = m.pack.waits, all = room(waits.length * 2);
    const put = (k: number, thread: number, from: number, to: number, state: number, flags: number, queued: boolean) => {
        const i = all.n++;
        all.wait[i] = k;
        all.thread[i] = thread;
        all.from[i] = from;
        all.to[i] = to;
        all.state[i] = state;
        all.flags[i] = flags;
        all.queued[i] = queued ? 1 : 0;
    };
    for (const k of waits) {
        const thread = m.threadOf(k), until = m.until(k), again = until < w.end[k];
        put(k, thread, w.start[k], until, m.state(k), again ? w.flags[k] & ~FLAG.open : w.flags[k], m.queues(k));
        if (again)
            put(k, thread, until, w.end[k], REACQUIRING, w.flags[k], true);
    }
    return picked(all, orderOf(all.from.subarray(0, all.n)));
}

function picked(s: Items, list: Uint32Array): Items {
    return {
        n: list.length, wait: list.map((i) => s.wait[i]), thread: list.map((i) => s.thread[i]), from: Float64Array.from(list, (i) => s.from[i]),
        to: Float64Array.from(list, (i) => s.to[i]), state: Uint8Array.from(list, (i) => s.state[i]), flags: Uint8Array.from(list, (i) => s.flags[i]),
        queued: Uint8Array.from(list, (i) => s.queued[i]),
    };
}

// --- holds ----------------------------------------------------------------------------------------------

function holdsOf(h: LockHistory): Holds {
    const recorded = recordedOf(h), all = { n: 0, from: [...recorded.from], to: [...recorded.to], owner: [...recorded.owner], sure: recorded.from.map(() => true) };
    conclude(h, recorded, (from, to, owner) => {
        all.from.push(from);
        all.to.push(to);
        all.owner.push(owner);
        all.sure.push(false);
    });
    const order = [...orderOf(Float64Array.from(all.from))];
    return { n: order.length, from: order.map((i) => all.from[i]), to: order.map((i) => all.to[i]), owner: order.map((i) => all.owner[i]), sure: order.map((i) => all.sure[i]) };
}

export interface Recorded { from: number[]; to: number[]; owner: number[] }

/** The recorded holds, without the time in Object.wait, by `from`. */
function recordedOf(h: LockHistory): Recorded {
    const all = h.model.pack.holds, out: Recorded = { from: [], to: [], owner: [] };
    for (let i = 0; i < all.n; i++)
        if (all.lock[i] === h.lock)
            addHold(h.model, h.lock, all.thread[i], all.from[i], all.to[i], out);
    const order = [...orderOf(Float64Array.from(out.from))];
    return { from: order.map((i) => out.from[i]), to: order.map((i) => out.to[i]), owner: order.map((i) => out.owner[i]) };
}

function addHold(m: Model, lock: number, thread: number, from: number, end: number, out: Recorded): void {
    const w = m.pack.waits;
    const put = (a: number, b: number) => {
        if (a < b) {
            out.from.push(a);
            out.to.push(b);
            out.owner.push(thread);
        }
    };
    for (let k = lower(w.start, from, w.first[thread], w.first[thread + 1]); k < w.first[thread + 1] && w.start[k] < end; k++) {
        const state = m.state(k);
        if (m.lock(k) !== lock || (state !== WAITING && state !== REACQUIRING && state !== BLOCKED))
            continue;
        if (state === WAITING)
            put(from, w.start[k]);
        from = Math.max(from, w.end[k]);
    }
    put(from, end);
}

/** Whether a range lies in one of the stretches. */
export function covers(s: Stretches, from: number, to: number): boolean {
    let low = 0, high = s.from.length;
    while (low < high) {
        const mid = (low + high) >>> 1;
        if (s.from[mid] <= from)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && s.to[low - 1] >= to;
}
