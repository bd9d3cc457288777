// flame_canvas.tsx - the drawn part of the flame graph: an icicle, the root at the top.
//
// The canvas is as large as what is seen of it and draws from where the box is scrolled to, so that
// stacks of thousands of frames fit.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { percent, plural } from "../format.ts";
import { scale } from "../scale.ts";
import { isDark } from "../theme.ts";
import { boxAt } from "./flame_layout.ts";
import type { Layout, Level, Tree } from "./flame_layout.ts";
import type { Names } from "./flame_names.ts";

const ROW = 18;
const LEAST = 0.4; // px: narrower boxes are not drawn
const TEXT_FROM = 24; // px: narrower boxes have no text

/** What boxes are called, in what they are counted, and their colours: of a flame graph, or of a heap. */
export type BoxNames = Pick<Names, "short" | "full" | "matches" | "colour" | "amount" | "what">;

interface Picture { tree: Tree; layout: Layout; names: BoxNames; words: string; zoomed: number }
interface Props extends Picture {
    onZoom: (node: number) => void;
    /** What the picture is; without it a flame graph. */
    label?: string;
}

interface Spot { node: number; x: number; y: number }

export function FlameCanvas(p: Props) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [hovered, setHovered] = useState<Spot | null>(null);
    const [focused, setFocused] = useState(p.zoomed);
    const [size, setSize] = useState({ width: 0, height: 0, top: 0 });
    useSize(box, setSize);
    const dark = isDark.value;
    useLayoutEffect(() => setFocused(p.zoomed), [p.tree, p.zoomed]);
    useLayoutEffect(() => {
        if (canvas.current && size.width > 0)
            draw(canvas.current, p, size, { dark, hovered: hovered?.node ?? -1, focused: focused });
    });
    const spotOf = (e: MouseEvent): Spot | null => {
        const r = canvas.current!.getBoundingClientRect();
        const x = e.clientX - r.left, y = e.clientY - r.top;
        const level = p.layout.levels[Math.floor((y + size.top) / ROW)];
        const i = boxAt(level, x / size.width);
        return i < 0 ? null : { node: level.node[i], x, y };
    };
    const keys = (e: KeyboardEvent) => {
        const to = stepped(e.key, p, focused);
        if (e.key === "Enter")
            p.onZoom(focused);
        else if (e.key === "Escape" && p.zoomed !== 0)
            p.onZoom(p.tree.parent[p.zoomed]);
        else if (to !== null)
            show(box.current!, p.tree.depth[to], () => setFocused(to));
        else
            return;
        e.preventDefault();
        e.stopPropagation();
    };
    return (
        <div class="flame-box" ref={box} tabIndex={0} data-keys="" role="application" aria-roledescription={(p.label ?? "Flame graph").toLowerCase()} aria-label={`${p.label ?? "Flame graph"}; arrow keys move, Enter zooms, Escape zooms out`}
            data-test="flame-canvas" data-focus={p.names.short(p.tree.frame[focused])} onKeyDown={keys} onMouseMove={(e) => setHovered(spotOf(e))} onMouseLeave={() => setHovered(null)}
            onClick={(e) => { const s = spotOf(e); if (s) { p.onZoom(s.node); setHovered(null); } }}>
            <div style={{ height: `${p.layout.levels.length * ROW}px` }}>
                <canvas ref={canvas} />
            </div>
            <div class="flame-said" role="status">{describe(p, focused).join(", ")}</div>
            {hovered && <Tip lines={describe(p, hovered.node)} spot={hovered} size={size} />}
        </div>
    );
}

/** Full name, time, share of the whole, count. */
function describe(p: Picture, node: number): string[] {
    const t = p.tree;
    const own = t.own[node] > 0 && t.own[node] < t.total[node] ? [`${p.names.amount(t.own[node])} here itself`] : [];
    return [p.names.full(t.frame[node]), `${p.names.amount(t.total[node])}, ${percent(t.total[node], t.total[0])} of all`, ...own, plural(t.count[node], p.names.what)];
}

function Tip({ lines, spot, size }: { lines: string[]; spot: Spot; size: { width: number; height: number; top: number } }) {
    const left = spot.x > size.width / 2;
    const style = {
        top: `${spot.y + size.top + (spot.y > size.height / 2 ? -22 * lines.length - 8 : 18)}px`,
        ...(left ? { right: `${size.width - spot.x + 8}px` } : { left: `${spot.x + 8}px` }),
        maxWidth: `${Math.max((left ? spot.x : size.width - spot.x) - 16, 160)}px`,
    };
    return <div class="flame-tip" style={style} data-test="flame-tip">{lines.map((l, i) => <div key={i} class={i ? "" : "flame-tip-name"}>{l}</div>)}</div>;
}

// --- keyboard ----------------------------------------------------------------------------------------

/** The node that an arrow leads to; null: the key means nothing. */
function stepped(key: string, p: Picture, at: number): number | null {
    const depth = p.tree.depth[at];
    switch (key) {
    case "Home":
        return p.zoomed;
    case "ArrowUp":
        return p.tree.parent[at] >= 0 ? p.tree.parent[at] : at;
    case "ArrowDown":
        return firstChild(p, at);
    case "ArrowLeft":
        return neighbour(p.layout.levels[depth], at, -1);
    case "ArrowRight":
        return neighbour(p.layout.levels[depth], at, 1);
    default:
        return null;
    }
}

function firstChild(p: Picture, at: number): number {
    return p.layout.levels[p.tree.depth[at] + 1]?.node.find((k) => p.tree.parent[k] === at) ?? at;
}

function neighbour(level: Level | undefined, at: number, step: number): number {
    const i = level ? level.node.indexOf(at) + step : -1;
    return level?.node[i] ?? at;
}

function show(box: HTMLElement, depth: number, done: () => void): void {
    const top = depth * ROW;
    if (top < box.scrollTop)
        box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight)
        box.scrollTop = top + ROW - box.clientHeight;
    done();
}

// --- drawing -----------------------------------------------------------------------------------------

interface Look { dark: boolean; hovered: number; focused: number }

function draw(canvas: HTMLCanvasElement, p: Picture, size: { width: number; height: number; top: number }, look: Look): void {
    const ratio = window.devicePixelRatio || 1;
    const w = Math.round(size.width * ratio), h = Math.round(size.height * ratio);
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.width = `${size.width}px`;
        canvas.style.height = `${size.height}px`;
    }
    const c = canvas.getContext("2d")!;
    const css = getComputedStyle(canvas);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, size.width, size.height);
    c.font = `${12 * scale.value}px ${css.fontFamily}`;
    c.textBaseline = "middle";
    const fg = css.color, accent = css.getPropertyValue("--accent");
    const first = Math.max(Math.floor(size.top / ROW), 0);
    const last = Math.min(Math.ceil((size.top + size.height) / ROW), p.layout.levels.length);
    for (let depth = first; depth < last; depth++)
        drawLevel(c, p, p.layout.levels[depth], depth * ROW - size.top, size.width, look, fg, accent);
}

function drawLevel(c: CanvasRenderingContext2D, p: Picture, level: Level, y: number, width: number, look: Look, fg: string, accent: string): void {
    for (let i = 0; i < level.node.length; i++) {
        const x = level.from[i] * width, w = level.to[i] * width - x;
        if (w < LEAST)
            continue;
        const node = level.node[i], frame = p.tree.frame[node];
        const found = p.names.matches(frame, p.words);
        c.globalAlpha = p.words && !found ? 0.45 : p.tree.depth[node] < p.tree.depth[p.zoomed] ? 0.6 : 1;
        c.fillStyle = found ? accent : p.names.colour(frame, look.dark);
        const inner = Math.max(w - 1, LEAST);
        c.fillRect(x, y, inner, ROW - 1);
        if (w >= TEXT_FROM) {
            c.fillStyle = found ? (look.dark ? "#000" : "#fff") : fg;
            c.fillText(fitted(c, p.names.short(frame), w - 8), x + 4, y + ROW / 2);
        }
        c.globalAlpha = 1;
        if (node === look.hovered || node === look.focused) {
            c.strokeStyle = node === look.hovered ? fg : accent;
            c.lineWidth = node === look.hovered ? 1 : 2;
            c.strokeRect(x + 1, y + 1, Math.max(inner - 2, 1), ROW - 3);
        }
    }
}

const widths = new Map<string, number>();

function widthOf(c: CanvasRenderingContext2D, text: string): number {
    const name = `${c.font} ${text}`;
    let w = widths.get(name);
    if (w === undefined) {
        if (widths.size > 20000)
            widths.clear();
        widths.set(name, (w = c.measureText(text).width));
    }
    return w;
}

/** The text, or as much of its beginning as fits with an ellipsis. */
function fitted(c: CanvasRenderingContext2D, text: string, room: number): string {
    if (widthOf(c, text) <= room)
        return text;
    let low = 0, high = text.length;
    while (low < high) {
        const mid = (low + high + 1) >> 1;
        if (widthOf(c, `${text.slice(0, mid)}…`) <= room)
            low = mid;
        else
            high = mid - 1;
    }
    return low > 1 ? `${text.slice(0, low)}…` : "";
}

// --- the box's size -------------------------------------------------------------------------

function useSize(box: { current: HTMLElement | null }, set: (s: { width: number; height: number; top: number }) => void): void {
    useLayoutEffect(() => {
        const b = box.current!;
        const look = () => set({ width: b.clientWidth, height: b.clientHeight, top: b.scrollTop });
        const watch = new ResizeObserver(look);
        watch.observe(b);
        b.addEventListener("scroll", look, { passive: true });
        look();
        return () => {
            watch.disconnect();
            b.removeEventListener("scroll", look);
        };
    }, []);
}
