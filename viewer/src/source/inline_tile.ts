// inline_tile.ts - tiles of rows from the waits: exact where they are few, else the share of each bucket.
//
//     bucket b of tile i at level L is [(i * 512 + b) << L, (i * 512 + b + 1) << L)
import { SourceError } from "../source.ts";
import { BUCKETS, CELL, FLAG, HALTS, haltOf } from "../types.ts";
import type { Cells, ExactLock, ExactThread, LockCells, RowId, TileRow } from "../types.ts";
import type { LockHistory } from "./inline_lock.ts";
import { PARKED, REACQUIRING, UNKNOWN, lower, touches } from "./inline_model.ts";
import type { Model } from "./inline_model.ts";
import { stillOf } from "./inline_marks.ts";
import { eachStep } from "./inline_order.ts";

export const EXACT_MAX = 1024;
const STATES = 6; // waits
const NOTHING: TileRow = { kind: "nothing" };

export interface Frame { from: number; to: number; bucket: number }

export function frameOf(level: number, i: number): Frame {
    if (!Number.isInteger(level) || level < 0 || level > 44 || !Number.isSafeInteger(i))
        throw new SourceError(`There is no tile ${i} of level ${level}: levels are 0 to 44.`);
    const bucket = 2 ** level;
    return { from: i * BUCKETS * bucket, to: (i + 1) * BUCKETS * bucket, bucket };
}

export function parseRow(id: RowId): { kind: string; n: number } {
    const m = /^([tpgl])(\d{1,10})$/.exec(id);
    if (!m)
        throw new SourceError(`"${id}" is not a row: a row is t, p, g or l and a number.`);
    return { kind: m[1], n: Number(m[2]) };
}

/** A share of 1 as 255ths; what is greater than nothing is at least 1. */
export function share(x: number): number {
    return x <= 0 ? 0 : Math.max(1, Math.min(255, Math.round(x * 255)));
}

/** Add the time of [from, to) to the buckets that it lies in. */
export function spread(sums: Float64Array, at: number, stride: number, f: Frame, from: number, to: number): void {
    const a = Math.max(from, f.from) - f.from, b = Math.min(to, f.to) - f.from;
    if (b <= a)
        return;
    const first = Math.floor(a / f.bucket), last = Math.min(Math.floor((b - 1) / f.bucket), BUCKETS - 1);
    if (first === last) {
        sums[first * stride + at] += b - a;
        return;
    }
    sums[first * stride + at] += (first + 1) * f.bucket - a;
    for (let k = first + 1; k < last; k++)
        sums[k * stride + at] += f.bucket;
    sums[last * stride + at] += b - last * f.bucket;
}

// --- threads, groups ------------------------------------------------------------------------------------

/** [k, last) of the waits of a thread that may touch the frame. */
function reach(m: Model, thread: number, f: Frame): [number, number] {
    const w = m.pack.waits, from = m.firstNear(thread, f.from);
    return [from, Math.max(from, lower(w.start, f.to, from, w.first[thread + 1]))];
}

export function threadRow(m: Model, thread: number, f: Frame): TileRow {
    if (thread <= 0 || thread >= m.threads)
        return NOTHING;
    const w = m.pack.waits;
    let [from, to] = reach(m, thread, f);
    while (from < to && !touches(f, w.start[from], w.end[from]))
        from++; // the one before the frame only ends where it begins, or stands inside of one that does
    const [first, last] = stillOf(m.pack.still, thread, f.from, f.to);
    if (to === from && last <= first)
        return NOTHING;
    const touching = [];
    for (let k = from; k < to && touching.length <= EXACT_MAX; k++)
        if (touches(f, w.start[k], w.end[k]))
            touching.push(k);
    return touching.length + last - first <= EXACT_MAX ? exactThread(m, thread, touching, [first, last]) : cells(m, [thread], f, 1);
}

function exactThread(m: Model, thread: number, list: number[], calls: [number, number]): ExactThread {
    const s = m.pack.still;
    const w = m.pack.waits;
    const f64 = (v: Float64Array) => Float64Array.from(list, (k) => v[k]), u32 = (v: Uint32Array) => Uint32Array.from(list, (k) => v[k]);
    const u8 = (v: Uint8Array) => Uint8Array.from(list, (k) => v[k]);
    return {
        kind: "exact", n: list.length, start: f64(w.start), end: f64(w.end), wake: Float64Array.from(list, (k) => m.wakeTime(k)), index: Uint32Array.from(list, (k) => k - w.first[thread]),
        context: u32(w.context), waker: u32(w.waker), state: Uint8Array.from(list, (k) => m.state(k)), flags: Uint8Array.from(list, (k) => w.flags[k] | (isLocked(m, k) ? FLAG.heldUp : 0)), how: u8(w.how),
        io: { n: calls[1] - calls[0], from: s.from.slice(...calls), to: s.to.slice(...calls), peer: s.peer.slice(...calls), what: s.what.slice(...calls) },
    };
}

/** Of a pool or group: its threads added up. */
export function groupRow(m: Model, kind: string, n: number, f: Frame): TileRow {
    const t = m.pack.meta.threads, of = kind === "p" ? t.pool : t.group, members = [];
    for (let i = 1; i < m.threads; i++)
        if (of[i] === n)
            members.push(i);
    const alive = members.some((i) => t.from[i] < f.to && t.to[i] > f.from);
    return alive ? cells(m, members, f, m.peak(`${kind}${n}`, members)) : NOTHING;
}

const STRIDE = CELL; // states 0 to 5 (parked: idle), life, waits, parked and blocked, unknown, HALTS
const LOCKED = 8, NOT_KNOWN = 9, IO = 10;

/** `full`: the number of threads that fill a cell. */
function cells(m: Model, members: readonly number[], f: Frame, full: number): Cells {
    const sums = new Float64Array(BUCKETS * STRIDE);
    for (const thread of members)
        addThread(m, thread, f, sums);
    const out = new Uint8Array(BUCKETS * STRIDE);
    for (let b = 0; b < BUCKETS * STRIDE; b += STRIDE)
        shareOut(sums, out, b, f.bucket * Math.max(full, 1));
    return { kind: "cells", cells: out };
}

/** States and running as 255ths that add up: each is what its end is, rounded, less what is before it. */
function shareOut(sums: Float64Array, out: Uint8Array, b: number, whole: number): void {
    let sum = 0, before = 0, all = 0, greatest = 0, running = sums[b + STATES];
    const parts = [...sums.subarray(b, b + STATES), sums[b + LOCKED], sums[b + NOT_KNOWN], ...sums.subarray(b + IO, b + IO + HALTS.length), 0], shares = new Array<number>(parts.length);
    for (const part of parts)
        running -= part;
    parts[parts.length - 1] = Math.max(running, 0);
    for (let s = 0; s < parts.length; s++) {
        const part = parts[s];
        sum += part;
        const now = Math.floor((sum * 510 + whole) / (whole * 2));
        shares[s] = now - before || (part > 0 ? 1 : 0);
        all += shares[s];
        before = now;
        greatest = shares[s] > shares[greatest] ? s : greatest;
    }
    shares[greatest] -= Math.max(all - 255, 0);
    for (let s = 0; s < STATES; s++)
        out[b + s] = shares[s];
    out[b + PARKED] += shares[STATES];
    out[b + LOCKED] = shares[STATES];
    out[b + NOT_KNOWN] = shares[STATES + 1];
    for (let h = 0; h < HALTS.length; h++)
        out[b + IO + h] = shares[STATES + 2 + h];
    out[b + STATES] = Math.min(all, 255);
    out[b + 7] = Math.min(sums[b + 7], 255);
}

/** Of a state in a cell, or in what it is made of. */
export const columnOf = (state: number): number => state === UNKNOWN ? NOT_KNOWN : state;

/** A park in which others block the thread. */
const isLocked = (m: Model, k: number): boolean => m.state(k) === PARKED && m.heldUp(m.pack.waits.context[k], PARKED);

function addThread(m: Model, thread: number, f: Frame, sums: Float64Array): void {
    const w = m.pack.waits, t = m.pack.meta.threads;
    const [from, to] = reach(m, thread, f);
    spread(sums, 6, STRIDE, f, t.from[thread], t.to[thread]);
    const s = m.pack.still, [first, last] = stillOf(s, thread, f.from, f.to);
    for (let k = first; k < last; k++)
        spread(sums, IO + haltOf(s.what[k]), STRIDE, f, s.from[k], s.to[k]);
    for (let k = from; k < to; k++) {
        if (!touches(f, w.start[k], w.end[k]))
            continue;
        const until = m.until(k);
        spread(sums, isLocked(m, k) ? LOCKED : columnOf(m.state(k)), STRIDE, f, w.start[k], until);
        if (until < w.end[k])
            spread(sums, REACQUIRING, STRIDE, f, until, w.end[k]);
        countWait(sums, f, w.start[k], w.end[k]);
    }
}

/** One wait more in every bucket that it touches. */
function countWait(sums: Float64Array, f: Frame, start: number, end: number): void {
    const first = Math.max(Math.floor((start - f.from) / f.bucket), 0);
    const last = Math.min(end > start ? Math.ceil((end - f.from) / f.bucket) - 1 : first, BUCKETS - 1);
    for (let k = first; k <= last; k++)
        sums[k * STRIDE + 7]++;
}

// --- locks ----------------------------------------------------------------------------------------------

export function lockRow(m: Model, h: LockHistory, f: Frame): TileRow {
    const items = h.touching(f.from, f.to), held = h.holds(), holds = [];
    for (let i = 0; i < held.n; i++)
        if (touches(f, held.from[i], held.to[i]))
            holds.push(i);
    if (items.length === 0 && holds.length === 0)
        return NOTHING;
    return items.length <= EXACT_MAX && holds.length <= EXACT_MAX ? exactLock(m, h, items, holds) : lockCells(h, items, f);
}

function exactLock(m: Model, h: LockHistory, items: number[], holds: number[]): ExactLock {
    const s = h.items, held = h.holds();
    return {
        kind: "lock", n: items.length, m: holds.length, start: Float64Array.from(items, (i) => s.from[i]), end: Float64Array.from(items, (i) => s.to[i]),
        from: Float64Array.from(holds, (i) => held.from[i]), to: Float64Array.from(holds, (i) => held.to[i]), thread: Uint32Array.from(items, (i) => s.thread[i]),
        index: Uint32Array.from(items, (i) => s.wait[i] - m.pack.waits.first[s.thread[i]]), owner: Uint32Array.from(holds, (i) => held.owner[i]),
        state: Uint8Array.from(items, (i) => s.state[i]), flags: Uint8Array.from(items, (i) => s.flags[i] | (s.queued[i] ? FLAG.heldUp : 0)), sure: Uint8Array.from(holds, (i) => (held.sure[i] ? 1 : 0)),
    };
}

/** Of each bucket: time held, time with a queue, queue * time, greatest; the same of other waiters. */
interface LockSums { held: Float64Array; busy: Float64Array; area: Float64Array; most: Float64Array; waited: Float64Array; mostWaiters: Float64Array; count: Float64Array }

function lockCells(h: LockHistory, items: number[], f: Frame): LockCells {
    const column = () => new Float64Array(BUCKETS);
    const s: LockSums = { held: column(), busy: column(), area: column(), most: column(), waited: column(), mostWaiters: column(), count: new Float64Array(BUCKETS * STRIDE) };
    const held = h.holds();
    let until = -Infinity;
    for (let i = 0; i < held.n; i++) {
        spread(s.held, 0, 1, f, Math.max(held.from[i], until), held.to[i]); // shared holds overlap
        until = Math.max(until, held.to[i]);
    }
    sweep(h, items, 1, f, s.busy, s.area, s.most);
    sweep(h, items, 0, f, s.waited, column(), s.mostWaiters);
    for (const i of items)
        countWait(s.count, f, h.items.from[i], h.items.to[i]);
    const length = (x: number) => (x > 0 ? Math.max(1, Math.min(255, Math.round(16 * Math.log2(1 + x)))) : 0);
    const out = new Uint8Array(BUCKETS * 8);
    for (let b = 0; b < BUCKETS; b++)
        out.set([share(s.held[b] / f.bucket), share(s.busy[b] / f.bucket), length(s.area[b] / f.bucket), length(s.most[b]), share(s.waited[b] / f.bucket),
            length(s.mostWaiters[b]), 0, Math.min(s.count[b * STRIDE + 7], 255)], b * 8);
    return { kind: "lockcells", cells: out };
}

/** How many of the items, queued or not, there are at each time, put into buckets. */
function sweep(h: LockHistory, items: number[], queued: number, f: Frame, busy: Float64Array, area: Float64Array, most: Float64Array): void {
    const s = h.items, list = items.filter((i) => s.queued[i] === queued && s.to[i] > s.from[i]);
    let n = 0, since = -Infinity;
    eachStep(Float64Array.from(list, (i) => s.from[i]), Float64Array.from(list, (i) => s.to[i]), (time, _, begins) => {
        if (n > 0 && time > since)
            stretch(n, since, time, f, busy, area, most);
        n += begins ? 1 : -1;
        since = time;
    });
}

function stretch(n: number, from: number, to: number, f: Frame, busy: Float64Array, area: Float64Array, most: Float64Array): void {
    const a = Math.max(from, f.from), b = Math.min(to, f.to);
    for (let k = Math.floor((a - f.from) / f.bucket); k < BUCKETS && f.from + k * f.bucket < b; k++) {
        const part = Math.min(b, f.from + (k + 1) * f.bucket) - Math.max(a, f.from + k * f.bucket);
        busy[k] += part;
        area[k] += n * part;
        most[k] = Math.max(most[k], n);
    }
}
