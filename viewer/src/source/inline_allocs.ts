// inline_allocs.ts - the allocations of a pack: what was allocated, what of it is live, and when.
import type { ByAlloc, Rates, Selection } from "../types.ts";
import type { Columns } from "./inline_bytes.ts";
import type { Cut, Model } from "./inline_model.ts";

/** Of thread t: entries first[t] up to first[t + 1], by time.  length: since the object was allocated, or the batch began. */
export interface AllocList { first: Uint32Array; time: Float64Array; context: Uint32Array; length: Float64Array; bytes: Float64Array; count: Float64Array }

/** By context: class, stack, bytes and thousandths of an object that one stands for. */
export interface Allocs {
    n: number; class: Uint32Array; stack: Uint32Array; bytes: Float64Array; thousandths: Float64Array;
    /** The objects are samples; they stand beside counted ones. */
    sampled: boolean; beside: boolean;
    /** Objects, their ends, and batches of counted ones. */
    lists: AllocList[];
}

const floats = (c: Columns, n: number): Float64Array => {
    const v = c.numbers(n);
    return Float64Array.from({ length: n }, () => v.next());
};

function readList(c: Columns, threads: number, columns: number): AllocList {
    const first = new Uint32Array(threads + 1);
    c.u32(threads).forEach((k, t) => (first[t + 1] = first[t] + k));
    const n = first[threads], delta = c.numbers(n), time = new Float64Array(n);
    for (let t = 0; t < threads; t++)
        for (let k = first[t], at = 0; k < first[t + 1]; k++)
            time[k] = at += delta.signed();
    const rest = Array.from({ length: columns }, () => floats(c, n));
    const none = new Float64Array(0);
    return { first, time, context: Uint32Array.from(rest[0]), length: rest[1] ?? none, bytes: rest[2] ?? none, count: rest[3] ?? none };
}

export function readAllocs(c: Columns, threads: number): Allocs {
    const n = c.head(), none = new Uint32Array(0);
    if (n === 0)
        return { n, class: none, stack: none, bytes: new Float64Array(0), thousandths: new Float64Array(0), sampled: false, beside: false, lists: [] };
    const [beside, sampled] = c.u32(2);
    return {
        n, class: c.u32(n), stack: c.u32(n), bytes: floats(c, n), thousandths: floats(c, n), sampled: sampled !== 0, beside: beside !== 0,
        lists: [1, 2, 4].map((columns) => readList(c, threads, columns)),
    };
}

/** The part of an amount of a batch before a moment: alloc_batch_share of src/analyze/allocs.c. */
function share(l: AllocList, k: number, amount: number, until: number): number {
    const end = l.time[k], since = end - l.length[k];
    if (until > end || (until === end && since < end))
        return amount;
    return until <= since ? 0 : Math.floor((amount * (until - since)) / (end - since));
}

type Add = (context: number, bytes: number, thousandths: number, samples: number) => void;

/** Calls with what a selection has, context by context. */
export function eachAlloc(m: Model, c: Cut, by: ByAlloc, add: Add): void {
    const a = m.pack.allocs, [objects, ends, batches] = a.lists;
    const begin = Math.max(c.from, m.pack.meta.from);
    for (let t = 0; a.n && t < m.threads; t++) {
        if (c.threads && !c.threads[t])
            continue;
        const found = new Map<number, number>(), more = (context: number, by: number) => found.set(context, (found.get(context) ?? 0) + by);
        for (let k = objects.first[t]; k < objects.first[t + 1] && (by === "live" || !a.beside); k++)
            if (objects.time[k] >= c.from && objects.time[k] < c.to)
                more(objects.context[k], 1);
        for (let k = ends.first[t]; k < ends.first[t + 1] && by === "live"; k++)
            if (ends.time[k] < c.to && ends.time[k] - ends.length[k] >= begin)
                more(ends.context[k], -1);
        found.forEach((n, context) => n > 0 && add(context, n * a.bytes[context], n * a.thousandths[context], n));
        for (let k = batches.first[t]; k < batches.first[t + 1] && by === "alloc"; k++) {
            const part = (amount: number) => share(batches, k, amount, c.to) - share(batches, k, amount, c.from);
            add(batches.context[k], part(batches.bytes[k]), part(batches.count[k] * 1000), 0);
        }
    }
}

/** The answer `rates` (docs/reference/view-protocol.md). */
export function ratesOf(m: Model, c: Cut, of: Selection, n: number): Rates {
    const a = m.pack.allocs, [objects, , batches] = a.lists, meta = m.pack.meta;
    const from = Math.max(of.from ?? meta.from, meta.from), to = Math.max(Math.min(of.to ?? meta.to, meta.to), from);
    const out: Rates = { from, to, n, threads: [], bytes: [] };
    const start = (i: number) => from + Math.ceil(((to - from) * i) / n);
    for (let t = 0; a.n && to > from && t < m.threads; t++) {
        if (c.threads && !c.threads[t])
            continue;
        const v = new Array<number>(n).fill(0);
        for (let k = objects.first[t]; k < objects.first[t + 1] && !a.beside; k++)
            if (objects.time[k] >= from && objects.time[k] < to)
                v[Math.floor(((objects.time[k] - from) * n) / (to - from))] += a.bytes[objects.context[k]];
        for (let k = batches.first[t]; k < batches.first[t + 1]; k++)
            if (batches.time[k] >= from && batches.time[k] - batches.length[k] < to)
                for (let i = 0; i < n; i++)
                    v[i] += share(batches, k, batches.bytes[k], start(i + 1)) - share(batches, k, batches.bytes[k], start(i));
        if (v.some((x) => x > 0)) {
            out.threads.push(t);
            out.bytes.push(...v);
        }
    }
    return out;
}
