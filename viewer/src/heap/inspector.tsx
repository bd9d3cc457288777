// inspector.tsx - one object: what it is, what it refers to, who refers to it, and why it is alive.
import { useEffect, useRef } from "preact/hooks";
import { bytes, count, percent, plural } from "../format.ts";
import { usePages, useHeap } from "./ask.ts";
import { Missing, More, ObjectLink, RootText, ValueText, retainedText } from "./links.tsx";
import * as state from "./state.ts";
import type { Elements, Field, HeapObject, Link, Path, Referrers, Value } from "./types.ts";

export function Inspector() {
    const number = state.object.value;
    const answer = useHeap<HeapObject>(number === null ? null : `/object?object=${number}`, "sized");
    const box = useRef<HTMLElement>(null);
    useEffect(() => { box.current?.scrollTo(0, 0); }, [number]);
    const of = answer.value;
    return (
        <aside class={`heap-inspector panelbody${answer.busy ? " busy" : ""}`} aria-label="Object" data-view="inspector" data-test="inspector" tabIndex={-1} ref={box}>
            {number === null && <p class="dim">Select an object to see its fields, what refers to it, and what keeps it alive.</p>}
            <Missing of={answer} what="The object" />
            {number !== null && of && (
                <>
                    <Head of={of} />
                    {of.is_class && <ClassPart of={of.is_class} />}
                    {of.string && <Text of={of.string} />}
                    {of.fields.length > 0 && <Fields title="Fields" rows={of.fields} all={of.n_fields} test="fields" />}
                    <PathPart key={`p${of.object}`} of={of} />
                    <ReferrersPart key={`r${of.object}`} object={of.object} />
                    {of.elements !== null && <ElementsPart key={of.object} object={of.object} />}
                </>)}
        </aside>
    );
}

function Head({ of }: { of: HeapObject }) {
    const all = state.overview.value?.bytes ?? 0;
    return (
        <header>
            <h2 data-test="object-label" data-object={of.object}>{of.label}</h2>
            <dl class="heap-facts">
                <dt>Id</dt><dd>{of.id}</dd>
                <dt>Class</dt><dd>{of.class === null ? "unknown" : <button type="button" class="link" data-test="object-class" onClick={() => state.chooseClass(of.class!)}>{of.class_name}</button>}
                    {of.class_object !== null && of.class_object !== of.object && <> <button type="button" class="link" onClick={() => state.choose(of.class_object!)}>(statics)</button></>}</dd>
                <dt>Shallow</dt><dd>{retainedText(of.shallow)}</dd>
                <dt>Retained</dt><dd data-test="object-retained">{of.reached === null ? "unknown: the dump is incomplete" : of.reached ? `${retainedText(of.retained)}, ${percent(of.retained ?? 0, all)} of the heap` : "not reachable from the roots: garbage, or only weakly reachable"}</dd>
                {of.reached && <><dt>Kept by</dt><dd>{of.dominator ? <ObjectLink of={of.dominator} test="dominator" /> : "the roots, not by one object alone"}</dd></>}
            </dl>
            {of.reached && <p class="heap-buttons"><button type="button" data-test="show-icicle" onClick={() => state.zoom(of.object)}>{of.children ? `What it keeps alive (${count(of.children)})` : "In the icicle"}</button> <button type="button" data-test="show-tree" onClick={() => state.zoom(of.object, "tree")}>In the tree</button></p>}
        </header>
    );
}

function Text({ of }: { of: { text: string; length: number } }) {
    return (
        <section>
            <h3>Text <span class="dim">{count(of.length)} characters</span></h3>
            <pre class="heap-text" data-test="string">{of.text}{of.length > of.text.length ? "…" : ""}</pre>
        </section>
    );
}

function Fields({ title, rows, all, test }: { title: string; rows: Field[]; all: number; test: string }) {
    return (
        <section>
            <h3>{title} <span class="dim">{state.overview.value?.no_contents ? "references; others are unknown: " : ""}{count(all)}{all > rows.length ? `, the first ${count(rows.length)} here` : ""}</span></h3>
            <table class="heap-fields" data-test={test}>
                <tbody>{rows.map((f, i) => (
                    <tr key={i} data-field={f.name}><th scope="row" title={f.of && `declared by ${f.of}`}>{f.name}</th><td class="dim">{f.type}</td><td><ValueText of={f} /></td>
                        <td class="right dim">{f.to ? retainedText(f.to.retained) : ""}</td></tr>))}</tbody>
            </table>
        </section>
    );
}

function ClassPart({ of }: { of: NonNullable<HeapObject["is_class"]> }) {
    return (
        <>
            <dl class="heap-facts">
                <dt>Instances</dt><dd><button type="button" class="link" data-test="class-instances" onClick={() => state.chooseClass(of.class)}>{count(of.objects)}</button>, {bytes(of.bytes)}{state.knowsKeepers.value && `, retained ${retainedText(of.retained)}`}</dd>
                <dt>Super class</dt><dd>{of.super ? <ObjectLink of={of.super} /> : "none"}</dd>
                <dt>Loader</dt><dd>{of.loader ? <ObjectLink of={of.loader} /> : "boot loader"}</dd>
            </dl>
            {of.n_statics > 0 && <Fields title="Statics" rows={of.statics} all={of.n_statics} test="statics" />}
        </>
    );
}

function ElementsPart({ object }: { object: number }) {
    const list = usePages<Elements, Value>(`/elements?object=${object}`, "sized", (part) => part.elements);
    return (
        <section>
            <h3>Elements <span class="dim">{list.value ? `${plural(list.value.n, list.value.type)}` : ""}</span></h3>
            <Missing of={list} what="Elements" />
            <table class="heap-fields" data-test="elements">
                <tbody>{list.rows.map((v, i) => (
                    <tr key={i}><th scope="row">[{i}]</th><td><ValueText of={v} /></td><td class="right dim">{v.to ? retainedText(v.to.retained) : ""}</td></tr>))}</tbody>
            </table>
            <More of={list} all={list.value?.n ?? 0} test="more-elements" />
        </section>
    );
}

/** From the root down to the object: each with what leads from the one above it. */
function Steps({ of, path, test }: { of: HeapObject; path: Path; test: string }) {
    return (
        <ol class="heap-path" data-test={test}>
            <li class="dim">{path.roots.map((r, i) => <span key={i}>{i > 0 && ", "}<RootText of={r} /></span>)}</li>
            {path.path.map((step, i) => (
                <li key={i} data-step={step.object}>
                    {path.left_out > 0 && i === path.path.length / 2 && <div class="dim">… {count(path.left_out)} objects …</div>}
                    {step.by && <span class="heap-by">{step.by}</span>} {step.object === of.object ? <b>this object</b> : <ObjectLink of={step} />}
                </li>))}
        </ol>
    );
}

function PathPart({ of }: { of: HeapObject }) {
    const answer = useHeap<Path>(`/path?object=${of.object}`, "ready");
    const p = answer.value;
    return (
        <section aria-label="Path from a root">
            <h3>Path from a root</h3>
            <Missing of={answer} what="The path" />
            {p?.not_known !== undefined && <p class="dim" data-test="path-not-known">Not known: {p.not_known}.</p>}
            {p && p.n === 0 && <p class="dim">No root leads to it without weak references.</p>}
            {p && p.n > 0 && <Steps of={of} path={p} test="path" />}
            {p?.others?.map((other, i) => <div key={i}><h4>Another path</h4><Steps of={of} path={other} test="other-path" /></div>)}
        </section>
    );
}

function ReferrersPart({ object }: { object: number }) {
    const list = usePages<Referrers, Link>(`/referrers?object=${object}`, "ready", (part) => part.referrers);
    return (
        <section>
            <h3>Who refers to it <span class="dim">{list.value ? state.atLeast.value + count(list.value.n) : ""}</span></h3>
            <Missing of={list} what="Who refers to it" />
            {list.value?.n === 0 && <p class="dim">Nobody in {state.knowsKeepers.value ? "the heap" : "what could be read of the dump"}.</p>}
            <table class="heap-fields" data-test="referrers">
                <tbody>{list.rows.map((r) => (
                    <tr key={r.object}><td><ObjectLink of={r} /></td><td>{r.by}{r.weak && <span class="dim" title="does not keep it alive"> weak</span>}</td><td class="right dim">{retainedText(r.retained)}</td></tr>))}</tbody>
            </table>
            <More of={list} all={list.value?.n ?? 0} test="more-referrers" />
        </section>
    );
}
