// url.ts - the whole view as the address's fragment, and back: what one looks at can be sent to somebody
// who has the same trace, reloaded, and undone with the back button.
//
// One table: a name, how it is written (null: as it is by itself, and left out), how it is read.
import { batch, effect } from "@preact/signals";
import * as state from "./state.ts";
import type { Range, Tab } from "./state.ts";
import { TABS } from "./state.ts";
import { ranges } from "./ranges.ts";
import type { By, Interaction, StateName } from "./types.ts";
import { BYS, INTERACTIONS, WAITS } from "./types.ts";

interface Field { name: string; write(): string | null; read(text: string | null): void }

const range = (r: Range | null): string | null => r && `${Math.round(r.from)},${Math.round(r.to)}`;

function readRange(text: string | null): Range | null {
    const [from, to] = (text ?? "").split(",").map(Number);
    return Number.isFinite(from) && Number.isFinite(to) && to > from ? { from, to } : null;
}

/** "1,5-9"; nothing beyond what there is, whatever the address says. */
export function readNumbers(text: string): number[] {
    const most = state.meta.value?.threads.name.length ?? 0;
    const out: number[] = [];
    for (const part of text.split(",")) {
        const m = /^(\d+)(?:-(\d+))?$/.exec(part);
        if (!m)
            continue;
        for (let k = Number(m[1]); k <= Math.min(Number(m[2] ?? m[1]), most - 1); k++)
            out.push(k);
    }
    return out;
}

const numbers = (set: Iterable<number>): string => ranges([...set].sort((a, b) => a - b));
const flag = (on: boolean, byItself: boolean): string | null => (on === byItself ? null : on ? "1" : "0");
const readFlag = (text: string | null, byItself: boolean): boolean => (text === null ? byItself : text === "1");
const one = <T extends string>(text: string | null, of: readonly T[], otherwise: T): T => (of.includes(text as T) ? (text as T) : otherwise);
const row = /^[tpgl]\d{1,9}$/;

const FIELDS: Field[] = [
    { name: "v", write: () => (isWhole() ? null : range(state.view.value)), read: (t) => { const r = readRange(t); if (r) state.show(r); else state.showAll(); } },
    { name: "m", write: () => range(state.marked.value), read: (t) => { state.marked.value = readRange(t); } },
    { name: "rows", write: () => (state.mode.value === "locks" ? "locks" : null), read: (t) => { state.mode.value = one(t, ["threads", "locks"], "threads"); } },
    { name: "group", write: () => (state.grouping.value === "group" ? null : state.grouping.value), read: (t) => { state.grouping.value = one(t, ["group", "pool", "flat"], "group"); } },
    { name: "fold", write: () => [...state.toggled.value].join(",") || null, read: (t) => { state.toggled.value = new Set((t ?? "").split(",").filter((r) => row.test(r))); } },
    { name: "pin", write: () => state.pinned.value.join(",") || null, read: (t) => { state.pinned.value = (t ?? "").split(",").filter((r) => row.test(r)).slice(0, 50); } },
    { name: "only", write: () => state.filter.value && numbers(state.filter.value), read: (t) => { state.filter.value = t === null ? null : new Set(readNumbers(t)); } },
    { name: "class", write: () => state.lockClass.value, read: (t) => { state.lockClass.value = t; } },
    { name: "hide", write: () => INTERACTIONS.filter((i) => !state.arrowKinds.value.has(i)).join(",") || null, read: (t) => { const off = (t ?? "").split(","); state.arrowKinds.value = new Set(INTERACTIONS.filter((i: Interaction) => !off.includes(i))); } },
    { name: "arrows", write: () => flag(state.arrowsOn.value, true), read: (t) => { state.arrowsOn.value = readFlag(t, true); } },
    { name: "path", write: () => flag(state.pathOn.value, true), read: (t) => { state.pathOn.value = readFlag(t, true); } },
    { name: "alloc", write: () => flag(state.allocOn.value, true), read: (t) => { state.allocOn.value = readFlag(t, true); } },
    { name: "wait", write: () => state.chosen.value && `${state.chosen.value.thread}.${state.chosen.value.index}`, read: (t) => { const m = /^(\d+)\.(\d+)$/.exec(t ?? ""); state.chosen.value = m ? { thread: Number(m[1]), index: Number(m[2]) } : null; } },
    { name: "at", write: () => state.chosenAt.value && `${state.chosenAt.value.row}.${Math.round(state.chosenAt.value.time)}`, read: (t) => { const m = /^([tpgl]\d+)\.(-?\d+)$/.exec(t ?? ""); state.chosenAt.value = m ? { row: m[1], time: Number(m[2]) } : null; } },
    { name: "did", write: () => state.chosenMark.value && `${state.chosenMark.value.thread}.${state.chosenMark.value.index}`, read: (t) => { const m = /^(\d+)\.(\d+)$/.exec(t ?? ""); state.chosenMark.value = m ? { thread: Number(m[1]), index: Number(m[2]) } : null; } },
    { name: "focus", write: () => state.focusRow.value, read: (t) => { state.focusRow.value = t && row.test(t) ? t : null; } },
    { name: "tab", write: () => (state.tab.value === "findings" ? null : state.tab.value), read: (t) => { state.tab.value = one<Tab>(t, TABS, "findings"); } },
    { name: "finding", write: () => (state.askedFinding.value ? String(state.askedFinding.value) : null), read: (t) => { const n = Number(t ?? 0); state.askedFinding.value = Number.isInteger(n) && n > 0 ? n : 0; } },
    { name: "threads", write: () => numbers(state.tableThreads.value) || null, read: (t) => { state.tableThreads.value = new Set(t ? readNumbers(t) : []); } },
    { name: "of", write: () => [...state.tableClasses.value].join(";") || null, read: (t) => { state.tableClasses.value = new Set(t ? t.split(";") : []); } }, // no class has a ; in its name
    { name: "states", write: () => state.flameStates.value?.join(",") ?? null, read: (t) => { const list = (t ?? "").split(",").filter((s): s is StateName => (WAITS as readonly string[]).includes(s)); state.flameStates.value = list.length ? list : null; } },
    { name: "by", write: () => (state.flameBy.value === "waiter" ? null : state.flameBy.value), read: (t) => { state.flameBy.value = one<By>(t, BYS, "waiter"); } },
    { name: "mine", write: () => flag(state.myCode.value, false), read: (t) => { state.myCode.value = readFlag(t, false); } },
    { name: "noise", write: () => (state.noise.value ? String(state.noise.value) : null), read: (t) => { const n = Number(t ?? 0); state.noise.value = n >= 0 && n <= 1000 ? n : 0; } },
    { name: "live", write: () => flag(state.following.value, false), read: (t) => { state.following.value = readFlag(t, false); } },
    { name: "theme", write: () => (state.theme.value === "auto" ? null : state.theme.value), read: (t) => { state.theme.value = one(t, ["auto", "dark", "light"], "auto"); } },
    { name: "panel", write: () => (state.panelHeight.value === state.panelByItself.value ? null : String(state.panelHeight.value)), read: (t) => { const n = Number(t ?? NaN); state.panelHeight.value = n >= 0 && n < 5000 ? n : state.panelByItself.value; } },
    { name: "y", write: () => (state.scroll.value ? String(state.scroll.value) : null), read: (t) => { const n = Number(t ?? 0); state.scroll.value = n >= 0 ? n : 0; } },
];
/** Changes of these alone are not a step back. */
const QUIET = new Set(["y", "panel", "theme", "focus", "noise"]);

/** Whether the view is what it is by itself; a live one that follows always is. */
function isWhole(): boolean {
    const m = state.meta.value;
    const v = state.view.value;
    if (!m || state.following.value)
        return true;
    const whole = m.to - m.from;
    return v.from <= m.from && v.to >= m.to && v.to - v.from <= whole * 1.03;
}

function write(): URLSearchParams {
    const q = new URLSearchParams();
    for (const f of FIELDS) {
        const text = f.write();
        if (text !== null)
            q.set(f.name, text);
    }
    return q;
}

function address(q: URLSearchParams): string {
    return `#${q.toString().replaceAll("%2C", ",")}`;
}

function loud(q: URLSearchParams): string {
    return [...q].filter(([name]) => !QUIET.has(name)).map((p) => p.join("=")).join("&");
}

/** Make the view what the address says. */
export function readAddress(): void {
    const q = new URLSearchParams(location.hash.slice(1));
    batch(() => {
        for (const f of FIELDS)
            f.read(q.get(f.name));
    });
}

/** Keep the address what the view is, from now on. */
export function watchAddress(): void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    effect(() => {
        const now = write();
        clearTimeout(timer);
        timer = setTimeout(() => {
            const before = new URLSearchParams(location.hash.slice(1));
            if (address(now) === address(before))
                return;
            const url = `${location.pathname}${location.search}${now.size ? address(now) : ""}`;
            if (loud(now) === loud(before))
                history.replaceState(null, "", url);
            else
                history.pushState(null, "", url);
        }, 250);
    });
    addEventListener("popstate", () => {
        readAddress();
        const box = document.querySelector("[data-test=rows]");
        if (box)
            box.scrollTop = state.scroll.value;
    });
}
