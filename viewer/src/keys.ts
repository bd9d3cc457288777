// keys.ts - the keyboard: one table, of which the help is made, too.
import * as state from "./state.ts";
import { TABS } from "./state.ts";
import { pin, rows, toggle } from "./rows.ts";
import { revealRow } from "./stage.ts";
import { pan, zoom } from "./views/pointer.ts";
import { goCause, goEffect } from "./views/details.tsx";

interface Key { keys: string[]; text: string; run(e: KeyboardEvent): void }

function step(by: number): void {
    const list = rows.value;
    const now = list.findIndex((r) => r.id === state.focusRow.value && !r.pinned);
    const next = Math.min(Math.max(now < 0 ? list.findIndex((r) => !r.pinned) : now + by, 0), list.length - 1);
    if (list[next]) {
        state.focusRow.value = list[next].id;
        revealRow(next);
    }
}

/** The wait before or after the chosen one in the focused row, or the one in the middle of the view. */
function enter(): void {
    const id = state.focusRow.value;
    const row = rows.value.find((r) => r.id === id);
    if (!row)
        return;
    if (row.folded !== null)
        toggle(row.id);
    else if (id)
        state.chooseOnly({ at: { row: id, time: (state.view.value.from + state.view.value.to) / 2 } });
}

function fit(): void {
    const r = state.marked.value;
    if (r)
        state.show(state.padded(r, 0.02));
}

function group(): void {
    const order = ["group", "pool", "flat"] as const;
    state.grouping.value = order[(order.indexOf(state.grouping.value) + 1) % order.length];
}

function escape(): void {
    if (state.dialog.value)
        state.dialog.value = null;
    else if (state.marked.value)
        state.marked.value = null;
    else
        state.chooseOnly({});
}

export const KEYS: Key[] = [
    { keys: ["w", "+"], text: "zoom in at the mouse", run: () => zoom(0.6) },
    { keys: ["s", "-"], text: "zoom out", run: () => zoom(1 / 0.6) },
    { keys: ["a", "ArrowLeft"], text: "to earlier time", run: () => pan(-0.2) },
    { keys: ["d", "ArrowRight"], text: "to later time", run: () => pan(0.2) },
    { keys: ["ArrowUp"], text: "to the row above", run: () => step(-1) },
    { keys: ["ArrowDown"], text: "to the row below", run: () => step(1) },
    { keys: ["PageUp"], text: "ten rows up", run: () => step(-10) },
    { keys: ["PageDown"], text: "ten rows down", run: () => step(10) },
    { keys: ["Enter"], text: "fold or unfold the row; its wait in the middle of the view", run: enter },
    { keys: ["f"], text: "fit: zoom to the marked range", run: fit },
    { keys: ["0"], text: "the whole recording", run: () => { state.marked.value = null; state.showAll(); } },
    { keys: ["m"], text: "mark what is visible", run: () => { state.marked.value = { ...state.view.value }; } },
    { keys: ["/"], text: "search threads, classes, methods", run: () => { state.dialog.value = "search"; } },
    { keys: ["["], text: "to what ended the chosen wait", run: () => goCause() },
    { keys: ["]"], text: "to the thread's next effect on another one", run: () => goEffect() },
    { keys: ["c"], text: "critical path on and off", run: () => { state.pathOn.value = !state.pathOn.value; } },
    { keys: ["x"], text: "arrows on and off", run: () => { state.arrowsOn.value = !state.arrowsOn.value; } },
    { keys: ["g"], text: "group by thread group, by pool, not at all", run: group },
    { keys: ["r"], text: "rows: threads or locks", run: () => { state.mode.value = state.mode.value === "threads" ? "locks" : "threads"; } },
    { keys: ["p"], text: "pin the row to the top", run: () => { if (state.focusRow.value ?? state.hover.value?.thread) pin(state.focusRow.value ?? `t${state.hover.value!.thread}`); } },
    { keys: ["t"], text: "choose threads (filter)", run: () => { state.dialog.value = "filter"; } },
    { keys: ["l"], text: "follow a live recording", run: () => { if (state.meta.value?.live) state.follow(); } },
    ...TABS.map((name, k) => ({ keys: [String(k + 1)], text: `panel: ${name}`, run: () => { if (state.tabs.value.includes(name)) state.tab.value = name; } })),
    { keys: ["?"], text: "this help", run: () => { state.dialog.value = "help"; } },
    { keys: ["Escape"], text: "close, unmark, choose nothing", run: escape },
];

const table = new Map(KEYS.flatMap((k) => k.keys.map((name) => [name, k] as const)));

/** Where the keys mean something else: texts, lists, and the grids of tables, which move in themselves. */
function taken(e: KeyboardEvent): boolean {
    const t = e.target as HTMLElement;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName))
        return !(t instanceof HTMLInputElement && t.type === "checkbox" && e.key !== " ");
    const own = /^(Arrow|Page|Home|End|Enter| )/.test(e.key);
    return own && (t.tagName === "BUTTON" || t.tagName === "A" || t.tagName === "SUMMARY" || t.getAttribute("role") === "tab" || t.closest("[data-keys]") !== null);
}

export function watchKeys(): void {
    document.addEventListener("keydown", (e) => {
        if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented)
            return;
        if (state.dialog.value && e.key !== "Escape")
            return;
        const k = table.get(e.key.length === 1 ? e.key.toLowerCase() : e.key);
        if (!k || taken(e))
            return;
        e.preventDefault();
        k.run(e);
    });
}
