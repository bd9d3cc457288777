// pointer.ts - the mouse on the rows: what it is on, in words; drag selects a range, a click a wait; the wheel
// scrolls, with Ctrl it zooms, with Shift it pans.
import { signal } from "@preact/signals";
import { context } from "../contexts.ts";
import type { Arrow } from "../draw/arrows.ts";
import { LANE, laneAt } from "../draw/lane.ts";
import { levelOfPicture, nsPerPixel, rowAtY, waitAt, yOfRow } from "../draw/scene.ts";
import { MARKS_HIGH, threadMarkAt } from "../draw/thread_marks.ts";
import { problem } from "../problem.ts";
import type { Row } from "../rows.ts";
import { ROW, toggle } from "../rows.ts";
import { arrowUnder, hoverX, picture, rowAt, size } from "../stage.ts";
import * as state from "../state.ts";
import type { ExactLock, ExactThread, ThreadMark, TileRow, Wait } from "../types.ts";
import { STATES } from "../types.ts";
import { describe, describeArrow, describeCells, describeHalt, describeLane, describeLock, describeMark, describeRun, peopleOf } from "./hover_text.ts";

export const tooltip = signal<{ x: number; y: number; lines: string[]; look: string } | null>(null);

// --- what is under it ----------------------------------------------------------------------------------

/** `mark`: it is on that, at the row's upper edge; `lane`: it is on what the thread allocates, below its bar. */
interface Hit { row: Row; time: number; tile: TileRow | undefined; wait: number; lane: boolean; mark: ThreadMark | null }

function hit(x: number, y: number): Hit | null {
    const p = picture();
    if (!p)
        return null;
    const k = rowAtY(p, y);
    if (k < 0)
        return null;
    const time = p.view.from + x * nsPerPixel(p);
    const tile = rowAt(p, p.rows[k].id, time);
    const wait = tile?.kind === "exact" ? waitAt(tile, time, nsPerPixel(p)) : -1;
    const mark = p.rows[k].thread > 0 && y - yOfRow(p, k) < MARKS_HIGH ? threadMarkAt(p.threadMarks, p.rows[k].thread, time, nsPerPixel(p)) : null;
    return { row: p.rows[k], time, tile, wait, lane: p.rows[k].thread > 0 && y - yOfRow(p, k) >= ROW - LANE, mark };
}

function hoverLines(h: Hit): { lines: string[]; look: string } | null {
    const p = picture()!;
    const lane = p.lanes && h.lane ? laneAt(p.lanes, h.row.thread, h.time) : null;
    if (lane)
        return { lines: describeLane(h.row.thread, lane), look: "alloc" };
    if (h.tile?.kind === "exact" && h.wait >= 0)
        return { lines: describe(h.tile as ExactThread, h.wait, context(h.tile.context[h.wait])), look: STATES[h.tile.state[h.wait]] };
    const halt = h.tile?.kind === "exact" ? describeHalt(h.tile, h.time) : null;
    if (halt)
        return halt;
    if (h.tile?.kind === "cells") {
        const level = levelOfPicture(p);
        return { lines: describeCells(h.tile, h.time, level), look: "cells" };
    }
    if (h.tile?.kind === "lock")
        return { lines: describeLock(h.tile as ExactLock, h.time), look: "lock" };
    if (h.row.thread)
        return describeRun(h.row.thread, h.time);
    return null;
}

/** Owner and waiters of the lock that the mouse is on; the owner that the wait is for. */
function alsoLit(h: Hit): number[] {
    if (h.tile?.kind === "lock") {
        const p = peopleOf(h.tile, h.time);
        return [p.owner, ...p.queue, ...p.waiters].filter((t) => t > 0);
    }
    const c = h.tile?.kind === "exact" && h.wait >= 0 ? context(h.tile.context[h.wait]) : undefined;
    return c?.other ? [c.other] : [];
}

export function onMove(x: number, y: number, screenX: number, screenY: number): void {
    hoverX.value = x;
    const arrow = arrowUnder(x, y);
    const h = hit(x, y);
    if (h?.mark) {
        tooltip.value = { x: screenX, y: screenY, lines: describeMark(h.mark), look: "mark" };
    } else if (arrow) {
        tooltip.value = { x: screenX, y: screenY, lines: describeArrow(arrow), look: "arrow" };
    } else {
        const text = h && hoverLines(h);
        tooltip.value = text ? { x: screenX, y: screenY, ...text } : null;
    }
    const wait = h?.tile?.kind === "exact" && h.wait >= 0 ? { thread: h.row.thread, index: h.tile.index[h.wait] } : undefined;
    const next = h ? { thread: h.row.thread || undefined, lock: h.row.lock || undefined, wait, also: alsoLit(h) } : null;
    if (JSON.stringify(next) !== JSON.stringify(state.hover.value))
        state.hover.value = next;
}

export function leave(): void {
    hoverX.value = null;
    tooltip.value = null;
    state.hover.value = null;
}

function follow(a: Arrow): void {
    if (a.index !== 0xffffffff)
        state.choose({ wait: { thread: a.to, index: a.index } });
    else
        lookAt(`t${a.to}`, a.t1);
}

function lookAt(row: string, time: number): void {
    state.choose({ at: { row, time } });
}

function onClick(x: number, y: number): void {
    const h = hit(x, y);
    if (h?.mark)
        return state.choose({ mark: { thread: h.mark.thread, index: h.mark.index } });
    const arrow = arrowUnder(x, y);
    if (arrow)
        return follow(arrow);
    if (!h)
        return;
    state.focusRow.value = h.row.id;
    if (h.tile?.kind === "exact" && h.wait >= 0)
        return state.choose({ wait: { thread: h.row.thread, index: h.tile.index[h.wait] } });
    if (h.row.thread) {
        state.source.value?.at(h.row.id, h.time).then((answer) => {
            if ("index" in answer)
                state.choose({ wait: { thread: (answer as Wait).thread, index: (answer as Wait).index } });
            else
                lookAt(h.row.id, h.time);
        }).catch(problem);
    } else if (h.row.lock) {
        lookAt(h.row.id, h.time);
    } else if (h.row.folded !== null) {
        toggle(h.row.id);
    }
}

export function onDouble(x: number, y: number): void {
    const h = hit(x, y);
    if (h?.tile?.kind === "exact" && h.wait >= 0)
        state.show(state.padded({ from: h.tile.start[h.wait], to: h.tile.end[h.wait] }, 0.5));
    else if (h)
        zoom(0.25, x);
}

// --- moving ----------------------------------------------------------------------------------------------

/** The visible time becomes `factor` of what it is; what is at pixel x stays there. */
export function zoom(factor: number, x?: number): void {
    const v = state.view.value;
    const at = v.from + ((x ?? hoverX.value ?? size.value.width / 2) / size.value.width) * (v.to - v.from);
    state.following.value = false;
    state.show({ from: at - (at - v.from) * factor, to: at + (v.to - at) * factor });
}

/** By that fraction of the visible time. */
export function pan(part: number): void {
    const v = state.view.value;
    const d = (v.to - v.from) * part;
    state.following.value = false;
    state.show({ from: v.from + d, to: v.to + d });
}

export function scrollBy(px: number): void {
    document.querySelector<HTMLElement>("[data-test=rows]")?.scrollBy(0, px);
}



export function onWheel(e: WheelEvent): void {
    const line = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? size.value.height : 1;
    if (e.ctrlKey || e.metaKey) {
        e.preventDefault();
        zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY * line)) * 0.008), e.offsetX);
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
        e.preventDefault();
        pan(((Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.deltaY) * line) / size.value.width);
    }
}

/** A press that moves marks a range; one that does not is a click. */
export function onDown(e: PointerEvent): void {
    if (e.button !== 0)
        return;
    const canvas = e.currentTarget as HTMLElement;
    const x0 = e.offsetX;
    const y0 = e.offsetY;
    const time = (x: number): number => {
        const v = state.view.value;
        return v.from + (x / size.value.width) * (v.to - v.from);
    };
    const from = time(x0);
    let dragged = false;
    const move = (m: PointerEvent): void => {
        const x = Math.min(size.value.width, Math.max(0, m.clientX - canvas.getBoundingClientRect().left));
        dragged ||= Math.abs(x - x0) > 4;
        if (dragged) {
            const to = time(x);
            state.marked.value = { from: Math.min(from, to), to: Math.max(from, to) };
        }
    };
    const up = (): void => {
        canvas.removeEventListener("pointermove", move);
        canvas.removeEventListener("pointerup", up);
        canvas.removeEventListener("pointercancel", up);
        if (!dragged)
            onClick(x0, y0);
    };
    canvas.setPointerCapture(e.pointerId);
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
}
