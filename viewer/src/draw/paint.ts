// paint.ts - columns into pixels: one buffer for all rows, one putImageData a frame.
import type { Palette } from "./palette.ts";
import { LOOK } from "./palette.ts";
import { LOCK_PARTS, LockPart, PARTS } from "./columns.ts";

/** A buffer of pixels, and how many of them make a css pixel.  Columns are counted from the recording's beginning,
 * so that they hold the same while the view moves: the buffer begins with column `first`.  Painted are its pixels
 * from `left` to before `right`. */
export interface Buffer {
    pixels: Uint32Array;
    width: number;
    height: number;
    ratio: number;
    first: number;
    left: number; right: number;
}

/** Patterns repeat after this number of pixels at most, and move with the columns. */
const REPEAT = 16;
const phase = (b: Buffer): number => ((b.first % REPEAT) + REPEAT) % REPEAT;

/** From the top of a bar down: what blocks a thread first, running at the bottom. */
const ORDER = [LOOK.blocked, LOOK.reacquiring, LOOK.locked, LOOK.joining, LOOK.waiting, LOOK.parked, LOOK.sleeping, LOOK.unknown, LOOK.io, LOOK.off, LOOK.stopped, LOOK.ready, LOOK.running];
/** These are seen however short they are. */
const ALWAYS = new Set<number>([LOOK.blocked, LOOK.reacquiring, LOOK.locked]);

/** One column of a pattern. */
function stroke(b: Buffer, pattern: Uint32Array, x: number, y0: number, y1: number, shift: number): void {
    const px = ((x + phase(b)) >> shift) & 7;
    for (let y = y0, at = y0 * b.width + x; y < y1; y++, at += b.width)
        b.pixels[at] = pattern[(((y >> shift) & 7) << 3) | px];
}

/** The lines of each look, as wide as the widest buffer yet: stretches of one look are copied. */
class Lines {
    private of: Uint32Array[][] = [];
    private width = 0;
    private made: Palette | null = null;
    private shift = -1;

    get(p: Palette, width: number, shift: number): Uint32Array[][] {
        if (this.made !== p || this.width < width || this.shift !== shift) {
            this.made = p;
            this.width = width;
            this.shift = shift;
            this.of = p.pattern.map((pattern) => Array.from({ length: 8 }, (_, y) =>
                Uint32Array.from({ length: width + REPEAT }, (_unused, x) => pattern[(y << 3) | ((x >> shift) & 7)])));
        }
        return this.of;
    }
}
const lines = new Lines();

const NONE = 15;
const SEGMENTS = PARTS + 1; // and what is missing on top
/** Of the row being painted: where the looks of a column end, from the top, and which they are. */
let ends = new Uint16Array(0);
let looks = new Uint8Array(0);
let current = new Uint8Array(0);

/** The bar of a column as segments from the top; the look that fills it all, or NONE. */
function segments(shares: Float32Array, x: number, height: number): number {
    const at = x * PARTS;
    let out = x * SEGMENTS;
    let sum = 0;
    for (let s = 0; s < PARTS; s++)
        sum += shares[at + s];
    looks[out] = NONE;
    ends[out] = height;
    if (sum <= 0.0005)
        return NONE;
    // The bar stands on the bottom: what is missing on top is time in which the thread did not live.
    let rest = Math.min(sum, 1);
    let y = height - Math.min(height, Math.max(1, Math.round(rest * height)));
    if (y > 0) {
        ends[out] = y;
        out++;
    }
    const first = out;
    for (const look of ORDER) {
        const share = shares[at + look];
        if (share <= 0.0005)
            continue;
        rest -= share;
        const least = ALWAYS.has(look) ? 1 : 0;
        const end = rest <= 0.0005 ? height : Math.min(height, Math.max(y + least, height - Math.round(rest * height)));
        if (end > y) {
            ends[out] = end;
            looks[out] = look;
            out++;
            y = end;
        }
    }
    if (y < height)
        ends[out - 1] = height;
    return out === first + 1 && first === x * SEGMENTS ? looks[first] : NONE;
}

/** A thread's bar between the pixel rows `top` and `bottom`, of which those from `clip` on are in sight. */
export function paintThread(b: Buffer, p: Palette, shares: Float32Array, top: number, bottom: number, clip: number): void {
    const width = b.right - b.left;
    if (ends.length < width * SEGMENTS) {
        ends = new Uint16Array(width * SEGMENTS);
        looks = new Uint8Array(width * SEGMENTS);
        current = new Uint8Array(width);
    }
    const height = bottom - top;
    let x = 0;
    while (x < width) {
        const look = segments(shares, x, height);
        let end = x + 1;
        if (look === NONE) {
            while (end < width && segments(shares, end, height) === NONE)
                end++;
            mixed(b, p, x, end, top, bottom, clip);
        } else {
            while (end < width && segments(shares, end, height) === look)
                end++;
            solid(b, p, look, b.left + x, b.left + end, Math.max(top, clip), Math.min(bottom, b.height));
        }
        x = end;
    }
}

function solid(b: Buffer, p: Palette, look: number, x0: number, x1: number, top: number, bottom: number): void {
    const shift = b.ratio >= 1.5 ? 1 : 0, from = phase(b);
    const line = lines.get(p, b.width, shift)[look];
    for (let y = top; y < bottom; y++)
        b.pixels.set(line[(y >> shift) & 7].subarray(x0 + from, x1 + from), y * b.width + x0);
}

/** Line by line, so that memory is written in order; x: from b.left. */
function mixed(b: Buffer, p: Palette, x0: number, x1: number, top: number, bottom: number, clip: number): void {
    const shift = b.ratio >= 1.5 ? 1 : 0, move = phase(b) + b.left;
    const flat = p.flat;
    const pixels = b.pixels;
    current.fill(0, x0, x1);
    for (let y = top; y < Math.min(bottom, b.height); y++) {
        const row = ((y >> shift) & 7) << 3;
        const from = y * b.width + b.left;
        for (let x = x0; x < x1; x++) {
            let at = x * SEGMENTS + current[x];
            while (y - top >= ends[at]) {
                current[x]++;
                at++;
            }
            if (looks[at] !== NONE && y >= clip)
                pixels[from + x] = flat[(looks[at] << 6) | row | (((x + move) >> shift) & 7)];
        }
    }
}

/** A whole stretch of one look. */
export function paintSolid(b: Buffer, pattern: Uint32Array, x0: number, x1: number, top: number, bottom: number): void {
    const shift = b.ratio >= 1.5 ? 1 : 0;
    for (let x = Math.max(b.left, x0); x < Math.min(x1, b.right); x++)
        stroke(b, pattern, x, top, bottom, shift);
}

/** A lock's bar: who holds it as a band at the bottom, the queue above it, as high as it is long. */
export function paintLock(b: Buffer, p: Palette, columns: Float32Array, top: number, bottom: number, longest: number): void {
    const shift = b.ratio >= 1.5 ? 1 : 0;
    const band = Math.max(2, Math.round((bottom - top) * 0.3));
    const room = bottom - band - top;
    const unit = room / Math.log2(1 + Math.max(longest, 1));
    for (let x = b.left; x < b.right; x++) {
        const at = (x - b.left) * LOCK_PARTS;
        const held = Math.min(1, columns[at + LockPart.held]);
        if (held > 0.0005)
            stroke(b, p.pattern[LOOK.held], x, bottom - Math.max(1, Math.round(held * band)), bottom, shift);
        const waiters = columns[at + LockPart.waiters];
        if (waiters > 0.0005)
            stroke(b, p.pattern[LOOK.waiting], x, bottom - band - Math.min(room, Math.max(1, Math.round(Math.log2(1 + waiters) * unit))), bottom - band, shift);
        const queue = columns[at + LockPart.queue];
        if (queue > 0.0005)
            stroke(b, p.pattern[LOOK.queue], x, bottom - band - Math.min(room, Math.max(1, Math.round(Math.log2(1 + queue) * unit))), bottom - band, shift);
    }
}

/** Background, stripes of rows, vertical grid lines. */
export function paintGround(b: Buffer, p: Palette, rowHeight: number, first: number, lines: readonly number[]): void {
    for (let y = 0; y < b.height; y++) {
        const k = Math.floor((y + first) / rowHeight);
        b.pixels.fill(k % 2 ? p.stripe : p.background, y * b.width + b.left, y * b.width + b.right);
    }
    for (const x of lines)
        if (x >= b.left && x < b.right)
            for (let y = 0, at = x; y < b.height; y++, at += b.width)
                b.pixels[at] = p.grid;
}
