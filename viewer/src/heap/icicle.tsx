// icicle.tsx - who keeps what alive, to scale: each box is as wide as what its object retains.
import { useMemo, useState } from "preact/hooks";
import { bytes, count, percent } from "../format.ts";
import { FlameCanvas } from "../views/flame_canvas.tsx";
import { useHeap } from "./ask.ts";
import { Crumbs } from "./crumbs.tsx";
import { icicleBoxes, icicleNames, icicleTree } from "./icicle_layout.ts";
import { Missing, NotKnown } from "./links.tsx";
import * as state from "./state.ts";
import type { Icicle as Data } from "./types.ts";
import "../views/flame.css";

export function Icicle() {
    return state.knowsKeepers.value ? <Known /> : <section class="flame heap-icicle" data-view="icicle" aria-label="Icicle"><NotKnown what="Who keeps what alive" /></section>;
}

function Known() {
    const at = state.zoomed.value;
    const answer = useHeap<Data>(at === null ? "/icicle" : `/icicle?object=${at}`, "sized");
    const [words, setWords] = useState("");
    const data = answer.value;
    const made = useMemo(() => {
        const tree = data && icicleTree(data);
        return data && tree && { data, tree, names: icicleNames(data), boxes: icicleBoxes(tree) };
    }, [data]);
    const out = (): void => { if (data && data.object !== null) state.zoomed.value = data.up[0]?.object ?? null; };
    /** What is among others comes apart when their parent fills the width. */
    const onZoom = (node: number): void => {
        const of = data?.nodes[node];
        const object = of?.[4] === null ? data?.nodes[of[0]]?.[1] : of?.[1];
        if (node === 0)
            out();
        else if (object !== null && object !== undefined)
            state.zoom(object);
    };
    return (
        <section class={`flame heap-icicle${answer.busy ? " busy" : ""}`} data-view="icicle" aria-label="Icicle"
            onKeyDown={(e) => { if ((e.key === "Escape" || e.key === "Backspace") && (e.target as HTMLElement).tagName !== "INPUT" && !state.dialog.value) { e.preventDefault(); out(); } }}>
            <div class="flame-controls">
                <button type="button" data-test="zoom-out" disabled={!data || data.object === null} title="to the object that keeps this one alive (Esc)" onClick={out}>Zoom out</button>
                <button type="button" data-test="zoom-all" disabled={at === null} onClick={() => { state.zoomed.value = null; }}>Whole heap</button>
                <input type="search" value={words} placeholder="Highlight" aria-label="Highlight classes" data-test="icicle-words" onInput={(e) => setWords(e.currentTarget.value)} />
                {data && data.nodes[0] && <span data-test="icicle-total">{bytes(data.nodes[0][2])}, {percent(data.nodes[0][2], data.all)} of what is alive; {count(data.nodes.length)} boxes</span>}
            </div>
            {data && <Crumbs of={data} test="icicle-crumbs" as="icicle" />}
            <Missing of={answer} what="The icicle" />
            {made && (made.tree.total[0] === 0 ? <p class="flame-none">Nothing is kept alive here.</p>
                : <FlameCanvas label="Icicle of what keeps what alive" tree={made.tree} layout={made.boxes} names={made.names} words={words.trim().toLowerCase()} zoomed={0} onZoom={onZoom} />)}
        </section>
    );
}
