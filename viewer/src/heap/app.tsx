// app.tsx - the page of a heap dump: what stands where.
import { useState } from "preact/hooks";
import { bytes, count, plural } from "../format.ts";
import { dismiss, problem, problems } from "../problem.ts";
import { isDark } from "../theme.ts";
import { Tabs } from "../views/tabs.tsx";
import { Classes } from "./classes.tsx";
import { Collections } from "./collections.tsx";
import { Growth } from "./growth.tsx";
import { Help } from "./help.tsx";
import { Icicle } from "./icicle.tsx";
import { Inspector } from "./inspector.tsx";
import { get } from "./source.ts";
import * as state from "./state.ts";
import type { Tab } from "./state.ts";
import { Strings } from "./strings.tsx";
import { Suspects } from "./suspects.tsx";
import { Threads } from "./threads.tsx";
import { Tree } from "./tree.tsx";
import type { HeapObject, Overview } from "./types.ts";
import "../app.css";
import "../views/toolbar.css";
import "../views/scope.css";
import "./heap.css";

const TITLES: Record<Tab, string> = {
    suspects: "Leak suspects", classes: "Classes", tree: "Dominator tree", icicle: "Icicle", strings: "Equal strings", collections: "Collections", threads: "Threads", diff: "Growth",
};
const VIEWS: Record<Tab, () => preact.JSX.Element> = {
    suspects: Suspects, classes: Classes, tree: Tree, icicle: Icicle, strings: Strings, collections: Collections, threads: Threads, diff: Growth,
};

export function App() {
    const o = state.overview.value!;
    const View = VIEWS[state.tab.value];
    return (
        <>
            <Toolbar o={o} />
            <Problems o={o} />
            {o.no_contents && <p class="heap-note dim" data-test="is-xml">{o.no_contents}</p>}
            <Phase o={o} />
            <main class="heap-main">
                <section class="heap-left" aria-label="heap">
                    <Tabs label="views" tabs={state.tabs.value} titles={TITLES} value={state.tab.value} onChange={(t) => { state.tab.value = t; }} />
                    <div class="panelbody" id="panel" role="tabpanel" aria-labelledby={`tab-${state.tab.value}`}><View /></div>
                </section>
                <Inspector />
            </main>
            <Help />
        </>
    );
}

function Toolbar({ o }: { o: Overview }) {
    return (
        <header class="toolbar" data-view="toolbar">
            <strong class="brand">Orca</strong>
            <span class="what" title={o.path}><b>{o.name}</b></span>
            {o.objects !== undefined && <Facts o={o} />}
            <span class="gap" />
            <FindId />
            <button class="switch" data-test="theme" title="dark or light" aria-label={isDark.value ? "light colours" : "dark colours"} onClick={() => { state.theme.value = isDark.value ? "light" : "dark"; }}>{isDark.value ? "☀" : "☾"}</button>
            <button class="switch" data-test="help" title="help (?)" aria-label="help" onClick={() => { state.dialog.value = "help"; }}>?</button>
        </header>
    );
}

function Facts({ o }: { o: Overview }) {
    const kinds = (o.root_kinds ?? []).map((k) => `${count(k.count)} ${k.kind}`).join(", ");
    return (
        <span class="program" data-test="facts">
            {state.atLeast.value}<span title={`${count(o.bytes!)} bytes; the file has ${bytes(o.disk_bytes!)}, ids of ${o.id_bytes} bytes${o.no_contents ? "" : `; objects have headers of ${o.header_bytes} bytes and references of ${o.reference_bytes}`}`}>{bytes(o.bytes!)}</span>
            {" in "}<span data-test="objects">{plural(o.objects!, "object")}</span> of {count(o.classes!)} classes, <span title={kinds}>{plural(o.roots!, "root")}</span>
            {o.unreached && <>, <span data-test="unreached" title="Not reachable from the roots: garbage, or only weakly reachable">{bytes(o.unreached.bytes)} unreachable</span></>}
            {o.made_unix_ms ? `; made ${new Date(o.made_unix_ms).toLocaleString()}` : ""}
        </span>
    );
}

/** An id as tables and other tools print it. */
function FindId() {
    const [text, setText] = useState("");
    const find = async (): Promise<void> => {
        try {
            state.choose((await get<HeapObject>(`/object?id=${encodeURIComponent(text.trim())}`)).object);
        } catch (e) {
            problem(e);
        }
    };
    return (
        <form class="recording" onSubmit={(e) => { e.preventDefault(); void find(); }}>
            <input value={text} placeholder="Id: 0x7ff2a310" aria-label="Find an object by its id" data-test="find-id" required onInput={(e) => setText(e.currentTarget.value)} />
        </form>
    );
}

/** What is missing from the dump, before everything else. */
function Problems({ o }: { o: Overview }) {
    const wrong = [...(o.problems ?? []), ...(o.more_problems ? [`and ${count(o.more_problems)} more`] : [])];
    return (
        <div class="problems" role="alert">
            {state.gone.value && <p data-test="gone">{state.gone.value}</p>}
            {o.error && <p data-test="heap-error">{o.error}</p>}
            {o.partial && <p data-test="partial"><span><b>The dump is incomplete.</b> Missing: {o.missing?.join("; ")}. {o.not_known} {o.remedy}{wrong.length > 0 && ` (${o.path}: ${wrong.join("; ")})`}</span></p>}
            {problems.value.map((t) => <p key={t} data-test="problem">{t} <button aria-label="dismiss" onClick={() => dismiss(t)}>×</button></p>)}
        </div>
    );
}

function Phase({ o }: { o: Overview }) {
    const p = o.phase;
    return p === null ? null : (
        <div class="phase" role="status" data-test="phase">
            <progress aria-label="progress" value={p.total ? p.done : undefined} max={p.total || undefined} /> {p.steps > 1 ? `Step ${p.step} of ${p.steps}: ` : ""}{p.text} …
        </div>
    );
}
