// cache.ts - what has been asked for and answered: tiles, arrows, path, by level and place.
//
// A question is answered at once from what is there; what is missing is asked for, once, and `arrived`
// is called when something has come.  The least lately used go when there is more than LIMIT bytes.
// While a tile is on its way the picture is made of a coarser or finer one that is there: `nearest`.
import type { Source } from "../source.ts";
import type { Arrows, PathTile, RowId, TileRow } from "../types.ts";
import { tileWidth } from "./tile.ts";

const LIMIT = 192 * 1024 * 1024;
const ROWS_AT_ONCE = 96;
const AT_ONCE = 6;
const SLOW_AT_ONCE = 3;

interface Place { level: number; i: number }

interface Tile extends Place {
    rows: Map<RowId, TileRow>;
    wanted: Set<RowId>;
    bytes: number;
    used: number;
}

interface Other<T> { value: T | null; used: number }

function weight(r: TileRow): number {
    switch (r.kind) {
    case "cells":
    case "lockcells":
        return r.cells.length;
    case "exact":
        return 64 + 39 * r.n;
    case "lock":
        return 64 + 26 * r.n + 21 * r.m;
    default:
        return 64;
    }
}

/** A source that answers from the page itself works in this very thread: the bars are to be seen first. */
const afterFrame = (): Promise<void> => new Promise((done) => { setTimeout(done); });

const key = (level: number, i: number): string => `${level}/${i}`;

export class Cache {
    private tiles = new Map<string, Tile>();
    private arrows = new Map<string, Other<Arrows>>();
    private paths = new Map<string, Other<PathTile>>();
    /** Of the generation before: drawn until the new one's have come. */
    private old: { tiles: Map<string, Tile>; arrows: Map<string, Other<Arrows>>; paths: Map<string, Other<PathTile>> } | null = null;
    private clock = 0;
    private bytes = 0;
    private going = 0;
    private goingSlow = 0;
    private queue: (() => Promise<void>)[] = [];
    private slow: (() => Promise<void>)[] = [];
    /** Answers to questions of before a new generation are not kept. */
    private generation = 0;
    /** Questions under way or waiting. */
    pending = 0;

    constructor(
        private readonly source: Source,
        private readonly arrived: () => void,
        private readonly failed: (e: unknown) => void,
    ) {}

    /** A new generation: keep what is there to be drawn until its successor comes, ask for all again. */
    renew(): void {
        this.generation++;
        this.queue = [];
        this.slow = [];
        this.pending = this.going;
        this.old = { tiles: this.tiles, arrows: this.arrows, paths: this.paths };
        this.tiles = new Map();
        this.arrows = new Map();
        this.paths = new Map();
        this.bytes = 0;
    }

    private run(job: () => Promise<void>, slow: boolean): void {
        this.pending++;
        // The newest question first: it is what the user looks at.
        (slow ? this.slow : this.queue).unshift(job);
        this.next();
    }

    /** Bars before the lines over them, which may take long and leave connections to the bars. */
    private take(): { job: () => Promise<void>; slow: boolean } | null {
        if (this.going >= AT_ONCE)
            return null;
        const job = this.queue.shift();
        if (job)
            return { job, slow: false };
        const slow = this.goingSlow < SLOW_AT_ONCE ? this.slow.shift() : undefined;
        return slow ? { job: slow, slow: true } : null;
    }

    private next(): void {
        for (let one = this.take(); one; one = this.take()) {
            const { job, slow } = one;
            const generation = this.generation;
            this.going++;
            this.goingSlow += Number(slow);
            (slow ? afterFrame().then(job) : job())
                .catch((e: unknown) => {
                    if (generation === this.generation)
                        this.failed(e);
                })
                .finally(() => {
                    this.going--;
                    this.goingSlow -= Number(slow);
                    this.pending = Math.max(0, this.pending - 1);
                    if (this.pending === 0 && generation === this.generation)
                        this.old = null;
                    this.arrived(); // also of before: `pending` has changed
                    this.next();
                });
        }
    }

    private tile(level: number, i: number): Tile {
        let t = this.tiles.get(key(level, i));
        if (!t) {
            t = { level, i, rows: new Map(), wanted: new Set(), bytes: 0, used: 0 };
            this.tiles.set(key(level, i), t);
        }
        t.used = ++this.clock;
        return t;
    }

    /** Ask for those of the rows that are not there. */
    want(level: number, i: number, rows: readonly RowId[]): void {
        const t = this.tile(level, i);
        const missing = rows.filter((r) => !t.rows.has(r) && !t.wanted.has(r));
        for (let k = 0; k < missing.length; k += ROWS_AT_ONCE)
            this.fetch(t, missing.slice(k, k + ROWS_AT_ONCE));
    }

    private fetch(t: Tile, rows: RowId[]): void {
        const generation = this.generation;
        for (const r of rows)
            t.wanted.add(r);
        this.run(async () => {
            try {
                const answer = await this.source.tile(t.level, t.i, rows);
                if (generation !== this.generation)
                    return;
                for (const [id, r] of answer) {
                    t.rows.set(id, r);
                    t.bytes += weight(r);
                    this.bytes += weight(r);
                }
                this.shrink();
            } finally {
                for (const r of rows)
                    t.wanted.delete(r);
            }
        }, false);
    }

    private shrink(): void {
        if (this.bytes <= LIMIT)
            return;
        for (const t of [...this.tiles.values()].sort((a, b) => a.used - b.used)) {
            if (this.bytes <= (LIMIT * 3) / 4)
                return;
            this.tiles.delete(key(t.level, t.i));
            this.bytes -= t.bytes;
        }
    }

    row(level: number, i: number, id: RowId): TileRow | undefined {
        return this.tiles.get(key(level, i))?.rows.get(id);
    }

    /** The part of a row between two times, from the best tiles there are: of this level, else of the nearest one. */
    cover(level: number, i: number, id: RowId): { level: number; i: number; row: TileRow }[] {
        const here = this.row(level, i, id);
        if (here)
            return [{ level, i, row: here }];
        for (let d = 1; d <= 6; d++) {
            const coarse = this.row(level + d, Math.floor(i / 2 ** d), id);
            if (coarse)
                return [{ level: level + d, i: Math.floor(i / 2 ** d), row: coarse }];
            if (d <= 2 && level - d >= 0) {
                const fine: { level: number; i: number; row: TileRow }[] = [];
                for (let k = 0; k < 2 ** d; k++) {
                    const r = this.row(level - d, i * 2 ** d + k, id);
                    if (r)
                        fine.push({ level: level - d, i: i * 2 ** d + k, row: r });
                }
                if (fine.length === 2 ** d)
                    return fine;
            }
        }
        const before = this.old?.tiles.get(key(level, i))?.rows.get(id);
        return before ? [{ level, i, row: before }] : [];
    }

    private other<T>(map: Map<string, Other<T>>, before: Map<string, Other<T>> | undefined, name: string, get: () => Promise<T>): T | null {
        let o = map.get(name);
        if (!o) {
            o = { value: before?.get(name)?.value ?? null, used: 0 };
            map.set(name, o);
            const made = o;
            this.run(async () => {
                try {
                    made.value = await get();
                } catch (e) {
                    map.delete(name);
                    throw e;
                }
            }, true);
            if (map.size > 400)
                for (const [k] of [...map].sort((a, b) => a[1].used - b[1].used).slice(0, 100))
                    map.delete(k);
        }
        o.used = ++this.clock;
        return o.value;
    }

    arrowsOf(level: number, i: number): Arrows | null {
        return this.other(this.arrows, this.old?.arrows, key(level, i), () => this.source.arrows(level, i));
    }

    pathOf(level: number, i: number): PathTile | null {
        return this.other(this.paths, this.old?.paths, key(level, i), () => this.source.path(level, i));
    }
}

/** The tiles of a level that a range touches. */
export function tilesOf(level: number, from: number, to: number): number[] {
    const w = tileWidth(level);
    const out: number[] = [];
    for (let i = Math.floor(from / w); i * w < to; i++)
        out.push(i);
    return out;
}
