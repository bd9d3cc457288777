// suspects.tsx - where the heap accumulates: leak suspects, in sentences, with the way to it.
import { bytes, count, percent, plural } from "../format.ts";
import { useFound } from "./ask.ts";
import { ClassLink, Missing, NotKnown, ObjectLink } from "./links.tsx";
import * as state from "./state.ts";
import type { Suspect, Suspects as Data } from "./types.ts";

export function Suspects() {
    const answer = useFound<Data>("suspects");
    const of = answer.value;
    if (!state.knowsKeepers.value)
        return <section class="heap-suspects" data-view="suspects" aria-label="Leak suspects" tabIndex={0}><NotKnown what="Leak suspects" /></section>;
    return (
        <section class="heap-suspects" data-view="suspects" aria-label="Leak suspects" tabIndex={0}>
            <Missing of={answer} what="Leak suspects" />
            {answer.early && state.has("counted") && <p><button type="button" data-test="to-classes" onClick={() => { state.tab.value = "classes"; }}>Classes are known already</button></p>}
            {of && (of.suspects.length === 0 ? <p data-test="no-suspects">Nothing keeps {of.least_percent} % of what is alive: the heap is spread over many objects.</p> : (
                <>
                    <p class="dim">{of.suspects.length === 1 ? "One place keeps" : `${plural(of.suspects.length, "place")} keep`} {of.least_percent} % or more of the {bytes(of.alive)} that are
                        alive. Such a place is a leak, or what the program is there for: look at what has come together there, and who refers to it.</p>
                    <ol data-test="suspects">{of.suspects.map((s, k) => <One key={k} of={s} alive={of.alive} />)}</ol>
                </>))}
        </section>
    );
}

function One({ of, alive }: { of: Suspect; alive: number }) {
    const at = of.object ?? of.top;
    return (
        <li data-test="suspect" data-object={at.object}>
            <div class="heap-share"><span class="heap-share-bar" aria-hidden="true"><span style={{ width: `${(100 * of.retained) / Math.max(alive, 1)}%` }} /></span> <b>{percent(of.retained, alive)}</b> {bytes(of.retained)}</div>
            <p data-test="suspect-text">{of.text}</p>
            <p class="heap-buttons">
                <button type="button" class="primary" data-test="suspect-object" onClick={() => state.choose(at.object)}>{of.object ? "Why it is alive" : "The largest"}</button>
                {of.object && <button type="button" data-test="suspect-tree" onClick={() => state.zoom(at.object, "tree")}>What it keeps, as a tree</button>}
                {of.object && <button type="button" data-test="suspect-icicle" onClick={() => state.zoom(at.object)}>… as an icicle</button>}
                {!of.object && of.class !== null && <button type="button" data-test="suspect-class" onClick={() => state.chooseClass(of.class!)}>All {count(of.objects)}</button>}
            </p>
            {of.object && of.top.object !== of.object.object && <p class="dim">Kept by <ObjectLink of={of.top} /></p>}
            {of.below.length > 0 && <p class="dim">Classes below: {[...of.below, ...of.further].map((c, k) => <span key={k}>{k > 0 && ", "}<ClassLink of={c} /></span>)}</p>}
        </li>
    );
}
