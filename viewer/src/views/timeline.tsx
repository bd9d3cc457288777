// timeline.tsx - the rows: names on the left, bars on a canvas, what lies over them on another one.
//
// Names are elements, so that they can be read aloud and found; the bars are pixels (stage.ts).
import { computed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ticks } from "../draw/axis.ts";
import { inSight, yOfRow } from "../draw/scene.ts";
import type { Row } from "../rows.ts";
import { lockCount, locks, pin, ROW, rowOfThread, rows, toggle } from "../rows.ts";
import { scale } from "../scale.ts";
import { pending, pinnedCount, setStage, size } from "../stage.ts";
import * as state from "../state.ts";
import { watchFollowing } from "./follow.ts";
import { describePause } from "./hover_text.ts";
import { leave, onDouble, onDown, onMove, onWheel, tooltip } from "./pointer.ts";
import "./timeline.css";

/** Width of the names, css pixels. */
const gutter = computed(() => Math.round(230 * scale.value));

function Name({ row, y, index, total }: { row: Row; y: number; index: number; total: number }) {
    const h = state.hover.value;
    const lit = state.isLit(row.thread) || (row.lock > 0 && h?.lock === row.lock) || row.members.some((t) => h?.also?.includes(t));
    const dead = row.thread > 0 && (state.meta.value?.deadlocks ?? []).some((d) => d.members.some((m) => m.thread === state.meta.value!.threads.id[row.thread]));
    const focused = state.focusRow.value === row.id && !row.pinned;
    return (
        <div class={`name${lit ? " lit" : ""}${row.pinned ? " pinned" : ""}${focused ? " focused" : ""}`} role="row" aria-rowindex={index + 1} aria-selected={focused}
            data-row={row.key} style={{ top: `${y}px`, paddingLeft: `${6 + row.depth * 14}px` }} title={`${row.label}${row.note ? ` (${row.note})` : ""}`}
            onMouseEnter={() => { state.hover.value = { thread: row.thread || undefined, lock: row.lock || undefined }; }}
            onMouseLeave={() => { state.hover.value = null; }}
            onClick={() => { state.focusRow.value = row.id; if (row.folded !== null) toggle(row.id); }}>
            <span role="gridcell" class="cell">
                {row.folded !== null && <button class="fold" tabIndex={-1} aria-expanded={!row.folded} aria-label={`${row.folded ? "unfold" : "fold"} ${row.label}`}
                    onClick={(e) => { e.stopPropagation(); toggle(row.id); }}>{row.folded ? "▸" : "▾"}</button>}
                {dead && <span class="dead" title="deadlocked">⚠ </span>}
                <Label row={row} />
                {row.note && <span class="note">{row.note}</span>}
            </span>
            <button class={`pin${row.pinned ? " on" : ""}`} tabIndex={-1} aria-pressed={row.pinned} aria-label={`pin ${row.label}`}
                title="pin to the top (P)" onClick={(e) => { e.stopPropagation(); pin(row.id); }}>📌</button>
            <span class="visually-hidden">{` row ${index + 1} of ${total}`}</span>
        </div>
    );
}

/** A name that is too long loses its end, but not the number that distinguishes locks of one
 * class. */
function Label({ row }: { row: Row }) {
    const at = row.lock ? row.label.lastIndexOf("#") : -1;
    return (
        <span class="label">
            <span class="stem">{at < 0 ? row.label : row.label.slice(0, at)}</span>{at >= 0 && <span>{row.label.slice(at)}</span>}
        </span>
    );
}

/** Depends on what of the picture moves rows, so that a pan does not make the names anew. */
function Names() {
    const p = { rows: rows.value, pinned: pinnedCount(), scroll: state.scroll.value, height: size.value.height };
    return (
        <div class="names" role="rowgroup" style={{ width: `${gutter.value}px` }}>
            {inSight(p).map((k) => <Name key={p.rows[k].key} row={p.rows[k]} y={yOfRow(p, k)} index={k} total={p.rows.length} />)}
        </div>
    );
}

function Axis() {
    const v = state.view.value;
    const { width } = size.value;
    const meta = state.meta.value;
    const marked = state.marked.value;
    const x = (t: number): number => ((t - v.from) / (v.to - v.from)) * width;
    const pauses = (meta?.gc ?? []).filter(([a, b]) => b >= v.from && a <= v.to);
    return (
        <div class="axis">
            <div class="corner" style={{ width: `${gutter.value}px` }}>
                {state.mode.value === "locks" ? `${locks.value.length.toLocaleString("en-US")} of ${lockCount.value.toLocaleString("en-US")} locks` : `${rowOfThread.value.size.toLocaleString("en-US")} threads`}
                {pending.value > 0 && <span class="busy" data-test="busy" title="reading"> …</span>}
            </div>
            <svg width={width} height={34} role="img" aria-label={`time axis, ${meta?.recording.gc_count ?? 0} collector pauses`}>
                {ticks(v.from, v.to, width).map((t) => (
                    <g key={t.time}>
                        <line class="tick" x1={t.x} x2={t.x} y1={14} y2={34} />
                        <text x={t.x + 3} y={12}>{t.label}</text>
                    </g>
                ))}
                <rect class="gclane" x={0} y={22} width={width} height={9} />
                {pauses.slice(0, 2000).map((p) => (
                    <rect class="gc" key={p[0]} x={x(p[0])} y={22} width={Math.max(1, x(p[1]) - x(p[0]))} height={9}>
                        <title>{describePause(p).join("\n")}</title>
                    </rect>
                ))}
                {meta && meta.gc.length > 0 && <text class="gcname" x={4} y={30}>GC</text>}
                {marked && <rect class="marked" x={x(marked.from)} y={0} width={Math.max(1, x(marked.to) - x(marked.from))} height={34} />}
            </svg>
        </div>
    );
}

function Tooltip() {
    const t = tooltip.value;
    if (!t)
        return null;
    const right = t.x > window.innerWidth - 380;
    const low = t.y > window.innerHeight - 200;
    return (
        <div class="tooltip" data-test="tooltip" style={{ left: right ? "auto" : `${t.x + 14}px`, right: right ? `${window.innerWidth - t.x + 14}px` : "auto", top: low ? "auto" : `${t.y + 14}px`, bottom: low ? `${window.innerHeight - t.y + 14}px` : "auto" }}>
            {t.lines.map((l, k) => <div key={k} class={k === 0 ? "first" : ""}>{l}</div>)}
        </div>
    );
}

export function Timeline() {
    const box = useRef<HTMLDivElement>(null);
    const base = useRef<HTMLCanvasElement>(null);
    const over = useRef<HTMLCanvasElement>(null);
    const surface = useRef<HTMLDivElement>(null);
    useEffect(() => {
        const b = box.current!;
        const fit = (): void => {
            size.value = { width: Math.max(100, b.clientWidth - gutter.value), height: Math.max(ROW * 2, b.clientHeight), ratio: window.devicePixelRatio || 1 };
        };
        const observer = new ResizeObserver(fit);
        observer.observe(b);
        fit();
        b.scrollTop = state.scroll.value;
        const stop = setStage(state.source.value!, base.current!, over.current!);
        const stopFollowing = watchFollowing();
        const wheel = (e: WheelEvent): void => onWheel(e);
        surface.current!.addEventListener("wheel", wheel, { passive: false });
        return () => {
            stop();
            stopFollowing();
            observer.disconnect();
        };
    }, [state.source.value]);
    const total = rows.value.length * ROW;
    return (
        <section class="timeline" data-view="timeline" aria-label={state.mode.value === "locks" ? "locks over time" : "threads over time"}>
            <Axis />
            <div class="rows" ref={box} data-test="rows" role="grid" aria-rowcount={rows.value.length} aria-label="rows" tabIndex={0}
                onScroll={(e) => { state.scroll.value = Math.round((e.currentTarget as HTMLElement).scrollTop); }}>
                <div class="stick" style={{ height: `${size.value.height}px` }}>
                    <Names />
                    <div class="surface" ref={surface} data-test="canvas" style={{ left: `${gutter.value}px`, width: `${size.value.width}px`, height: `${size.value.height}px` }} aria-hidden="true"
                        onPointerDown={onDown} onDblClick={(e) => onDouble(e.offsetX, e.offsetY)}
                        onPointerMove={(e) => onMove(e.offsetX, e.offsetY, e.clientX, e.clientY)} onPointerLeave={leave}>
                        <canvas class="base" ref={base} />
                        <canvas class="over" ref={over} />
                    </div>
                </div>
                <div style={{ height: `${Math.max(0, total - size.value.height)}px` }} />
            </div>
            {rows.value.length === 0 && <p class="empty">{state.mode.value === "locks" ? "No thread waited for a lock." : state.filter.value ? "No thread matches the filter." : "No threads yet."}</p>}
            <Tooltip />
        </section>
    );
}
