// minimap.tsx - the whole recording in one strip: how many threads ran, how many were blocked, where the
// critical path ran and where it waited; and the window that the timeline shows.
import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { duration, moment, percent } from "../format.ts";
import { problem } from "../problem.ts";
import { scale } from "../scale.ts";
import * as state from "../state.ts";
import { isDark } from "../theme.ts";
import { palette } from "../draw/palette.ts";
import type { Overview } from "../types.ts";
import { counted } from "../under_way.ts";
import "./minimap.css";

const HEIGHT = 56;
const PATH = 7;
const overview = signal<Overview | null>(null);
const width = signal(800);

/** Time of a pixel: the strip covers exactly the recording. */
function timeAt(x: number): number {
    const m = state.meta.value!;
    return m.from + (x / width.value) * (m.to - m.from);
}

function draw(canvas: HTMLCanvasElement): void {
    const o = overview.value;
    const ratio = window.devicePixelRatio || 1;
    const p = palette(isDark.value);
    canvas.width = Math.round(width.value * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    canvas.style.width = `${width.value}px`;
    canvas.style.height = `${HEIGHT}px`;
    const g = canvas.getContext("2d")!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width.value, HEIGHT);
    if (!o || !o.n)
        return;
    const most = Math.max(1, ...o.running.map((r, k) => r + o.held_up[k]));
    const room = HEIGHT - PATH - 3;
    const w = width.value / o.n;
    for (let k = 0; k < o.n; k++) {
        const run = (o.running[k] / most) * room;
        const held = (o.held_up[k] / most) * room;
        g.fillStyle = p.css.running;
        g.fillRect(k * w, room - run, Math.ceil(w), run);
        g.fillStyle = p.css.blocked;
        g.fillRect(k * w, room - run - held, Math.ceil(w), held);
    }
    pathStrip(g, o, w);
    g.font = `${10 * scale.value}px system-ui, sans-serif`;
    const text = `${most.toFixed(most < 10 ? 1 : 0)} threads`;
    g.fillStyle = p.dark ? "rgba(16,18,22,0.72)" : "rgba(255,255,255,0.8)";
    g.fillRect(2, 1, g.measureText(text).width + 5, 13 * scale.value);
    g.fillStyle = p.text;
    g.fillText(text, 4, 10 * scale.value);
}

/** Density of the path: as dark as it ran, light where it waited. */
function pathStrip(g: CanvasRenderingContext2D, o: Overview, w: number): void {
    const p = palette(isDark.value);
    const at = (kind: string, k: number): number => o.path[kind]?.[k] ?? 0;
    for (let k = 0; k < o.n; k++) {
        g.fillStyle = p.path;
        g.globalAlpha = at("run", k);
        g.fillRect(k * w, HEIGHT - PATH, Math.ceil(w), PATH);
        g.globalAlpha = (at("handoff", k) + at("wait", k) + at("timed", k) + at("gc", k)) * 0.25;
        g.fillRect(k * w, HEIGHT - PATH, Math.ceil(w), PATH);
    }
    g.globalAlpha = 1;
}

/** Drag the window, its edges, or a new one. */
function onDown(e: PointerEvent): void {
    const box = e.currentTarget as HTMLElement;
    const left = box.getBoundingClientRect().left;
    const v = state.view.value;
    const m = state.meta.value!;
    const x = (t: number): number => ((t - m.from) / (m.to - m.from)) * width.value;
    const x0 = e.clientX - left;
    const near = (t: number): boolean => Math.abs(x(t) - x0) < 6;
    const whole = v.to - v.from > (m.to - m.from) * 0.98; // there is no room to move it
    const edge = whole ? "new" : near(v.from) ? "from" : near(v.to) ? "to" : x0 > x(v.from) && x0 < x(v.to) ? "body" : "new";
    const move = (p: PointerEvent): void => {
        const now = Math.min(width.value, Math.max(0, p.clientX - left));
        state.following.value = false;
        if (edge === "body") {
            const d = timeAt(now) - timeAt(x0);
            state.show({ from: v.from + d, to: v.to + d });
        } else {
            const fixed = edge === "from" ? v.to : edge === "to" ? v.from : timeAt(x0);
            const t = timeAt(now);
            if (Math.abs(now - x0) > 3 || edge !== "new")
                state.show({ from: Math.min(fixed, t), to: Math.max(fixed, t) });
        }
    };
    const up = (p: PointerEvent): void => {
        box.removeEventListener("pointermove", move);
        box.removeEventListener("pointerup", up);
        if (edge === "new" && Math.abs(p.clientX - left - x0) <= 3) {
            const half = (v.to - v.from) / 2;
            state.show({ from: timeAt(x0) - half, to: timeAt(x0) + half });
        }
    };
    box.setPointerCapture(e.pointerId);
    box.addEventListener("pointermove", move);
    box.addEventListener("pointerup", up);
}

export function Minimap() {
    const canvas = useRef<HTMLCanvasElement>(null);
    const box = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const observer = new ResizeObserver(() => { width.value = Math.max(100, box.current!.clientWidth); });
        observer.observe(box.current!);
        let asked = 0;
        const stopAsking = effect(() => {
            const m = state.meta.value;
            if (!m || m.phase)
                return;
            const mine = ++asked, source = state.source.value;
            if (source)
                counted(source.overview(1024)).then((o) => {
                    if (mine === asked)
                        overview.value = o;
                }).catch(problem);
        });
        const stop = effect(() => draw(canvas.current!));
        return () => {
            stop();
            stopAsking();
            observer.disconnect();
        };
    }, [state.source.value]);
    const m = state.meta.value;
    const v = state.view.value;
    const at = (t: number): number => m ? Math.min(1, Math.max(0, (t - m.from) / Math.max(1, m.to - m.from))) * width.value : 0;
    const x0 = at(v.from);
    const x1 = Math.max(x0 + 2, at(v.to));
    return (
        <div class="minimap" ref={box} data-view="minimap" onPointerDown={onDown} role="img"
            aria-label={m ? `the recording, ${duration(m.to - m.from)}; shown is ${moment(v.from, (v.to - v.from) / 100)} to ${moment(v.to, (v.to - v.from) / 100)}, ${percent(v.to - v.from, m.to - m.from)} of it` : "the recording"}>
            <canvas ref={canvas} />
            <div class="shade" style={{ left: "0", width: `${x0}px` }} />
            <div class="shade" style={{ left: `${x1}px`, right: "0" }} />
            <div class="window" data-test="window" style={{ left: `${x0}px`, width: `${x1 - x0}px` }} />
        </div>
    );
}
