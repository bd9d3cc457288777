// columns.ts - what each pixel column of a row shows: pure functions from tiles to shares.
//
// A column is the share of its time in each state, so that time is true at every zoom: a row that is
// blocked half of the time is red to half of its height, however short the blocks.
//
//     shares[x * PARTS + s], 0 to 1;  the sum over s <= 1; what is missing is not alive, or not known
import type { Cells, ExactLock, ExactThread, LockCells } from "../types.ts";
import { BUCKETS, CELL, FLAG, HALTS, haltOf, INTERACTIONS, STATES, WAITS } from "../types.ts";

/** States 0 to 5, running, parked and blocked (not part of parked here), unknown, HALTS. */
export const PARTS = 13;
const RUNNING = 6, LOCKED = 7, UNKNOWN = 8, IO = 9, PARKED = STATES.indexOf("parked");

function partOf(row: ExactThread, k: number): number {
    const state = row.state[k];
    return state === PARKED && row.flags[k] & FLAG.heldUp ? LOCKED : state < WAITS.length ? state : UNKNOWN;
}

export interface Span { from: number; to: number } // time

/** The pixels of a row: `width` of them, the first at `from`, each of `ns`. */
export interface Scale { from: number; ns: number; width: number }

/** Time between `a` and `b` spent in `part`, added to the columns. */
function add(shares: Float32Array, parts: number, part: number, a: number, b: number, scale: Scale, weight: number): void {
    const x0 = (a - scale.from) / scale.ns;
    const x1 = (b - scale.from) / scale.ns;
    if (x1 <= 0 || x0 >= scale.width)
        return;
    let x = Math.max(Math.floor(x0), 0);
    const last = Math.min(Math.ceil(x1), scale.width);
    for (; x < last; x++)
        shares[x * parts + part] += (Math.min(x1, x + 1) - Math.max(x0, x)) * weight;
}

/** A thread's life as running; its waits are taken off by addExact. */
export function addLife(shares: Float32Array, scale: Scale, life: Span, within: Span): void {
    add(shares, PARTS, RUNNING, Math.max(life.from, within.from), Math.min(life.to, within.to), scale, 1);
}

const WAITING = STATES.indexOf("waiting");
const REACQUIRING = STATES.indexOf("reacquiring");
const NOTIFIED = new Set([INTERACTIONS.indexOf("notify"), INTERACTIONS.indexOf("notify-all")]);

/** Up to where an Object.wait was one: its notify, where that is known; of others their end. */
export function waitedUntil(row: ExactThread, k: number): number {
    const woken = row.state[k] === WAITING && NOTIFIED.has(row.how[k]) ? row.wake[k] : NaN;
    return woken < row.end[k] ? Math.max(woken, row.start[k]) : row.end[k];
}

/** Waits that are listed one by one, cut to the tile. */
export function addExact(shares: Float32Array, scale: Scale, row: ExactThread, within: Span, life: Span): void {
    addLife(shares, scale, life, within);
    for (let k = 0; k < row.n; k++) {
        const a = Math.max(row.start[k], within.from);
        const b = Math.min(row.end[k], within.to);
        if (b <= a)
            continue;
        const until = Math.min(Math.max(waitedUntil(row, k), a), b);
        add(shares, PARTS, partOf(row, k), a, until, scale, 1);
        add(shares, PARTS, REACQUIRING, until, b, scale, 1);
        add(shares, PARTS, RUNNING, Math.max(a, life.from), Math.min(b, life.to), scale, -1);
    }
    for (let k = 0; k < row.io.n; k++) {
        const a = Math.max(row.io.from[k], within.from, life.from), b = Math.min(row.io.to[k], within.to, life.to);
        if (b > a) {
            add(shares, PARTS, IO + haltOf(row.io.what[k]), a, b, scale, 1);
            add(shares, PARTS, RUNNING, a, b, scale, -1);
        }
    }
}

/** Those of a tile's 512 buckets that lie in sight and `within`, each cut to it. */
function eachBucket(scale: Scale, tile: Span, within: Span, visit: (k: number, from: number, to: number) => void): void {
    const bucket = (tile.to - tile.from) / BUCKETS;
    const a = Math.max(scale.from, within.from);
    const b = Math.min(scale.from + scale.width * scale.ns, within.to);
    const last = Math.min(BUCKETS, Math.ceil((b - tile.from) / bucket));
    for (let k = Math.max(0, Math.floor((a - tile.from) / bucket)); k < last; k++) {
        const from = tile.from + k * bucket;
        visit(k, Math.max(from, within.from), Math.min(from + bucket, within.to));
    }
}

/** Occupancy of a tile, the part of it that lies `within`. */
export function addCells(shares: Float32Array, scale: Scale, row: Cells, tile: Span, within: Span): void {
    eachBucket(scale, tile, within, (k, from, to) => {
        const at = k * CELL, locked = row.cells[at + 8], unknown = row.cells[at + 9];
        let waits = locked + unknown;
        if (locked)
            add(shares, PARTS, LOCKED, from, to, scale, locked / 255);
        if (unknown)
            add(shares, PARTS, UNKNOWN, from, to, scale, unknown / 255);
        for (let h = 0; h < HALTS.length; h++) {
            const share = row.cells[at + 10 + h];
            waits += share;
            if (share)
                add(shares, PARTS, IO + h, from, to, scale, share / 255);
        }
        for (let s = 0; s < 6; s++) {
            const share = row.cells[at + s] - (s === PARKED ? locked : 0);
            if (share) {
                waits += share;
                add(shares, PARTS, s, from, to, scale, share / 255);
            }
        }
        if (row.cells[at + 6] > waits)
            add(shares, PARTS, RUNNING, from, to, scale, (row.cells[at + 6] - waits) / 255);
    });
}

/** Of a lock's row: held, average queue, longest queue, waiters. */
export const LOCK_PARTS = 5;
export const enum LockPart { held, sure, queue, longest, waiters }

const uncode = Float32Array.from({ length: 256 }, (_, k) => 2 ** (k / 16) - 1);

/** queue and waiters are averages (threads), longest a maximum. */
export function addLockCells(columns: Float32Array, scale: Scale, row: LockCells, tile: Span, within: Span): void {
    eachBucket(scale, tile, within, (k, from, to) => {
        const at = k * 8;
        if (row.cells[at])
            add(columns, LOCK_PARTS, LockPart.held, from, to, scale, row.cells[at] / 255);
        if (row.cells[at + 2])
            add(columns, LOCK_PARTS, LockPart.queue, from, to, scale, uncode[row.cells[at + 2]]);
        if (row.cells[at + 4])
            add(columns, LOCK_PARTS, LockPart.waiters, from, to, scale, row.cells[at + 4] / 255);
        most(columns, LockPart.longest, from, to, scale, uncode[row.cells[at + 3]]);
    });
}

function most(columns: Float32Array, part: LockPart, a: number, b: number, scale: Scale, value: number): void {
    if (value <= 0)
        return;
    const first = Math.max(0, Math.floor((a - scale.from) / scale.ns));
    const last = Math.min(scale.width, Math.ceil((b - scale.from) / scale.ns));
    for (let x = first; x < last; x++)
        columns[x * LOCK_PARTS + part] = Math.max(columns[x * LOCK_PARTS + part], value);
}

/** Whether a wait queues for its lock: others block the thread. */
export function queues(row: ExactLock, k: number): boolean {
    return (row.flags[k] & FLAG.heldUp) !== 0;
}

export function addExactLock(columns: Float32Array, scale: Scale, row: ExactLock, within: Span): void {
    for (let k = 0; k < row.m; k++) {
        const a = Math.max(row.from[k], within.from);
        const b = Math.min(row.to[k], within.to);
        add(columns, LOCK_PARTS, LockPart.held, a, b, scale, 1);
        if (row.sure[k])
            add(columns, LOCK_PARTS, LockPart.sure, a, b, scale, 1);
    }
    const edges: { t: number; d: number }[] = [];
    for (let k = 0; k < row.n; k++) {
        const a = Math.max(row.start[k], within.from);
        const b = Math.min(row.end[k], within.to);
        if (b <= a)
            continue;
        if (queues(row, k)) {
            add(columns, LOCK_PARTS, LockPart.queue, a, b, scale, 1);
            edges.push({ t: a, d: 1 }, { t: b, d: -1 });
        } else {
            add(columns, LOCK_PARTS, LockPart.waiters, a, b, scale, 1);
        }
    }
    edges.sort((p, q) => p.t - q.t || p.d - q.d);
    let length = 0;
    edges.forEach((e, k) => {
        length += e.d;
        if (k + 1 < edges.length && edges[k + 1].t > e.t)
            most(columns, LockPart.longest, e.t, edges[k + 1].t, scale, length);
    });
}
