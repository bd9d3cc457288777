// tile.ts - the binary answers of the view protocol as typed arrays over the bytes that came: nothing is copied.
//
// Every length is checked against the bytes there are: a wrong answer is a SourceError, never a wrong picture.
import { SourceError } from "../source.ts";
import type { Arrows, PathTile, RowId, TileRow } from "../types.ts";
import { BUCKETS, CELL } from "../types.ts";

const MAGIC_TILE = 0x314c544f;
const MAGIC_ARROWS = 0x3152414f;
const MAGIC_PATH = 0x3141504f;

/** Columns behind each other, each at a multiple of 8 bytes. */
class Columns {
    constructor(private readonly bytes: ArrayBuffer, private at: number) {}

    private take(size: number, n: number): number {
        const at = this.at;
        const end = at + size * n;
        if (at % 8 || end > this.bytes.byteLength)
            throw new SourceError(`the answer is incomplete: ${this.bytes.byteLength} bytes, ${end} were announced`);
        this.at = (end + 7) & ~7;
        return at;
    }
    f64(n: number): Float64Array {
        return new Float64Array(this.bytes, this.take(8, n), n);
    }
    u32(n: number): Uint32Array {
        return new Uint32Array(this.bytes, this.take(4, n), n);
    }
    u8(n: number): Uint8Array {
        return new Uint8Array(this.bytes, this.take(1, n), n);
    }
}

function head(bytes: ArrayBuffer, magic: number, words: number): Uint32Array {
    if (bytes.byteLength < 4 * words || new DataView(bytes).getUint32(0, true) !== magic)
        throw new SourceError("the answer does not match the request: page and server have different versions; reload the page");
    return new Uint32Array(bytes, 0, words);
}

function row(bytes: ArrayBuffer, kind: number, n: number, m: number, offset: number): TileRow {
    const c = new Columns(bytes, offset);
    switch (kind) {
    case 0:
        return {
            kind: "exact", n, start: c.f64(n), end: c.f64(n), wake: c.f64(n), index: c.u32(n), context: c.u32(n),
            waker: c.u32(n), state: c.u8(n), flags: c.u8(n), how: c.u8(n),
            io: { n: m, from: c.f64(m), to: c.f64(m), peer: c.u32(m), what: c.u8(m) },
        };
    case 1:
        return { kind: "cells", cells: c.u8(BUCKETS * CELL) };
    case 2:
        return {
            kind: "lock", n, m, start: c.f64(n), end: c.f64(n), from: c.f64(m), to: c.f64(m), thread: c.u32(n),
            index: c.u32(n), owner: c.u32(m), state: c.u8(n), flags: c.u8(n), sure: c.u8(m),
        };
    case 3:
        return { kind: "lockcells", cells: c.u8(BUCKETS * 8) };
    default:
        return { kind: "nothing" };
    }
}

export function decodeTile(bytes: ArrayBuffer, rows: readonly RowId[]): Map<RowId, TileRow> {
    const n = head(bytes, MAGIC_TILE, 2)[1];
    if (n !== rows.length || bytes.byteLength < 8 + 16 * n)
        throw new SourceError(`the answer has ${n} rows instead of ${rows.length}`);
    const directory = new Uint32Array(bytes, 8, 4 * n);
    return new Map(rows.map((id, k) => [
        id, row(bytes, directory[4 * k], directory[4 * k + 1], directory[4 * k + 2], directory[4 * k + 3]),
    ]));
}

export function decodeArrows(bytes: ArrayBuffer): Arrows {
    const [, kind, n, left_out] = head(bytes, MAGIC_ARROWS, 4);
    const c = new Columns(bytes, 16);
    return kind === 0
        ? {
            kind: "exact", n, left_out, from_time: c.f64(n), to_time: c.f64(n), from: c.u32(n), to: c.u32(n),
            index: c.u32(n), how: c.u8(n),
        }
        : {
            kind: "bundles", n, left_out, wait_ns: c.f64(n), from: c.u32(n), to: c.u32(n), count: c.u32(n), slot: c.u32(n),
            how: c.u8(n),
        };
}

export function decodePath(bytes: ArrayBuffer): PathTile {
    const [, kind, n] = head(bytes, MAGIC_PATH, 4);
    const c = new Columns(bytes, 16);
    return kind === 0
        ? {
            kind: "exact", n, from: c.f64(n), to: c.f64(n), thread: c.u32(n), lock: c.u32(n), stack: c.u32(n),
            segment: c.u8(n), state: c.u8(n),
        }
        : { kind: "buckets", thread: c.u32(n), segment: c.u8(n), share: c.u8(n) };
}

/** The level whose buckets are at most one pixel of `ns` wide. */
export function levelOf(ns: number): number {
    return Math.min(Math.max(Math.floor(Math.log2(Math.max(ns, 1))), 0), 44);
}

export function tileWidth(level: number): number {
    return BUCKETS * 2 ** level;
}
