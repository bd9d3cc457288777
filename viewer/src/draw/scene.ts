// scene.ts - one picture of the rows: from the cache's tiles to the two canvases.
//
// The base (bars, arrows, path) is drawn when the view changes or an answer comes: the bars as a buffer of
// pixels, the lines over them.  The overlay (marks, hover) is drawn alone when only the mouse moved, and is
// hidden when there is nothing on it, since laying one picture over another costs as much as drawing it.
import type { Cache } from "../source/cache.ts";
import { tilesOf } from "../source/cache.ts";
import { levelOf, tileWidth } from "../source/tile.ts";
import { context } from "../contexts.ts";
import { duration, simple } from "../format.ts";
import type { Row } from "../rows.ts";
import { ROW } from "../rows.ts";
import type { Range } from "../state.ts";
import type { ExactThread, Interaction, Meta, ThreadMark, TileRow } from "../types.ts";
import { FLAG, THREAD } from "../types.ts";
import type { Arrow, Drawn, Gathering, Sight } from "./arrows.ts";
import { arrowAt, collect, drawArrows, NOTHING_DRAWN } from "./arrows.ts";
import { ticks } from "./axis.ts";
import type { Scale } from "./columns.ts";
import { addCells, addExact, addExactLock, addLife, addLockCells, LOCK_PARTS, PARTS } from "./columns.ts";
import type { Lanes } from "./lane.ts";
import { drawLane } from "./lane.ts";
import type { Buffer } from "./paint.ts";
import { paintGround, paintLock, paintSolid, paintThread } from "./paint.ts";
import type { Mark, MarkKind } from "./marks.ts";
import { BOX_FROM_PX, drawMarks } from "./marks.ts";
import { drawThreadMark, lookOf } from "./thread_marks.ts";
import type { Palette } from "./palette.ts";
import { LOOK } from "./palette.ts";
import { drawPath, stretches } from "./path.ts";

const BAR = 16; // css pixels of a row that its bar takes
const PATH_BELOW = 5; // the path's line below the middle of a row

/** What there is to be drawn. */
export interface Picture {
    meta: Meta;
    view: Range;
    width: number; height: number; // css pixels
    ratio: number;
    rows: readonly Row[];
    pinned: number; // of the rows, the number on top
    scroll: number; // css pixels
    rowOfThread: ReadonlyMap<number, number>;
    palette: Palette;
    textScale: number;
    longest: ReadonlyMap<number, number>; // longest queue by lock
    arrows: ReadonlySet<Interaction> | null; // null: none
    path: boolean;
    threadMarks: readonly ThreadMark[]; // by thread rows: calls, notifies in vain
    lanes: Lanes | null; // what threads allocate; null: none
    tiles: number; // another one when there are other tiles
}

export interface Overlay {
    marked: Range | null;
    hoverX: number | null;
    /** Rows that are lit up: threads, locks. */
    lit: { thread?: number; lock?: number; also?: readonly number[] } | null;
    chosen: { thread: number; from: number; to: number } | null;
    chain: readonly { thread: number; from: number; to: number }[];
    focus: number | null; // row
}

/** What says where a row stands. */
export type Rows = Pick<Picture, "rows" | "pinned" | "scroll" | "height">;

export function yOfRow(p: Rows, k: number): number {
    return k < p.pinned ? k * ROW : k * ROW - p.scroll;
}

export function rowAtY(p: Rows, y: number): number {
    const k = y < p.pinned * ROW ? Math.floor(y / ROW) : Math.floor((y + p.scroll) / ROW);
    return k >= 0 && k < p.rows.length ? k : -1;
}

/** The rows in sight, those of the pinned ones first. */
export function inSight(p: Rows): number[] {
    const out: number[] = [];
    for (let k = 0; k < Math.min(p.pinned, p.rows.length); k++)
        out.push(k);
    const top = p.pinned * ROW;
    const first = Math.max(p.pinned, Math.floor((top + p.scroll) / ROW));
    for (let k = first; k < p.rows.length && yOfRow(p, k) < p.height; k++)
        out.push(k);
    return out;
}

export function nsPerPixel(p: Picture): number {
    return (p.view.to - p.view.from) / Math.max(1, p.width);
}

export function levelOfPicture(p: Picture): number {
    return levelOf(nsPerPixel(p) / p.ratio);
}

interface Part { level: number; i: number; row: TileRow }

const spanOf = (t: { level: number; i: number }): Range => ({ from: t.i * tileWidth(t.level), to: (t.i + 1) * tileWidth(t.level) });

/** A coarser tile is cut to the place that it stands in for. */
function cutTo(part: Part, place: { level: number; i: number }): Range {
    const tile = spanOf(part), here = spanOf(place);
    return { from: Math.max(tile.from, here.from), to: Math.min(tile.to, here.to) };
}

/** Whether the bars of two pictures differ in nothing but the time that is visible. */
function sameBars(a: Picture, b: Picture): boolean {
    return a.meta === b.meta && a.rows === b.rows && a.pinned === b.pinned && a.scroll === b.scroll && a.width === b.width && a.height === b.height &&
        a.ratio === b.ratio && a.palette === b.palette && a.longest === b.longest && a.tiles === b.tiles;
}

interface Label { x0: number; x1: number; y: number; context: number; ns: number }

export class Scene {
    private buffer: ImageData | null = null;
    private shares = new Float32Array(0);
    /** The bars that are in the buffer: of what, from which column on, of how many ns each. */
    private painted: { p: Picture; first: number; ns: number } | null = null;
    /** What was drawn last, for who wants to know what is under the mouse. */
    drawn: Drawn = NOTHING_DRAWN;
    marked: readonly Mark[] = [];
    private gathered: Gathering | null = null;
    /** ms of the last frames. */
    times: number[] = [];

    constructor(
        private readonly base: HTMLCanvasElement,
        private readonly over: HTMLCanvasElement,
        private readonly cache: Cache,
    ) {}

    private fit(p: Picture): Buffer {
        const width = Math.max(1, Math.round(p.width * p.ratio));
        const height = Math.max(1, Math.round(p.height * p.ratio));
        for (const c of [this.base, this.over])
            if (c.width !== width || c.height !== height) {
                c.width = width;
                c.height = height;
                c.style.width = `${p.width}px`;
                c.style.height = `${p.height}px`;
            }
        if (!this.buffer || this.buffer.width !== width || this.buffer.height !== height) {
            this.buffer = new ImageData(width, height);
            this.shares = new Float32Array(width * Math.max(PARTS, LOCK_PARTS));
            this.painted = null;
        }
        return { pixels: new Uint32Array(this.buffer.data.buffer), width, height, ratio: p.ratio, first: 0, left: 0, right: width };
    }

    /** Move what stays in sight, and leave what has come into it to be painted; ns of a column. */
    private move(p: Picture, b: Buffer): number {
        const was = this.painted;
        let ns = nsPerPixel(p) / p.ratio;
        const same = was !== null && sameBars(was.p, p) && Math.abs(was.ns / ns - 1) < 1e-9;
        ns = same ? was.ns : ns;
        b.first = Math.round(p.view.from / ns);
        const by = same ? b.first - was.first : b.width;
        if (Math.abs(by) < b.width) {
            b.pixels.copyWithin(Math.max(-by, 0), Math.max(by, 0), b.pixels.length - Math.max(-by, 0));
            b.left = by > 0 ? b.width - by : 0;
            b.right = by > 0 ? b.width : -by;
        }
        this.painted = { p, first: b.first, ns };
        return ns;
    }

    /** Ask for what the picture needs and is not there. */
    want(p: Picture): void {
        const level = levelOfPicture(p);
        const ids = inSight(p).filter((k) => !p.rows[k].bare).map((k) => p.rows[k].id);
        if (!ids.length || p.meta.phase)
            return;
        for (const i of tilesOf(level, Math.max(p.view.from, p.meta.from), Math.min(p.view.to, p.meta.to)))
            this.cache.want(level, i, [...new Set(ids)]);
    }

    drawBase(p: Picture): void {
        const began = performance.now();
        const b = this.fit(p);
        const ns = this.move(p, b);
        const labels: Label[] = [];
        if (b.left < b.right)
            this.bars(p, b, ns);
        for (const k of inSight(p))
            this.labelsOf(p, k, labels);
        const g = this.base.getContext("2d", { alpha: false, willReadFrequently: true })!;
        g.putImageData(this.buffer!, 0, 0);
        this.labels(p, g, labels);
        this.marks(p, g);
        this.lanes(p, g);
        this.threadMarks(p, g);
        this.lines(p, g);
        this.times.push(performance.now() - began);
        if (this.times.length > 240)
            this.times.shift();
    }

    private bars(p: Picture, b: Buffer, ns: number): void {
        const marks = ticks(p.view.from, p.view.to, p.width).map((t) => Math.floor(t.time / ns) - b.first);
        paintGround(b, p.palette, ROW * p.ratio, Math.round(p.scroll * p.ratio), marks);
        const scale: Scale = { from: (b.first + b.left) * ns, ns, width: b.right - b.left };
        // The pinned rows last: what scrolls goes under them.
        for (const k of inSight(p).reverse())
            this.row(p, b, k, scale);
        this.collections(p, b, ns);
    }

    /** What there is of a row in the tiles of this level, or of the nearest. */
    private parts(p: Picture, row: Row, from: number, to: number, visit: (part: Part, within: Range) => void): void {
        const level = levelOfPicture(p);
        for (const i of tilesOf(level, Math.max(from, p.meta.from), Math.min(to, p.meta.to)))
            for (const part of this.cache.cover(level, i, row.id))
                visit(part, cutTo(part, part.level >= level ? { level, i } : part));
    }

    private row(p: Picture, b: Buffer, k: number, scale: Scale): void {
        const row = p.rows[k];
        const y = yOfRow(p, k);
        const top = Math.round((y + (ROW - BAR) / 2) * p.ratio);
        const bottom = Math.round((y + (ROW + BAR) / 2) * p.ratio);
        if (row.pinned)
            this.ground(b, p, y);
        if (row.bare)
            return;
        const clipTop = Math.max(row.pinned ? 0 : Math.round(p.pinned * ROW * p.ratio), top);
        if (clipTop >= bottom || top >= b.height)
            return;
        const isLock = row.id[0] === "l";
        this.shares.fill(0, 0, scale.width * (isLock ? LOCK_PARTS : PARTS));
        this.parts(p, row, scale.from, scale.from + scale.width * scale.ns, (part, within) => this.add(p, row, scale, part, within));
        const end = Math.min(bottom, b.height);
        if (isLock)
            paintLock(b, p.palette, this.shares, clipTop, end, p.longest.get(row.lock) ?? 1);
        else
            paintThread(b, p.palette, this.shares, top, bottom, clipTop);
        if (row.thread)
            this.deadlocked(p, b, row.thread, scale.ns, clipTop, end);
    }

    private ground(b: Buffer, p: Picture, y: number): void {
        const to = Math.min(b.height, Math.round((y + ROW) * p.ratio));
        for (let line = Math.max(0, Math.round(y * p.ratio)); line < to; line++)
            b.pixels.fill(p.palette.stripe, line * b.width + b.left, line * b.width + b.right);
    }

    private add(p: Picture, row: Row, scale: Scale, part: Part, within: Range): void {
        const tile = spanOf(part);
        const t = p.meta.threads;
        const life = row.thread ? { from: t.from[row.thread], to: t.to[row.thread] } : { from: 0, to: 0 };
        switch (part.row.kind) {
        case "exact":
            addExact(this.shares, scale, part.row, within, life);
            break;
        case "cells":
            addCells(this.shares, scale, part.row, tile, within);
            break;
        case "lock":
            addExactLock(this.shares, scale, part.row, within);
            break;
        case "lockcells":
            addLockCells(this.shares, scale, part.row, tile, within);
            break;
        case "nothing":
            if (row.thread)
                addLife(this.shares, scale, life, within);
        }
    }

    private deadlocked(p: Picture, b: Buffer, thread: number, ns: number, top: number, bottom: number): void {
        const id = p.meta.threads.id[thread];
        for (const d of p.meta.deadlocks)
            for (const m of d.members)
                if (m.thread === id)
                    paintSolid(b, p.palette.pattern[LOOK.deadlocked], Math.floor(Math.max(m.since, d.formed) / ns) - b.first,
                        Math.ceil(p.meta.to / ns) - b.first, top, bottom);
    }

    /** All threads were paused: a veil over every row. */
    private collections(p: Picture, b: Buffer, ns: number): void {
        for (const [from, to] of [...p.meta.gc, ...p.meta.stops ?? []]) {
            const first = Math.floor(from / ns), last = Math.ceil(to / ns);
            const x0 = Math.max(b.left, first - b.first), x1 = Math.min(b.right, last - b.first);
            if (last - first < 2 || x1 <= x0)
                continue;
            for (let y = 0; y < b.height; y += 2) {
                const odd = (b.first + x0 + ((y >> 1) & 1) * 2) % 4; // the same dots in whatever part is painted
                for (let x = x0 + ((4 - odd) % 4 + 4) % 4; x < x1; x += 4)
                    b.pixels[y * b.width + x] = p.palette.pattern[LOOK.gc][0];
            }
        }
    }

    private lanes(p: Picture, g: CanvasRenderingContext2D): void {
        if (!p.lanes)
            return;
        g.save();
        g.setTransform(p.ratio, 0, 0, p.ratio, 0, 0);
        g.fillStyle = p.palette.alloc;
        const ns = nsPerPixel(p);
        for (const k of inSight(p))
            if (p.rows[k].thread && (p.rows[k].pinned || yOfRow(p, k) + ROW > p.pinned * ROW))
                drawLane(g, p.lanes, p.rows[k].thread, yOfRow(p, k) + ROW, (time) => (time - p.view.from) / ns, p.width, p.ratio);
        g.restore();
    }

    private threadMarks(p: Picture, g: CanvasRenderingContext2D): void {
        const ns = nsPerPixel(p);
        g.save();
        g.setTransform(p.ratio, 0, 0, p.ratio, 0, 0);
        const of = new Map<number, ThreadMark[]>();
        for (const m of p.threadMarks) {
            const list = of.get(m.thread);
            if (m.to < p.view.from || m.from > p.view.to)
                continue;
            if (list)
                list.push(m);
            else
                of.set(m.thread, [m]);
        }
        for (const k of of.size ? inSight(p) : [])
            if (p.rows[k].thread && (p.rows[k].pinned || yOfRow(p, k) >= p.pinned * ROW - 4))
                for (const m of of.get(p.rows[k].thread) ?? [])
                    drawThreadMark(g, lookOf(m), Math.round((m.from - p.view.from) / ns), Math.round((m.to - p.view.from) / ns), yOfRow(p, k), p.palette);
        g.restore();
    }

    private labelsOf(p: Picture, k: number, labels: Label[]): void {
        const row = p.rows[k];
        if (row.thread && !row.bare)
            this.parts(p, row, p.view.from, p.view.to, (part, within) => {
                if (part.row.kind === "exact")
                    this.label(p, part.row, within, yOfRow(p, k), labels);
            });
    }

    private label(p: Picture, row: ExactThread, within: Range, y: number, labels: Label[]): void {
        const ns = nsPerPixel(p);
        for (let k = 0; k < row.n; k++) {
            if (row.end[k] - row.start[k] < 56 * ns || row.end[k] < p.view.from || row.start[k] > p.view.to)
                continue;
            // Only the tile in which it begins, or the first one in sight, writes it.
            if (row.start[k] < within.from && within.from > p.view.from)
                continue;
            labels.push({ x0: Math.max(0, (row.start[k] - p.view.from) / ns), x1: Math.min(p.width, (row.end[k] - p.view.from) / ns), y, context: row.context[k], ns: row.end[k] - row.start[k] });
        }
    }

    private labels(p: Picture, g: CanvasRenderingContext2D, labels: Label[]): void {
        g.save();
        g.setTransform(p.ratio, 0, 0, p.ratio, 0, 0);
        g.font = `${11 * p.textScale}px system-ui, sans-serif`;
        g.textBaseline = "middle";
        for (const l of labels.slice(0, 400)) {
            const c = context(l.context);
            const long = duration(l.ns);
            const room = l.x1 - l.x0 - 10;
            if (l.y < p.pinned * ROW - 4 && !p.rows[rowAtY(p, l.y + 1)]?.pinned)
                continue;
            // A number that is cut would be a wrong one.
            const text = [`${c ? `${c.class ? simple(c.class) : c.state} ` : ""}${long}`, long].find((t) => g.measureText(t).width <= room);
            if (!text)
                continue;
            const { width } = g.measureText(text);
            g.fillStyle = p.palette.dark ? "rgba(16,18,22,0.62)" : "rgba(255,255,255,0.72)";
            g.fillRect(l.x0 + 3, l.y + 4, width + 6, 12);
            g.fillStyle = p.palette.text;
            g.fillText(text, l.x0 + 6, l.y + ROW / 2 + 0.5);
        }
        g.restore();
    }

    private marks(p: Picture, g: CanvasRenderingContext2D): void {
        this.marked = inSight(p).filter((k) => p.rows[k].thread && !p.rows[k].bare && (p.rows[k].pinned || yOfRow(p, k) >= p.pinned * ROW - 4)).flatMap((k) => this.marksOf(p, k));
        g.save();
        g.setTransform(p.ratio, 0, 0, p.ratio, 0, 0);
        drawMarks(g, this.marked, p.palette);
        g.restore();
    }

    private marksOf(p: Picture, k: number): Mark[] {
        const out: Mark[] = [];
        const t = p.meta.threads, thread = p.rows[k].thread, ns = nsPerPixel(p), y = yOfRow(p, k);
        const add = (kind: MarkKind, time: number): void => {
            const x = (time - p.view.from) / ns;
            if (x >= 0 && x <= p.width)
                out.push({ kind, x, y });
        };
        this.parts(p, p.rows[k], p.view.from, p.view.to, ({ row }, within) => {
            for (let i = 0; row.kind === "exact" && i < row.n; i++)
                if (row.flags[i] & FLAG.timedOut && row.end[i] > within.from && row.end[i] <= within.to && row.end[i] - row.start[i] >= BOX_FROM_PX * ns)
                    add("time-up", row.end[i]);
        });
        if (t.flags[thread] & THREAD.ended)
            add("end", t.to[thread]);
        return out;
    }

    private sight(p: Picture): Sight {
        const ns = nsPerPixel(p);
        return { x: (time) => (time - p.view.from) / ns, y: (k) => yOfRow(p, k) + ROW / 2, width: p.width };
    }

    private places(p: Picture): { level: number; places: number[] } {
        const level = levelOfPicture(p);
        return { level, places: p.meta.phase ? [] : tilesOf(level, Math.max(p.view.from, p.meta.from), Math.min(p.view.to, p.meta.to)) };
    }

    /** Arrows and path; not over the pinned rows. */
    private lines(p: Picture, g: CanvasRenderingContext2D): void {
        const { level, places } = this.places(p);
        g.save();
        g.setTransform(p.ratio, 0, 0, p.ratio, 0, 0);
        g.beginPath();
        g.rect(0, p.pinned * ROW, p.width, p.height);
        g.clip();
        this.gather(p, level, places);
        drawArrows(g, this.drawn, this.sight(p), p.palette.arrows, p.textScale);
        if (p.path && p.meta.path) {
            const tiles = places.flatMap((i) => {
                const path = this.cache.pathOf(level, i);
                return path ? [{ level, i, path }] : [];
            });
            const y = (thread: number): number => {
                const k = p.rowOfThread.get(thread);
                return k === undefined ? NaN : yOfRow(p, k) + ROW / 2 + PATH_BELOW; // below the labels
            };
            drawPath(g, stretches({ x: this.sight(p).x, y, width: p.width }, tiles), p.palette);
        }
        g.restore();
    }

    /** Which arrows there are; kept while the view only moves a little. */
    private gather(p: Picture, level: number, places: readonly number[]): void {
        if (!p.arrows) {
            this.drawn = NOTHING_DRAWN;
            this.gathered = null;
            return;
        }
        const tiles = places.flatMap((i) => {
            const arrows = this.cache.arrowsOf(level, i);
            return arrows ? [{ level, i, arrows }] : [];
        });
        const top = Math.floor((p.scroll + p.pinned * ROW) / ROW / 8) * 8;
        const now: Gathering = { tiles, rowOf: p.rowOfThread, kinds: p.arrows, first: top, last: top + Math.ceil(p.height / ROW) + 8, ns: nsPerPixel(p) };
        const was = this.gathered;
        if (was && was.rowOf === now.rowOf && was.kinds === now.kinds && was.first === now.first && was.last === now.last && Math.abs(was.ns / now.ns - 1) < 1e-6 &&
            was.tiles.length === tiles.length && tiles.every((t, k) => t.arrows === was.tiles[k].arrows))
            return;
        this.gathered = now;
        this.drawn = collect(now);
    }

    arrowAt(p: Picture, x: number, y: number): Arrow | null {
        return arrowAt(this.drawn, this.sight(p), x, y);
    }

    drawOverlay(p: Picture, o: Overlay): void {
        const empty = !o.marked && o.hoverX === null && !o.lit && !o.chosen && o.focus === null;
        this.over.hidden = empty;
        if (empty)
            return;
        const g = this.over.getContext("2d", { willReadFrequently: true })!;
        g.setTransform(1, 0, 0, 1, 0, 0);
        g.clearRect(0, 0, this.over.width, this.over.height);
        g.setTransform(p.ratio, 0, 0, p.ratio, 0, 0);
        const { x } = this.sight(p);
        const y = (thread: number): number => {
            const k = p.rowOfThread.get(thread);
            return k === undefined ? NaN : yOfRow(p, k) + ROW / 2;
        };
        this.light(p, g, o);
        if (o.marked)
            this.mark(p, g, x(o.marked.from), x(o.marked.to));
        g.save();
        g.beginPath();
        g.rect(0, p.pinned * ROW, p.width, p.height);
        g.clip();
        this.box(p, g, o, x, y);
        g.restore();
        if (o.hoverX !== null) {
            g.fillStyle = p.palette.subdued;
            g.fillRect(Math.round(o.hoverX), 0, 1, p.height);
        }
    }

    private light(p: Picture, g: CanvasRenderingContext2D, o: Overlay): void {
        for (const k of inSight(p)) {
            const r = p.rows[k];
            const on = o.lit && ((r.thread && (r.thread === o.lit.thread || o.lit.also?.includes(r.thread))) || (r.lock && r.lock === o.lit.lock));
            if (!on && o.focus !== k)
                continue;
            g.strokeStyle = p.palette.dark ? "#7db4ff" : "#1f5fbf";
            g.lineWidth = o.focus === k ? 1.5 : 1;
            g.strokeRect(0.5, yOfRow(p, k) + 0.5, p.width - 1, ROW - 1);
        }
    }

    private mark(p: Picture, g: CanvasRenderingContext2D, x0: number, x1: number): void {
        g.fillStyle = p.palette.dark ? "rgba(0,0,0,0.45)" : "rgba(90,100,115,0.28)";
        g.fillRect(0, 0, Math.max(0, x0), p.height);
        g.fillRect(x1, 0, Math.max(0, p.width - x1), p.height);
        g.fillStyle = p.palette.dark ? "#7db4ff" : "#1f5fbf";
        g.fillRect(Math.round(x0) - 1, 0, 1, p.height);
        g.fillRect(Math.round(x1), 0, 1, p.height);
    }

    private box(p: Picture, g: CanvasRenderingContext2D, o: Overlay, x: (t: number) => number, y: (t: number) => number): void {
        const draw = (b: { thread: number; from: number; to: number }, width: number): void => {
            const at = y(b.thread);
            if (at !== at)
                return;
            const x0 = Math.max(-4, x(b.from));
            const x1 = Math.min(p.width + 4, x(b.to));
            for (const [colour, extra] of [[p.palette.pathEdge, 2], [p.palette.dark ? "#7db4ff" : "#1f5fbf", 0]] as const) {
                g.strokeStyle = colour;
                g.lineWidth = width + extra;
                g.strokeRect(x0 - 1, at - ROW / 2 + 1, Math.max(2, x1 - x0) + 2, ROW - 2);
            }
        };
        for (const c of o.chain)
            draw(c, 1);
        if (o.chosen)
            draw(o.chosen, 2);
    }
}

/** The wait of an exact row at a time: its place in the columns, -1: none. */
export function waitAt(row: ExactThread, time: number, slack: number): number {
    let low = 0;
    let high = row.n;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (row.start[middle] <= time + slack)
            low = middle + 1;
        else
            high = middle;
    }
    for (let k = low - 1; k >= Math.max(0, low - 3); k--)
        if (row.end[k] + slack >= time && !(row.flags[k] & FLAG.unknown && row.start[k] !== row.end[k]))
            return k;
    return -1;
}
