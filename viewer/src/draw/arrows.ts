// arrows.ts - interactions as lines between rows: which ones, bundled where there are too many.
import type { Head } from "./arrow_look.ts";
import { ARROW_LOOKS, headOf } from "./arrow_look.ts";
import type { Arrows, Interaction } from "../types.ts";
import { INTERACTIONS } from "../types.ts";
import { tileWidth } from "../source/tile.ts";

/** A line from one row to another: times and rows, so that it holds while the view moves. */
export interface Arrow {
    t0: number; t1: number;
    row0: number; row1: number;
    how: number;
    count: number;
    /** ns of the waits that it ended: the heaviest are drawn when there are too many. */
    weight: number;
    /** Threads of one of them, the wait that it ended (2^32-1: none). */
    from: number; to: number; index: number;
    /** How many of the same act: notifyAll. */
    fan: number;
}

/** What is drawn, and of what. */
export interface Drawn { arrows: readonly Arrow[]; bundled: boolean; left_out: number }
export const NOTHING_DRAWN: Drawn = { arrows: [], bundled: false, left_out: 0 };

export interface Gathering {
    tiles: readonly { level: number; i: number; arrows: Arrows }[];
    rowOf: ReadonlyMap<number, number>;
    kinds: ReadonlySet<Interaction>;
    /** Rows in sight: an arrow is wanted that touches or crosses them. */
    first: number; last: number;
    ns: number; // of a pixel
}

/** More lines than this hide the bars that they lie over: they are bundled, at first narrowly, then widely,
 * and of the wide bundles the heaviest are drawn. */
export const DRAWN_MAX = 700;
const BUNDLES_MAX = 160;
const NARROW_PX = 8;
const WIDE_PX = 72;

/** Where an arrow's rows are; null: it is not in sight. */
function place(g: Gathering, from: number, to: number): [number, number] | null {
    const a = g.rowOf.get(from);
    const b = g.rowOf.get(to);
    return a !== undefined && b !== undefined && a !== b && Math.max(a, b) >= g.first && Math.min(a, b) <= g.last ? [a, b] : null;
}

function gather(g: Gathering, t: Gathering["tiles"][number], out: Arrow[]): void {
    const a = t.arrows;
    const slot = tileWidth(t.level) / 64;
    for (let k = 0; k < a.n; k++) {
        if (!g.kinds.has(INTERACTIONS[a.how[k]]))
            continue;
        const rows = place(g, a.from[k], a.to[k]);
        if (!rows)
            continue;
        const [row0, row1] = rows;
        const common = { row0, row1, how: a.how[k], from: a.from[k], to: a.to[k], fan: 1 };
        if (a.kind === "exact") {
            out.push({ ...common, t0: a.from_time[k], t1: a.to_time[k], count: 1, weight: 0, index: a.index[k] });
        } else {
            const time = (t.i * 64 + a.slot[k] + 0.5) * slot;
            out.push({ ...common, t0: time, t1: time, count: a.count[k], weight: a.wait_ns[k], index: 0xffffffff });
        }
    }
}

/** One line for all that run beside each other, in parts of `ns`, between the same two rows. */
function bundle(all: readonly Arrow[], ns: number): Arrow[] {
    const map = new Map<number, Map<number, Arrow>>();
    for (const a of all) {
        const pair = (a.row0 * 65536 + (a.row1 & 65535)) * 16 + a.how;
        let of = map.get(pair);
        if (!of)
            map.set(pair, (of = new Map<number, Arrow>()));
        const at = Math.round(a.t1 / ns);
        const b = of.get(at);
        if (!b) {
            of.set(at, { ...a, t0: a.t1 });
            continue;
        }
        b.t0 = b.t1 = (b.t1 * b.count + a.t1 * a.count) / (b.count + a.count);
        b.count += a.count;
        b.weight += a.weight;
    }
    return [...map.values()].flatMap((of) => [...of.values()]);
}

function fans(all: Arrow[]): void {
    const acts = new Map<string, Arrow[]>();
    for (const a of all) {
        if (INTERACTIONS[a.how] !== "notify-all")
            continue;
        const key = `${a.from}/${a.t0}`;
        const list = acts.get(key);
        if (list)
            list.push(a);
        else
            acts.set(key, [a]);
    }
    for (const list of acts.values())
        for (const a of list)
            a.fan = list.length;
}

export function collect(g: Gathering): Drawn {
    let arrows: Arrow[] = [];
    let bundled = false;
    let left_out = 0;
    for (const t of g.tiles) {
        gather(g, t, arrows);
        bundled ||= t.arrows.kind === "bundles";
        left_out += t.arrows.left_out;
    }
    if (arrows.length > DRAWN_MAX) {
        bundled = true;
        const narrow = bundle(arrows, NARROW_PX * g.ns);
        arrows = narrow.length > DRAWN_MAX ? bundle(narrow, WIDE_PX * g.ns) : narrow;
        if (narrow.length > DRAWN_MAX && arrows.length > BUNDLES_MAX) {
            // Arrows of an exact tile have no weight: beside those of bundles only their number counts.
            const weighed = g.tiles.every((t) => t.arrows.kind === "bundles");
            arrows.sort((a, b) => (weighed ? b.weight - a.weight : 0) || b.count - a.count);
            left_out += arrows.slice(BUNDLES_MAX).reduce((n, a) => n + a.count, 0);
            arrows.length = BUNDLES_MAX;
        }
    }
    if (!bundled)
        fans(arrows);
    return { arrows, bundled, left_out };
}

/** Where time and rows are on the page, css pixels; y is the middle of a row. */
export interface Sight { x(time: number): number; y(row: number): number; width: number }

interface Line { a: Arrow; x0: number; y0: number; x1: number; y1: number }

function linesOf(drawn: Drawn, s: Sight): Line[] {
    const out: Line[] = [];
    for (const a of drawn.arrows) {
        const x1 = s.x(a.t1);
        if (x1 >= -20 && x1 <= s.width + 20)
            out.push({ a, x0: s.x(a.t0), y0: s.y(a.row0), x1, y1: s.y(a.row1) });
    }
    return out;
}

function addHead(g: CanvasRenderingContext2D, l: Line, size: number, head: Head): void {
    const dx = l.x1 - l.x0;
    const dy = l.y1 - l.y0;
    const d = Math.hypot(dx, dy) || 1;
    for (const [tip, left, right] of headOf(l.x1, l.y1, dx / d, dy / d, size, head)) {
        g.moveTo(...left);
        g.lineTo(...tip);
        g.lineTo(...right);
        if (head !== "open")
            g.closePath();
    }
}

/** Lines first, then the heads, a colour at a time. */
export function drawArrows(g: CanvasRenderingContext2D, drawn: Drawn, s: Sight, colours: Record<Interaction, string>, textScale: number): void {
    const all = linesOf(drawn, s);
    const many = all.length > 250;
    g.save();
    for (let how = 0; how < INTERACTIONS.length; how++) {
        const mine = all.filter((l) => l.a.how === how);
        if (!mine.length)
            continue;
        const look = ARROW_LOOKS[INTERACTIONS[how]];
        g.strokeStyle = g.fillStyle = colours[INTERACTIONS[how]];
        g.setLineDash(look.dash as number[]);
        g.globalAlpha = many ? 0.45 : drawn.bundled ? 0.75 : 0.9;
        for (const wide of [false, true]) {
            g.lineWidth = wide ? 2 : 1;
            g.beginPath();
            for (const l of mine)
                if (l.a.count > 1 === wide) {
                    g.moveTo(l.x0, l.y0);
                    g.lineTo(l.x1, l.y1);
                }
            g.stroke();
        }
        g.globalAlpha = many ? 0.8 : 1;
        g.setLineDash([]);
        g.lineWidth = 1.5;
        g.beginPath();
        for (const l of mine)
            addHead(g, l, l.a.count > 1 ? 7 : 5, look.head);
        if (look.head === "open")
            g.stroke();
        else
            g.fill();
    }
    g.restore();
    counts(g, all, colours, textScale);
}

/** How many a bundle holds, how many a notifyAll woke; no two numbers on the same spot. */
function counts(g: CanvasRenderingContext2D, all: readonly Line[], colours: Record<Interaction, string>, textScale: number): void {
    g.save();
    g.font = `${10 * textScale}px system-ui, sans-serif`;
    const taken = new Set<string>();
    for (const l of all) {
        const fan = l.a.fan > 1;
        if (!fan && l.a.count < 2)
            continue;
        const x = (fan ? l.x0 : (l.x0 + l.x1) / 2) + 4;
        const y = fan ? l.y0 - 4 : (l.y0 + l.y1) / 2;
        const key = `${Math.round(x / 40)}/${Math.round(y / 14)}`;
        if (taken.has(key) || taken.size > 150)
            continue;
        taken.add(key);
        g.fillStyle = colours[INTERACTIONS[l.a.how]];
        g.fillText(fan ? `×${l.a.fan}` : `${l.a.count}`, x, y);
    }
    g.restore();
}

/** The arrow nearest to a point, at most 5 pixels away. */
export function arrowAt(drawn: Drawn, s: Sight, x: number, y: number): Arrow | null {
    let best: Arrow | null = null;
    let distance = 5;
    for (const l of linesOf(drawn, s)) {
        if (x < Math.min(l.x0, l.x1) - 5 || x > Math.max(l.x0, l.x1) + 5 || y < Math.min(l.y0, l.y1) - 5 || y > Math.max(l.y0, l.y1) + 5)
            continue;
        const dx = l.x1 - l.x0;
        const dy = l.y1 - l.y0;
        const u = Math.min(1, Math.max(0, ((x - l.x0) * dx + (y - l.y0) * dy) / (dx * dx + dy * dy || 1)));
        const d = Math.hypot(x - l.x0 - u * dx, y - l.y0 - u * dy);
        if (d < distance) {
            distance = d;
            best = l.a;
        }
    }
    return best;
}
