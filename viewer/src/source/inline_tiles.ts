// inline_tiles.ts - what a page of packed "tiles" has: ready tiles of one level and all coarser ones, of all
// threads, pools and groups.  Finer levels are cut out of the finest one: its cells, wider.
import { SourceError } from "../source.ts";
import { BUCKETS, CELL, FLAG, haltOf } from "../types.ts";
import type { Arrows, Bundles, ExactArrows, ExactPath, PathBuckets, PathTile, RowId, TileRow } from "../types.ts";
import { ARROWS_MAX, buckets, pathOf } from "./inline_arrows.ts";
import { Columns, damaged } from "./inline_bytes.ts";
import type { Sections } from "./inline_bytes.ts";
import type { PackMeta, Segments } from "./inline_pack.ts";
import { columnOf, frameOf, share, spread } from "./inline_tile.ts";
import type { Frame } from "./inline_tile.ts";
import { decodeArrows, decodePath, decodeTile } from "./tile.ts";

const SLOTS = 64;
/** Tiles of the coarsest level on either side of 0 that are looked at. */
const SIDE = 64;
const NOTHING: TileRow = { kind: "nothing" };

/** Answers by level and number, still as bytes. */
class Shelf {
    finest = 64;
    coarsest = -1;
    private readonly at = new Map<string, Uint8Array<ArrayBuffer>>();

    constructor(section: Uint8Array<ArrayBuffer> | undefined, name: string) {
        if (!section)
            return;
        const c = new Columns(section, name), n = c.head();
        const table = c.u8(n * 16), bytes = c.rest();
        const view = new DataView(table.buffer, table.byteOffset, table.byteLength);
        let from = 0;
        for (let k = 0; k < n; k++) {
            const i = Number(view.getBigInt64(k * 16, true)), level = view.getUint32(k * 16 + 8, true), length = view.getUint32(k * 16 + 12, true);
            if (length > bytes.length - from || level > 44)
                throw damaged(`section ${name} is cut`);
            this.at.set(`${level} ${i}`, bytes.subarray(from, from + length));
            from = Math.ceil((from + length) / 8) * 8;
            this.finest = Math.min(this.finest, level);
            this.coarsest = Math.max(this.coarsest, level);
        }
    }

    get(level: number, i: number): ArrayBuffer | null {
        return this.at.get(`${level} ${i}`)?.slice().buffer ?? null;
    }
}

export class Tiles {
    private readonly tiles: Shelf;
    private readonly arrows: Shelf;
    private readonly paths: Shelf;
    /** All segments, where they were few enough. */
    private readonly segments: Segments | null;
    private readonly rows: RowId[];
    private readonly decoded = new Map<string, Map<RowId, TileRow>>();

    constructor(all: Sections, meta: PackMeta) {
        this.tiles = new Shelf(all.get("tiles"), "tiles");
        this.arrows = new Shelf(all.get("arrows"), "arrows");
        this.paths = new Shelf(filled(all, "paths"), "paths");
        const whole = filled(all, "path"), path = whole ? decodePath(whole.slice().buffer) : null;
        this.segments = path?.kind === "exact" ? segmentsOf(path) : null;
        const of = (kind: string, n: number) => Array.from({ length: n }, (_, i) => `${kind}${i}`);
        this.rows = [...of("t", meta.threads.id.length), ...of("p", meta.pools.name.length), ...of("g", meta.groups.name.length)];
    }

    tile(level: number, i: number, rows: readonly RowId[]): Map<RowId, TileRow> {
        const f = frameOf(level, i);
        if (level > this.tiles.coarsest)
            return new Map(rows.map((r) => [r, this.joined(f, parts(level, i, this.tiles.coarsest), r)]));
        const stored = Math.max(level, this.tiles.finest), factor = 2 ** (stored - level), whole = Math.floor(i / factor);
        const answer = this.whole(stored, whole);
        return new Map(rows.map((r) => [r, widened(answer.get(r) ?? NOTHING, factor, i - whole * factor)]));
    }

    private whole(level: number, i: number): Map<RowId, TileRow> {
        const name = `${level} ${i}`;
        let answer = this.decoded.get(name);
        if (!answer) {
            const bytes = this.tiles.get(level, i);
            this.decoded.set(name, (answer = bytes ? decodeTile(bytes, this.rows) : new Map()));
        }
        return answer;
    }

    /** A level coarser than the coarsest: a row that lies in one of its tiles is that tile, else
     * the sums of all. */
    private joined(f: Frame, of: number[], row: RowId): TileRow {
        const level = this.tiles.coarsest;
        const found = of.map((i) => ({ i, row: this.whole(level, i).get(row) ?? NOTHING })).filter((x) => x.row.kind !== "nothing");
        if (found.length === 0)
            return NOTHING;
        if (found.length === 1 && found[0].row.kind === "exact")
            return found[0].row;
        const sums = new Float64Array(BUCKETS * CELL);
        for (const x of found)
            addRow(sums, f, frameOf(level, x.i), x.row);
        return { kind: "cells", cells: Uint8Array.from(sums, (v, k) => (k % CELL === 7 ? Math.min(v, 255) : share(v / f.bucket))) };
    }

    arrowsOf(level: number, i: number): Arrows {
        const f = frameOf(level, i);
        if (level > this.arrows.coarsest)
            return joinedArrows(parts(level, i, this.arrows.coarsest).map((k) => this.storedArrows(this.arrows.coarsest, k)), 2 ** (level - this.arrows.coarsest));
        const stored = Math.max(level, this.arrows.finest), factor = 2 ** (stored - level), whole = Math.floor(i / factor);
        const answer = this.storedArrows(stored, whole);
        if (factor === 1)
            return answer;
        return answer.kind === "bundles" ? partOf(answer, factor, i - whole * factor) : within(answer, f);
    }

    pathOf(level: number, i: number): PathTile {
        const f = frameOf(level, i);
        if (this.segments)
            return pathOf(this.segments, f);
        if (level > this.paths.coarsest)
            return buckets(pieces(parts(level, i, this.paths.coarsest).map((k) => [frameOf(this.paths.coarsest, k), this.storedPath(this.paths.coarsest, k)])), f, 0);
        const stored = Math.max(level, this.paths.finest), factor = 2 ** (stored - level), whole = Math.floor(i / factor);
        const answer = this.storedPath(stored, whole);
        return answer.kind === "exact" ? pathOf(segmentsOf(answer), f) : widenedPath(answer, factor, i - whole * factor);
    }

    private storedPath(level: number, i: number): PathTile {
        const bytes = this.paths.get(level, i);
        return bytes ? decodePath(bytes) : NO_PATH;
    }

    private storedArrows(level: number, i: number): Arrows {
        const bytes = this.arrows.get(level, i);
        return bytes ? decodeArrows(bytes) : bundlesOf([]);
    }
}

/** The tiles of a finer level that a tile is made of, as far as there can be any. */
function parts(level: number, i: number, finer: number): number[] {
    if (finer < 0)
        return [];
    const factor = 2 ** (level - finer), from = Math.max(i * factor, -SIDE), to = Math.min((i + 1) * factor, SIDE);
    return Array.from({ length: Math.max(to - from, 0) }, (_, k) => from + k);
}

// --- rows -----------------------------------------------------------------------------------------------

/** One of `factor` parts of a tile: its cells are shares, and so hold for each part of their bucket. */
function widened(row: TileRow, factor: number, at: number): TileRow {
    if (row.kind !== "cells" || factor === 1)
        return row;
    const cells = new Uint8Array(BUCKETS * CELL);
    for (let b = 0; b < BUCKETS; b++) {
        const from = Math.floor((at * BUCKETS + b) / factor) * CELL;
        cells.set(row.cells.subarray(from, from + CELL), b * CELL);
    }
    return { kind: "cells", cells };
}

/** ns in each state, and number of waits, of a finer tile. */
function addRow(sums: Float64Array, f: Frame, of: Frame, row: TileRow): void {
    if (row.kind === "cells")
        for (let b = 0; b < BUCKETS; b++) {
            const to = Math.floor((of.from + b * of.bucket - f.from) / f.bucket) * CELL;
            for (let s = 0; s < CELL; s++)
                sums[to + s] += s === 7 ? row.cells[b * CELL + s] : (row.cells[b * CELL + s] / 255) * of.bucket;
        }
    if (row.kind === "exact")
        for (let k = 0; k < row.n; k++) {
            for (const part of row.flags[k] & FLAG.heldUp ? [columnOf(row.state[k]), 6, 8] : [columnOf(row.state[k]), 6])
                spread(sums, part, CELL, f, Math.max(row.start[k], of.from), Math.min(row.end[k], of.to));
        }
    if (row.kind === "exact")
        for (let k = 0; k < row.io.n; k++)
            for (const part of [10 + haltOf(row.io.what[k]), 6])
                spread(sums, part, CELL, f, Math.max(row.io.from[k], of.from), Math.min(row.io.to[k], of.to));
}

// --- path -----------------------------------------------------------------------------------------------

const NO_PATH: PathBuckets = { kind: "buckets", thread: new Uint32Array(BUCKETS), segment: new Uint8Array(BUCKETS), share: new Uint8Array(BUCKETS) };

function filled(all: Sections, name: string): Uint8Array<ArrayBuffer> | undefined {
    const bytes = all.get(name);
    return bytes?.length ? bytes : undefined;
}

const segmentsOf = ({ segment, ...p }: ExactPath): Segments => ({ ...p, kind: segment });

/** One of `factor` parts of a tile's buckets, each as many times as it has parts. */
function widenedPath(p: PathBuckets, factor: number, at: number): PathBuckets {
    const value = (v: ArrayLike<number>) => (_: unknown, b: number): number => v[Math.floor((at * BUCKETS + b) / factor)];
    const length = { length: BUCKETS };
    return { kind: "buckets", thread: Uint32Array.from(length, value(p.thread)), segment: Uint8Array.from(length, value(p.segment)), share: Uint8Array.from(length, value(p.share)) };
}

/** Segments as long as what tiles say of their threads, to be added up again: where in a bucket they were is lost. */
function pieces(tiles: [Frame, PathTile][]): Segments {
    const from: number[] = [], to: number[] = [], thread: number[] = [], kind: number[] = [];
    for (const [f, p] of tiles)
        for (let k = 0; k < (p.kind === "exact" ? p.n : BUCKETS); k++) {
            const at = p.kind === "exact" ? p.from[k] : f.from + k * f.bucket;
            const end = p.kind === "exact" ? p.to[k] : at + (p.share[k] / 255) * f.bucket;
            if (end <= at)
                continue;
            from.push(at);
            to.push(end);
            thread.push(p.thread[k]);
            kind.push(p.segment[k]);
        }
    const n = from.length, none = new Uint32Array(n);
    return { n, from: Float64Array.from(from), to: Float64Array.from(to), thread: Uint32Array.from(thread), lock: none, stack: none, kind: Uint8Array.from(kind), state: new Uint8Array(n) };
}

// --- arrows ---------------------------------------------------------------------------------------------

interface Bundle { wait_ns: number; from: number; to: number; count: number; slot: number; how: number }

function bundlesOf(list: Bundle[], left_out = 0): Bundles {
    const u32 = (f: (b: Bundle) => number) => Uint32Array.from(list, f);
    return {
        kind: "bundles", n: list.length, left_out, wait_ns: Float64Array.from(list, (b) => b.wait_ns), from: u32((b) => b.from), to: u32((b) => b.to),
        count: u32((b) => b.count), slot: u32((b) => b.slot), how: Uint8Array.from(list, (b) => b.how),
    };
}

const bundle = (b: Bundles, k: number, slot: number): Bundle => ({ wait_ns: b.wait_ns[k], from: b.from[k], to: b.to[k], count: b.count[k], slot, how: b.how[k] });

/** The bundles whose middle lies in one of `factor` parts of their tile. */
function partOf(b: Bundles, factor: number, at: number): Bundles {
    const kept: Bundle[] = [];
    for (let k = 0; k < b.n; k++) {
        const middle = ((b.slot[k] + 0.5) / SLOTS) * factor - at;
        if (middle >= 0 && middle < 1)
            kept.push(bundle(b, k, Math.floor(middle * SLOTS)));
    }
    return bundlesOf(kept);
}

function within(a: ExactArrows, f: Frame): ExactArrows {
    const list: number[] = [];
    for (let k = 0; k < a.n; k++)
        if (a.to_time[k] >= f.from && a.to_time[k] < f.to)
            list.push(k);
    const u32 = (v: Uint32Array) => Uint32Array.from(list, (k) => v[k]);
    return {
        kind: "exact", n: list.length, left_out: 0, from_time: Float64Array.from(list, (k) => a.from_time[k]), to_time: Float64Array.from(list, (k) => a.to_time[k]),
        from: u32(a.from), to: u32(a.to), index: u32(a.index), how: Uint8Array.from(list, (k) => a.how[k]),
    };
}

/** `factor` tiles as one; where only one has arrows that are listed one by one, these. */
function joinedArrows(all: Arrows[], factor: number): Arrows {
    const some = all.filter((a) => a.n > 0);
    if (some.length === 1 && some[0].kind === "exact")
        return some[0];
    const list: Bundle[] = [];
    all.forEach((a, i) => {
        for (let k = 0; k < a.n; k++)
            list.push(a.kind === "bundles" ? bundle(a, k, Math.floor((i * SLOTS + a.slot[k]) / factor))
                : { wait_ns: a.to_time[k] - a.from_time[k], from: a.from[k], to: a.to[k], count: 1, slot: Math.floor((i * SLOTS) / factor), how: a.how[k] });
    });
    list.sort((x, y) => y.wait_ns - x.wait_ns);
    const left = list.slice(ARROWS_MAX).reduce((sum, b) => sum + b.count, 0) + all.reduce((sum, a) => sum + a.left_out, 0);
    return bundlesOf(list.slice(0, ARROWS_MAX), left);
}

/** For what a page without waits cannot answer. */
export function onlyOverview(what: string): SourceError {
    return new SourceError(`This page holds only the overview, not the single waits; ${what} need them: open the trace with orca view, or make the page with orca html --exact.`);
}
