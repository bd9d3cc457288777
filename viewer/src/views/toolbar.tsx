// toolbar.tsx - what is looked at, and the switches that are used most.
import { duration } from "../format.ts";
import * as state from "../state.ts";
import { isDark } from "../theme.ts";
import { INTERACTIONS } from "../types.ts";
import { flip } from "./legend.tsx";
import { Recording } from "./recording.tsx";
import "./toolbar.css";

interface SwitchProps { on: boolean; test: string; title: string; keyName?: string; disabled?: boolean; flip(): void; children: preact.ComponentChildren }

function Switch({ on, test, title, keyName, disabled, flip: turn, children }: SwitchProps) {
    return (
        <button class={`switch${on ? " on" : ""}`} data-test={test} aria-pressed={on} disabled={disabled} title={keyName ? `${title} (${keyName})` : title} onClick={turn}>{children}</button>
    );
}

function Grouping() {
    return (
        <span class="choice" role="radiogroup" aria-label="group the threads">
            {(["group", "pool", "flat"] as const).map((g) => (
                <button key={g} role="radio" aria-checked={state.grouping.value === g} class={state.grouping.value === g ? "on" : ""} data-test={`by-${g}`}
                    disabled={state.mode.value !== "threads"} title={`${g === "group" ? "by thread group" : g === "pool" ? "by pool: names that differ only in a number" : "not grouped"} (G)`}
                    onClick={() => { state.grouping.value = g; }}>{g === "group" ? "Groups" : g === "pool" ? "Pools" : "Flat"}</button>
            ))}
        </span>
    );
}

function Rows() {
    return (
        <span class="choice" role="radiogroup" aria-label="rows">
            {(["threads", "locks"] as const).map((m) => (
                <button key={m} role="radio" aria-checked={state.mode.value === m} class={state.mode.value === m ? "on" : ""} data-test={`rows-${m}`} title={`rows: ${m} (R)`}
                    onClick={() => { state.mode.value = m; }}>{m === "threads" ? "Threads" : "Locks"}</button>
            ))}
        </span>
    );
}

function ArrowMenu() {
    return (
        <details class="menu">
            <summary data-test="arrow-menu" aria-label="kinds of arrows" title="kinds of arrows">▾</summary>
            <div class="popup">
                {INTERACTIONS.map((how) => (
                    <label key={how}>
                        <input type="checkbox" checked={state.arrowKinds.value.has(how)} data-test={`kind-${how}`} onChange={() => flip(how)} />
                        {how}
                    </label>
                ))}
            </div>
        </details>
    );
}

function Range() {
    const r = state.marked.value ?? state.view.value;
    return (
        <span class="range" data-test="range" aria-live="polite">
            {state.marked.value ? "marked " : ""}{duration(r.to - r.from)}
            {state.marked.value && <button class="small" data-test="unmark" title="unmark (Esc)" aria-label="unmark" onClick={() => { state.marked.value = null; }}>×</button>}
        </span>
    );
}

export function Toolbar() {
    const m = state.meta.value;
    if (!m)
        return null;
    const only = state.filter.value;
    return (
        <header class="toolbar" data-view="toolbar">
            <strong class="brand">Orca</strong>
            <span class="what" title={`${m.name}: ${m.recording.program}`}><b>{m.name}</b> <span class="program">{m.recording.program}</span></span>
            <span class="total">{duration(m.to - m.from)}</span>
            {m.live && <Switch on={state.following.value} test="follow" title="keep the newest events in view" keyName="L" flip={state.follow}>● live</Switch>}
            <Recording m={m} />
            <span class="gap" />
            <Rows />
            <Grouping />
            <Switch on={only !== null} test="filter" title="choose threads" keyName="T" flip={() => { state.dialog.value = "filter"; }}>{only ? `${only.size} threads` : "Filter"}</Switch>
            {state.mode.value === "locks" && state.lockClass.value && <button class="switch on" data-test="all-classes" title="show locks of all classes" onClick={() => { state.lockClass.value = null; }}>{state.lockClass.value} ×</button>}
            <Switch on={state.pathOn.value} test="path" title={m.path ? "critical path" : "no critical path: the program's end was not recorded"} keyName="C" disabled={!m.path} flip={() => { state.pathOn.value = !state.pathOn.value; }}>Critical path</Switch>
            {!!m.allocations?.n && <Switch on={state.allocOn.value} test="alloc" title="allocation rates: purple, below the threads' bars" flip={() => { state.allocOn.value = !state.allocOn.value; }}>Allocation</Switch>}
            <Switch on={state.arrowsOn.value} test="arrows" title="arrows" keyName="X" flip={() => { state.arrowsOn.value = !state.arrowsOn.value; }}>Arrows</Switch>
            <ArrowMenu />
            <Range />
            <button class="switch" data-test="fit" title="zoom to the marked range (F)" disabled={!state.marked.value} onClick={() => { if (state.marked.value) state.show(state.padded(state.marked.value, 0.02)); }}>Fit</button>
            <button class="switch" data-test="all" title="the whole recording (0)" onClick={() => { state.showAll(); }}>All</button>
            <button class="switch" data-test="search" title="search threads, classes, methods (/)" onClick={() => { state.dialog.value = "search"; }}>Search</button>
            <button class="switch" data-test="theme" title="dark or light" aria-label={isDark.value ? "light colours" : "dark colours"} onClick={() => { state.theme.value = isDark.value ? "light" : "dark"; }}>{isDark.value ? "☀" : "☾"}</button>
            <button class="switch" data-test="help" title="help (?)" aria-label="help" onClick={() => { state.dialog.value = "help"; }}>?</button>
        </header>
    );
}
