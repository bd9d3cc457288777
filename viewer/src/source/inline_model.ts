// inline_model.ts - questions about the waits of a pack, and the indexes that they need, made on demand.
//
//     first[t] <= k < first[t + 1]: wait k is one of thread t, its index is k - first[t]
//     start only grows within a thread; waits that have a length do not overlap
// A wait of which one end is missing has no length and may stand inside another one: ends need not grow.
import type { Selection } from "../types.ts";
import { FLAG, INTERACTIONS, isHandoff } from "../types.ts";
import { orderOf } from "./inline_order.ts";
import type { Pack } from "./inline_pack.ts";

export const BLOCKED = 0, WAITING = 1, PARKED = 2, JOINING = 3, SLEEPING = 4, REACQUIRING = 5, UNKNOWN = 6;

const NOTIFY = INTERACTIONS.indexOf("notify"), NOTIFY_ALL = INTERACTIONS.indexOf("notify-all");

/** The range and the threads of a question; as src/analyze/selection.h cuts. */
export interface Cut { from: number; to: number; threads: Uint8Array | null; lock: number }

export function cutOf(s: Selection, threads: number): Cut {
    let bits: Uint8Array | null = null;
    if (s.threads) {
        bits = new Uint8Array(threads);
        for (const t of s.threads)
            if (t >= 0 && t < threads)
                bits[t] = 1;
    }
    return { from: s.from ?? -Infinity, to: s.to ?? Infinity, threads: bits, lock: s.lock ?? 0 };
}

/** Whether a stretch lies in the range with a part; one of no length belongs to its moment. */
export function touches(c: { from: number; to: number }, start: number, end: number): boolean {
    return start === end ? start >= c.from && start < c.to : end > c.from && start < c.to;
}

/** How many of the ascending values[from, to) are at most x, plus from. */
export function upper(values: Float64Array | Uint32Array, x: number, from: number, to: number): number {
    let low = from, high = to;
    while (low < high) {
        const mid = (low + high) >>> 1;
        if (values[mid] <= x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/** How many of the ascending values[from, to) are less than x, plus from. */
export function lower(values: Float64Array | Uint32Array, x: number, from: number, to: number): number {
    let low = from, high = to;
    while (low < high) {
        const mid = (low + high) >>> 1;
        if (values[mid] < x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/** Entries by a key below `n`: those of key x are list[first[x], first[x + 1]), in their old order. */
export interface Index { first: Uint32Array; list: Uint32Array }

function indexBy(count: number, n: number, keyOf: (k: number) => number): Index {
    const first = new Uint32Array(n + 1);
    let used = 0;
    for (let k = 0; k < count; k++) {
        const key = keyOf(k);
        if (key > 0) {
            first[key + 1]++;
            used++;
        }
    }
    for (let i = 0; i < n; i++)
        first[i + 1] += first[i];
    const list = new Uint32Array(used), at = first.slice();
    for (let k = 0; k < count; k++) {
        const key = keyOf(k);
        if (key > 0)
            list[at[key]++] = k;
    }
    return { first, list };
}

export class Model {
    readonly pack: Pack;
    readonly threads: number;
    private lockIndex: Index | null = null;
    private wakerIndex: Index | null = null;
    private actIndex: Index | null = null;
    private readonly peaks = new Map<string, number>();
    private readonly sortedLocks = new Map<number, Uint32Array>();
    private readonly sortedWakers = new Map<number, Uint32Array>();

    constructor(pack: Pack) {
        this.pack = pack;
        this.threads = pack.meta.threads.id.length;
    }

    threadOf(k: number): number {
        return upper(this.pack.waits.first, k, 0, this.threads + 1) - 1;
    }

    state(k: number): number {
        return this.pack.contexts.state[this.pack.waits.context[k]];
    }

    lock(k: number): number {
        return this.pack.contexts.lock[this.pack.waits.context[k]];
    }

    /** When its waker woke it; NaN: not known, as of a lock of which only the owner before is known. */
    wakeTime(k: number): number {
        const w = this.pack.waits;
        return isHandoff(w.how[k]) && w.wake[k] === w.end[k] ? NaN : w.wake[k];
    }

    /** Up to where an Object.wait was one: its notify, where that is known; of others their end. */
    until(k: number): number {
        const w = this.pack.waits;
        if ((w.how[k] !== NOTIFY && w.how[k] !== NOTIFY_ALL) || this.state(k) !== WAITING)
            return w.end[k];
        return Math.max(w.start[k], Math.min(w.wake[k], w.end[k]));
    }

    /** Where the waits of a thread begin that touch what is at `time` or behind it: the first may
     * be the last before it, and some may not touch. */
    firstNear(thread: number, time: number): number {
        const w = this.pack.waits, first = w.first[thread];
        let k = lower(w.start, time, first, w.first[thread + 1]);
        const behind = k;
        while (k > first && w.start[k - 1] === w.end[k - 1])
            k--;
        return k > first && w.end[k - 1] >= time ? k - 1 : behind;
    }

    /** The wait that a thread was in at a moment; -1: none. */
    /** What the owner executed when a wait began: as it was asked, else as it is known because it waited itself; 0: not known. */
    ownerStack(k: number): number {
        const w = this.pack.waits, c = this.pack.contexts, x = w.context[k];
        if (c.owner_stack[x] || !c.other[x] || ![BLOCKED, PARKED, REACQUIRING].includes(c.state[x]))
            return c.owner_stack[x];
        const first = w.first[c.other[x]], at = upper(w.start, w.start[k], first, w.first[c.other[x] + 1]) - 1;
        return at >= first && w.end[at] > w.start[k] && this.state(at) !== UNKNOWN ? c.stack[w.context[at]] : 0;
    }

    waitAt(thread: number, time: number): number {
        const w = this.pack.waits;
        for (let k = upper(w.start, time, w.first[thread], w.first[thread + 1]) - 1; k >= w.first[thread]; k--) {
            const open = (w.flags[k] & FLAG.open) !== 0 && time === w.end[k];
            if (time < w.end[k] || open || w.start[k] === time)
                return k;
            if (w.end[k] > w.start[k])
                return -1;
        }
        return -1;
    }

    /** How many threads of a pool or group lived at once, at most. */
    peak(row: string, members: readonly number[]): number {
        let most = this.peaks.get(row);
        if (most === undefined) {
            const t = this.pack.meta.threads, steps: [number, number][] = [];
            for (const i of members)
                steps.push([t.from[i], 1], [t.to[i], -1]);
            steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
            let n = 0;
            most = 0;
            for (const [, step] of steps)
                most = Math.max(most, (n += step));
            this.peaks.set(row, most);
        }
        return most;
    }

    /** Whether the wait, or its second part, stands in the queue of its lock. */
    queues(k: number): boolean {
        const x = this.pack.waits.context[k];
        return this.heldUp(x, this.pack.contexts.state[x]);
    }

    /** Whether others block a thread in a wait of a context while it is in a state (purpose.h). */
    heldUp(context: number, state: number): boolean {
        return state === BLOCKED || state === REACQUIRING || (state === PARKED && this.pack.contexts.held_up[context] !== 0);
    }

    /** All waits for a lock, by start. */
    ofLock(lock: number): Uint32Array {
        this.lockIndex ??= indexBy(this.pack.waits.n, this.pack.locks.n, (k) => this.lock(k));
        return this.sorted(this.sortedLocks, this.lockIndex, lock, this.pack.waits.start);
    }

    /** All waits that a thread ended, by when it woke them. */
    endedBy(thread: number): Uint32Array {
        this.wakerIndex ??= indexBy(this.pack.waits.n, this.threads, (k) => this.pack.waits.waker[k]);
        return this.sorted(this.sortedWakers, this.wakerIndex, thread, this.pack.waits.wake);
    }

    /** Indices of `acts` by a thread. */
    actsOf(thread: number): Uint32Array {
        this.actIndex ??= indexBy(this.pack.acts.n, this.threads, (k) => this.pack.acts.from[k]);
        return this.actIndex.list.subarray(this.actIndex.first[thread], this.actIndex.first[thread + 1]);
    }

    private sorted(made: Map<number, Uint32Array>, index: Index, key: number, by: Float64Array): Uint32Array {
        let list = made.get(key);
        if (!list) {
            const all = index.list.subarray(index.first[key] ?? 0, index.first[key + 1] ?? 0);
            const order = orderOf(Float64Array.from(all, (k) => by[k]));
            made.set(key, (list = order.map((i) => all[i])));
        }
        return list;
    }

    /** Who gave a monitor back that a wait took again: index into the pack's regains; -1: unknown. */
    regain(wait: number): number {
        const all = this.pack.regains.wait, k = lower(all, wait, 0, all.length);
        return all[k] === wait ? k : -1;
    }

    /** Stack of the act that ended a wait; 0: unknown. */
    wakeStack(thread: number, index: number): number {
        const w = this.pack.wakes;
        let low = 0, high = w.n;
        while (low < high) {
            const mid = (low + high) >>> 1;
            if (w.thread[mid] < thread || (w.thread[mid] === thread && w.index[mid] < index))
                low = mid + 1;
            else
                high = mid;
        }
        return low < w.n && w.thread[low] === thread && w.index[low] === index ? w.stack[low] : 0;
    }
}
