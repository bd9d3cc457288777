// flame.tsx - where threads lost time, or memory went: a flame graph of waits, samples, allocations.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { count, percent, plural } from "../format.ts";
import { flameBy, flameStates, meta, myCode, noise, selection } from "../state.ts";
import { isDark } from "../theme.ts";
import { EXECUTED, STATES, isAlloc, isSampled } from "../types.ts";
import type { By, Flame as FlameData, StateName } from "../types.ts";
import { useAnswer } from "./ask.ts";
import { Choice } from "./choice.tsx";
import { FlameCanvas } from "./flame_canvas.tsx";
import { childLists, layout, matchedTotal, methodSums, tree } from "./flame_layout.ts";
import type { MethodSum, Tree } from "./flame_layout.ts";
import { Names, executedColour, what, written } from "./flame_names.ts";
import type { Column } from "./rows.ts";
import { amount } from "./statistics_columns.tsx";
import { Scope } from "./scope.tsx";
import { Table } from "./table.tsx";
import "./flame.css";

const BY: { value: By; text: string; hint: string }[] = [
    { value: "waiter", text: "Who waited", hint: "Stacks of who waited" },
    { value: "owner", text: "Who held it", hint: "Stacks of the owners, where recorded (ownerstacks=)" },
    { value: "waker", text: "Who ended it", hint: "Stacks of who ended the waits" },
    { value: "cpu", text: "Processor time", hint: "What threads executed" },
    { value: "wall", text: "Wall clock", hint: "Running or not" },
    { value: "owner-cpu", text: "Owners' processor time", hint: "While these threads waited" },
    { value: "owner-wall", text: "Owners' wall clock", hint: "While these threads waited" },
    { value: "alloc", text: "Allocated", hint: "Where objects were allocated" },
    { value: "live", text: "Not freed", hint: "Allocated here and not freed by the end: still alive, or not collected yet" },
];

/** Those of samples and allocations only where there are some. */
function choices() {
    const n = meta.value?.samples, a = meta.value?.allocations;
    return BY.filter(({ value: b }) => (isAlloc(b) ? a?.n && (b === "alloc" || a.live) : !isSampled(b) || (b.endsWith("cpu") ? n?.cpu : n?.wall)));
}

const isOfWaits = (by: By) => !isSampled(by) && !isAlloc(by);

export function Flame() {
    const words = useSignal("");
    const zoom = useSignal<readonly string[]>([]);
    const asTable = useSignal(false);
    const s = selection.value, states = flameStates.value, by = flameBy.value;
    const answer = useAnswer(JSON.stringify([s, states, by]), (source) => source.flame(s, states ? [...states] : null, by));
    const made = useMemo(() => answer.value && { flame: answer.value, names: new Names(answer.value), tree: tree(answer.value, myCode.value) },
        [answer.value, myCode.value]);
    const zoomed = made ? find(made.tree, made.names, zoom.value) : 0;
    const boxes = useMemo(() => made && layout(made.tree, zoomed, noise.value / 1000), [made, zoomed, noise.value]);
    const onZoom = (node: number) => (zoom.value = made ? pathTo(made.tree, made.names, Math.max(node, 0)) : []);
    return (
        <section class={`flame${answer.busy ? " busy" : ""}`} data-view="flame" aria-label="Flame graph">
            <Scope busy={answer.busy} error={answer.error}>
                {made && <Total flame={made.flame} />}
                <button type="button" aria-pressed={asTable.value} data-test="flame-as-table" onClick={() => (asTable.value = !asTable.value)}>As a table</button>
            </Scope>
            <div class="flame-controls">
                <Choice name="flame-by" label="Whose stacks" options={choices()} value={by} onChange={(v) => (flameBy.value = v)} />
                {isOfWaits(by) && <States />}
                <button type="button" aria-pressed={myCode.value} data-test="flame-mycode" onClick={() => (myCode.value = !myCode.value)}
                    title="Fold frames of the JDK, and of classes made for lambdas, into their callers">Just my code</button>
                <label title="Hide frames below this share">Least <input type="range" min="0" max="50" step="1" value={noise.value} data-test="flame-noise"
                    onInput={(e) => (noise.value = Number(e.currentTarget.value))} /> <span class="flame-least">{(noise.value / 10).toFixed(1)} %</span></label>
                <input type="search" placeholder="Highlight" aria-label="Highlight methods" data-test="flame-search" value={words.value}
                    onInput={(e) => (words.value = e.currentTarget.value)} onKeyDown={(e) => e.key !== "Escape" && e.stopPropagation()} />
                {made && words.value.trim() && <span role="status" data-test="flame-matched">{matched(made, words.value)}</span>}
                {boxes && boxes.hidden > 0 && !asTable.value && <span class="dim" data-test="flame-hidden">{count(boxes.hidden)} too small</span>}
            </div>
            {made && <Executed flame={made.flame} />}
            {made && zoomed > 0 && !asTable.value && <Crumbs tree={made.tree} names={made.names} zoomed={zoomed} onZoom={onZoom} />}
            {!made ? <p class="flame-none">{answer.busy ? "Computing …" : answer.error ? "" : "Nothing here."}</p>
                : made.flame.total_ns === 0 ? <p class="flame-none" data-test="flame-none">{made.flame.not_asked_count ? `No owner's stack was recorded in ${made.flame.not_asked_count === 1 ? "this wait" : `these ${count(made.flame.not_asked_count)} waits`}. Record with ownerstacks=all to have a stack of each.` : isAlloc(by) ? "Nothing was allocated here." : isSampled(by) ? "No samples here." : "No thread waited in these states here. Choose other states, or a longer part of the recording."}</p>
                : asTable.value ? <Methods made={made} busy={answer.busy} />
                : boxes && <FlameCanvas tree={made.tree} layout={boxes} names={made.names} words={words.value.trim().toLowerCase()} zoomed={zoomed} onZoom={onZoom} />}
        </section>
    );
}

interface Made { flame: FlameData; names: Names; tree: Tree }

function Total({ flame }: { flame: FlameData }) {
    return (
        <span data-test="flame-total" data-ns={flame.total_ns} data-count={flame.total_count} data-failed={flame.failed_count}>
            {written(flame)(flame.total_ns)} in {plural(flame.total_count, what(flame))}
            {flame.samples ? `, estimated from ${plural(flame.samples, "sample")} (± ${percent(1 / Math.sqrt(flame.samples), 1)})` : ""}
            {flame.failed_count ? `, ${count(flame.failed_count)} without a stack` : ""}
            {flame.wanted_ns ? `; owners known ${percent(flame.owner_known_ns ?? 0, flame.wanted_ns)} of the time` : ""}
            {flame.not_asked_count ? `, of ${plural(flame.total_count + flame.not_asked_count, what(flame))}: the others have no stack of the owner` : ""}
        </span>
    );
}

/** How frames were executed, by their colours. */
function Executed({ flame }: { flame: FlameData }) {
    const dark = isDark.value;
    const there = EXECUTED.map((_, k) => k).filter((k) => k && flame.frames.some((f) => f.executed === k));
    return there.length === 0 ? null : (
        <div class="flame-crumbs" data-test="flame-executed">
            {there.map((k) => <span key={k}><i class="flame-key" style={{ background: executedColour(k, false, dark) }} /> {EXECUTED[k]} </span>)}
        </div>
    );
}

function matched(made: Made, words: string): string {
    const w = words.trim().toLowerCase();
    const ns = matchedTotal(made.tree, (frame) => made.names.matches(frame, w));
    return `${made.names.amount(ns)}, ${percent(ns, made.tree.total[0])}`;
}

// --- which states --------------------------------------------------------------------------------------

function States() {
    const states = flameStates.value;
    const toggle = (s: StateName) => {
        const next = STATES.filter((x) => (x === s) !== (states ?? []).includes(x));
        flameStates.value = next.length ? next : null;
    };
    return (
        <span class="segments" role="group" aria-label="States" data-test="flame-states">
            <button type="button" aria-pressed={states === null} data-test="flame-state-held-up" onClick={() => (flameStates.value = null)}
                title="Blocked, reacquiring a monitor, parked for a lock, permit, slot or answer">blocked</button>
            {STATES.map((s) => (
                <button key={s} type="button" aria-pressed={states?.includes(s) ?? false} data-test={`flame-state-${s}`} onClick={() => toggle(s)}>{s}</button>))}
        </span>
    );
}

// --- zoom -----------------------------------------------------------------------------------------------

/** Names from the root down, so that a zoom outlives a new answer. */
function pathTo(t: Tree, names: Names, node: number): string[] {
    const path = [];
    for (let k = node; k > 0; k = t.parent[k])
        path.push(names.full(t.frame[k]));
    return path.reverse();
}

function find(t: Tree, names: Names, path: readonly string[]): number {
    const children = childLists(t);
    let at = 0;
    for (const name of path) {
        const next = children(at).find((k) => names.full(t.frame[k]) === name);
        if (next === undefined)
            break;
        at = next;
    }
    return at;
}

function Crumbs({ tree: t, names, zoomed, onZoom }: { tree: Tree; names: Names; zoomed: number; onZoom: (node: number) => void }) {
    const nodes = [];
    for (let k = zoomed; k >= 0; k = t.parent[k])
        nodes.unshift(k);
    return (
        <nav class="flame-crumbs" aria-label="Zoomed to" data-test="flame-crumbs">
            {nodes.map((k) => (
                <button key={k} type="button" class="link" aria-current={k === zoomed ? "location" : undefined} title={names.full(t.frame[k])}
                    onClick={() => onZoom(k)}>{names.short(t.frame[k])}</button>))}
        </nav>
    );
}

// --- as a table -----------------------------------------------------------------------------------------

function Methods({ made, busy }: { made: Made; busy: boolean }) {
    const rows = useMemo(() => methodSums(made.tree, (frame) => made.names.method(frame)), [made]);
    const columns = useMemo(() => methodColumns(made), [made]);
    return <Table<MethodSum> name="flame-table" label="Methods" rows={rows} columns={columns} keyOf={(row) => row.group} order={{ id: "self", down: true }} search busy={busy} />;
}

function methodColumns({ flame, names, tree: t }: Made): Column<MethodSum>[] {
    return [
        { id: "method", title: "Method", width: 300, grow: true, value: (row) => names.methodName(row.group) },
        { id: "self", title: "Self", hint: "With this method innermost", width: 90, right: true, bar: true, data: "ns", value: (row) => row.self, text: (row) => amount(names.amount, row.self) },
        { id: "self_share", title: "Self %", width: 70, right: true, value: (row) => row.self, text: (row) => percent(row.self, t.total[0]) },
        { id: "total", title: "Total", hint: "In this method and what it called", width: 90, right: true, bar: true, data: "ns", value: (row) => row.total, text: (row) => amount(names.amount, row.total) },
        { id: "total_share", title: "Total %", width: 70, right: true, value: (row) => row.total, text: (row) => percent(row.total, t.total[0]) },
        { id: "count", title: { wait: "Waits", sample: "Samples", object: "Objects" }[what(flame)], width: 70, right: true, data: "count", value: (row) => row.count, text: (row) => count(row.count) },
    ];
}
