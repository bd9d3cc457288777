// app.tsx - the page: what stands where.
import { duration } from "./format.ts";
import { problems, dismiss } from "./problem.ts";
import * as state from "./state.ts";
import type { Tab } from "./state.ts";
import type { Meta } from "./types.ts";
import { Calls } from "./views/calls.tsx";
import { Details } from "./views/details.tsx";
import { FilterDialog } from "./views/filter.tsx";
import { Findings } from "./views/findings.tsx";
import { Flame } from "./views/flame.tsx";
import { Help } from "./views/help.tsx";
import { Legend } from "./views/legend.tsx";
import { Locks } from "./views/locks.tsx";
import { Minimap } from "./views/minimap.tsx";
import { Search } from "./views/search.tsx";
import { Statistics } from "./views/statistics.tsx";
import { Tabs } from "./views/tabs.tsx";
import { Timeline } from "./views/timeline.tsx";
import { Toolbar } from "./views/toolbar.tsx";
import "./app.css";

const TITLES: Record<Tab, string> = {
    findings: "Findings", details: "Details", statistics: "Monitor statistics", flame: "Flame graph", locks: "Locks", legend: "Legend", calls: "Calls",
};
const VIEWS: Record<Tab, () => preact.JSX.Element | null> = {
    findings: Findings, details: Details, statistics: Statistics, flame: Flame, locks: Locks, legend: Legend, calls: Calls,
};

/** How many findings there are, once that is known. */
function noteOf(tab: Tab): string {
    const m = state.meta.value;
    return tab === "findings" && m && !m.phase && !m.pending ? ` ${m.findings.length}` : "";
}

/** Between timeline and panel; moves with the mouse and with the arrow keys. */
function Splitter() {
    const set = (h: number): void => { state.panelHeight.value = Math.round(Math.min(Math.max(h, 60), window.innerHeight - 260)); };
    return (
        <div class="splitter" role="separator" aria-orientation="horizontal" aria-label="height of the panel" aria-valuenow={state.panelHeight.value} tabIndex={0} data-keys
            onKeyDown={(e) => {
                const by = e.key === "ArrowUp" ? 24 : e.key === "ArrowDown" ? -24 : 0;
                if (by) {
                    e.preventDefault();
                    set(state.panelHeight.value + by);
                }
            }}
            onPointerDown={(e) => {
                const bar = e.currentTarget as HTMLElement;
                const from = e.clientY;
                const height = state.panelHeight.value;
                const move = (m: PointerEvent): void => set(height + from - m.clientY);
                bar.setPointerCapture(e.pointerId);
                bar.addEventListener("pointermove", move);
                bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), { once: true });
            }} />
    );
}

function Phase() {
    const m = state.meta.value;
    if (!m?.partial)
        return null;
    return (
        <div class="phase" role="status" data-test="partial">
            <progress aria-label="reading" /> The first {duration(m.to - m.from)} of {duration(m.partial.to - m.from)}: the rest is being read …
        </div>
    );
}

function Problems() {
    return (
        <div class="problems" role="alert">
            {state.gone.value && <p data-test="gone">{state.gone.value}</p>}
            {problems.value.map((t) => <p key={t} data-test="problem">{t} <button aria-label="dismiss" onClick={() => dismiss(t)}>×</button></p>)}
        </div>
    );
}

/** Before anything of the trace can be seen. */
export function Reading({ meta }: { meta: Meta }) {
    const p = meta.phase!;
    return (
        <div class="reading" role="status" data-test="phase">
            <h1>{meta.name}</h1>
            <p>{p.text} …</p>
            <progress value={p.total ? p.done : undefined} max={p.total || undefined} aria-label="progress" />
        </div>
    );
}

export function App() {
    const View = VIEWS[state.tabs.value.includes(state.tab.value) ? state.tab.value : "findings"];
    return (
        <>
            <Toolbar />
            <Problems />
            <Phase />
            <Minimap />
            <Timeline />
            <Splitter />
            <section class="panel" style={{ height: `${state.panelHeight.value}px` }} aria-label="panel">
                <Tabs label="panels" tabs={state.tabs.value} titles={TITLES} note={noteOf} value={state.tab.value} onChange={(t) => { state.tab.value = t; }} />
                <div class="panelbody" id="panel" role="tabpanel" aria-labelledby={`tab-${state.tab.value}`} data-keys><View /></div>
            </section>
            <FilterDialog />
            <Search />
            <Help />
        </>
    );
}
