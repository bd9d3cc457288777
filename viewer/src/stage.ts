// stage.ts - what is drawn, and when: the picture that the state asks for, with the next frame.
import { computed, effect, signal } from "@preact/signals";
import { contextsArrived, forgetContexts } from "./contexts.ts";
import type { Arrow } from "./draw/arrows.ts";
import type { Lanes } from "./draw/lane.ts";
import { lanesOf } from "./draw/lane.ts";
import { palette } from "./draw/palette.ts";
import type { Mark } from "./draw/marks.ts";
import type { Overlay, Picture } from "./draw/scene.ts";
import { inSight, levelOfPicture, Scene } from "./draw/scene.ts";
import { problem } from "./problem.ts";
import { locks, ROW, rowOfThread, rows } from "./rows.ts";
import { scale } from "./scale.ts";
import type { Source } from "./source.ts";
import { Cache } from "./source/cache.ts";
import { tileWidth } from "./source/tile.ts";
import * as state from "./state.ts";
import { underWay, watch } from "./under_way.ts";
import { isDark } from "./theme.ts";
import type { Marks, Meta, RowId, TileRow } from "./types.ts";

/** Of the bars, css pixels; how many pixels make one. */
export const size = signal({ width: 800, height: 400, ratio: 1 });
/** Where the mouse is, css pixels. */
export const hoverX = signal<number | null>(null);
/** Grows when tiles have arrived. */
const arrived = signal(0);
/** Of tiles, arrows, path. */
const drawnFrom = signal(0);
/** Questions under way: for the mark of work, and for tests. */
export const pending = computed(() => drawnFrom.value + underWay.value);
/** What the wait that is chosen is part of: filled by its details. */
export const chain = signal<readonly { thread: number; from: number; to: number }[]>([]);
export const chosenBox = signal<{ thread: number; from: number; to: number } | null>(null);

/** What the threads in sight allocate. */
export const lanes = signal<Lanes | null>(null);
/** What they did beside waiting, in and around what is visible. */
export const threadMarks = signal<Marks | null>(null);

let cache: Cache | null = null;
let scene: Scene | null = null;

/** ms of the frames drawn last; left_out: arrows that are not drawn. */
export function frameTimes(): number[] {
    return scene?.times ?? [];
}
export const arrowsLeftOut = signal(0);

/** The arrows of the last frame. */
export function arrowsDrawn(): readonly Arrow[] {
    return scene?.drawn.arrows ?? [];
}

/** The signs on bars of the last frame. */
export function marksDrawn(): readonly Mark[] {
    return scene?.marked ?? [];
}

const longest = computed(() => new Map(locks.value.map((l) => [l.id, l.longest_queue])));

export function pinnedCount(): number {
    return rows.value.findIndex((r) => !r.pinned) === -1 ? rows.value.length : rows.value.findIndex((r) => !r.pinned);
}

export function picture(): Picture | null {
    const meta = state.meta.value;
    if (!meta)
        return null;
    return {
        meta, view: state.view.value, ...size.value, rows: rows.value, pinned: pinnedCount(), scroll: state.scroll.value,
        rowOfThread: rowOfThread.value, palette: palette(isDark.value), textScale: scale.value,
        longest: longest.value,
        arrows: state.arrowsOn.value && state.mode.value === "threads" ? state.arrowKinds.value : null,
        path: state.pathOn.value && state.mode.value === "threads",
        lanes: state.allocOn.value && state.mode.value === "threads" ? lanes.value : null,
        threadMarks: state.mode.value === "threads" ? threadMarks.value?.marks ?? [] : [],
        tiles: arrived.value,
    };
}

function overlay(): Overlay {
    const h = state.hover.value;
    const focus = state.focusRow.value;
    return {
        marked: state.marked.value,
        hoverX: hoverX.value, lit: h, chosen: chosenBox.value, chain: chain.value,
        focus: focus === null ? null : rows.value.findIndex((r) => r.id === focus && !r.pinned),
    };
}

/** Draw with the next frame; the base only if something of it has changed. */
function drawing(): () => void {
    let base = true;
    let asked = 0;
    const frame = (): void => {
        asked = 0;
        const p = picture();
        if (!p || !scene)
            return;
        if (base) {
            scene.want(p);
            scene.drawBase(p);
        }
        base = false;
        scene.drawOverlay(p, overlay());
        arrowsLeftOut.value = scene.drawn.left_out;
        drawnFrom.value = cache?.pending ?? 0;
    };
    const ask = (): void => {
        asked ||= requestAnimationFrame(frame);
    };
    const stopBase = effect(() => {
        void [state.meta.value, state.view.value, size.value, rows.value, state.scroll.value, arrived.value, contextsArrived.value, isDark.value, scale.value, longest.value,
            state.arrowsOn.value, state.arrowKinds.value, state.pathOn.value, state.mode.value, state.allocOn.value, lanes.value, threadMarks.value];
        base = true;
        ask();
    });
    const stopOver = effect(() => {
        void overlay();
        ask();
    });
    return () => {
        stopBase();
        stopOver();
        cancelAnimationFrame(asked);
    };
}

const REST_MS = 120;
const LANES_MOST = 200, LANE_PART = 3; // threads, css pixels
const MARKS_MOST = 1000; // threads

/** The threads of the rows in sight, rising. */
function threadsInSight(most: number): number[] {
    const seen = { rows: rows.value, pinned: pinnedCount(), scroll: state.scroll.value, height: size.value.height };
    return [...new Set(inSight(seen).map((k) => seen.rows[k].thread))].filter((t) => t > 0).sort((a, b) => a - b).slice(0, most);
}

/** What of a range is recorded, whole ns. */
const recorded = (m: Meta, from: number, to: number): { from: number; to: number } =>
    ({ from: Math.floor(Math.max(from, m.from)), to: Math.ceil(Math.min(to, m.to)) });

/** Ask for the lanes of the rows in sight. */
function watchLanes(source: Source): () => void {
    return watch(REST_MS, () => {
        const m = state.meta.value, v = state.view.value, { width } = size.value, threads = threadsInSight(LANES_MOST);
        if (!m?.allocations?.n || m.phase || !state.allocOn.value || state.mode.value !== "threads" || m.packed === "tiles") {
            lanes.value = null;
            return null;
        }
        const range = recorded(m, v.from, v.to);
        const parts = Math.min(Math.max(Math.round(width / LANE_PART), 1), 1024);
        return range.to > range.from && threads.length ? () => source.rates({ ...range, threads }, parts) : null;
    }, (r) => { lanes.value = lanesOf(r); });
}

/** Ask for the marks of the rows in sight, and as far again on either side. */
function watchMarks(source: Source): () => void {
    return watch(REST_MS, () => {
        const m = state.meta.value, v = state.view.value, threads = threadsInSight(MARKS_MOST);
        if (!m || m.phase || state.mode.value !== "threads" || m.packed === "tiles")
            return null;
        const long = v.to - v.from, { from, to } = recorded(m, v.from - long, v.to + long);
        return to > from && threads.length ? () => source.marks({ from, to: to + 1, threads }) : null;
    }, (r) => { threadMarks.value = r; });
}

/** Begin to draw a source on two canvases; the result ends it. */
export function setStage(source: Source, base: HTMLCanvasElement, over: HTMLCanvasElement): () => void {
    cache = new Cache(source, () => { arrived.value++; }, problem);
    scene = new Scene(base, over, cache);
    const stop = drawing(), stopLanes = watchLanes(source), stopMarks = watchMarks(source);
    let generation = state.meta.value?.gen;
    const stopGen = effect(() => {
        const now = state.meta.value?.gen;
        if (now !== generation) {
            generation = now;
            cache?.renew();
            forgetContexts();
            arrived.value++;
        }
    });
    return () => {
        stop();
        stopLanes();
        stopMarks();
        stopGen();
    };
}

/** What the tiles say of a row at a time; undefined: they are not there yet. */
export function rowAt(p: Picture, id: RowId, time: number): TileRow | undefined {
    const level = levelOfPicture(p);
    return cache?.row(level, Math.floor(time / tileWidth(level)), id);
}

export function arrowUnder(x: number, y: number): Arrow | null {
    const p = picture();
    return p && scene ? scene.arrowAt(p, x, y) : null;
}

/** Scroll so that a row is in sight. */
export function revealRow(k: number): void {
    const box = document.querySelector<HTMLElement>("[data-test=rows]");
    if (!box || k < pinnedCount())
        return;
    const y = k * ROW;
    const top = pinnedCount() * ROW;
    if (y - box.scrollTop < top)
        box.scrollTop = y - top;
    else if (y - box.scrollTop > size.value.height - 2 * ROW)
        box.scrollTop = y - size.value.height + 3 * ROW;
}
