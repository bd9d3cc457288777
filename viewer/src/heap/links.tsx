// links.tsx - objects where they are named: what is clicked comes into the inspector.
import { bytes, count, simple } from "../format.ts";
import type { Column } from "../views/rows.ts";
import * as state from "./state.ts";
import type { Answer, Pages } from "./ask.ts";
import type { Brief, OfClass, Root, Value } from "./types.ts";

/** "java.lang.String "abc"" with the package left out, as there is little room. */
export function shortLabel(label: string): string {
    const end = label.search(/[[" ]/);
    const isClass = label.startsWith("class ");
    const name = isClass ? label.slice(6) : end < 0 ? label : label.slice(0, end);
    return isClass ? `class ${simple(name)}` : simple(name) + (end < 0 ? "" : label.slice(end));
}

export function ObjectLink({ of, test }: { of: Brief; test?: string }) {
    return (
        <button type="button" class="link heap-object" data-test={test} data-object={of.object} onClick={() => state.choose(of.object)}
            title={`${of.label} ${of.id}${of.retained === null ? "" : `, keeps ${bytes(of.retained)}`}`}>{shortLabel(of.label)}</button>
    );
}

/** The instances of a class; of one that the dump does not have only the name. */
export function ClassLink({ of }: { of: OfClass }) {
    const name = of.name ?? "unknown class", number = of.class;
    return number === null ? <span>{name}</span> : <button type="button" class="link" data-class={number} onClick={() => state.chooseClass(number)}>{name}</button>;
}

export function ValueText({ of }: { of: Value }) {
    return of.to ? <ObjectLink of={of.to} /> : <span class={of.text === "null" ? "dim" : "heap-value"}>{of.text}</span>;
}

export function RootText({ of }: { of: Root }) {
    return <span>{of.kind}{of.thread && <> of <ObjectLink of={of.thread} /></>}{of.frame && <> in {of.frame}</>}</span>;
}

export function retainedText(n: number | null): string {
    return n === null ? "–" : bytes(n);
}

/** What stands where an answer is not there.  `asked`: it is looked for when it is asked for. */
export function Missing({ of, what, asked }: { of: Answer<unknown>; what: string; asked?: boolean }) {
    if (of.error)
        return <p class="scope-error" role="alert">{of.error}</p>;
    return of.early ? <p class="dim" role="status" data-test="early">{asked && state.has("ready") ? `${what} are looked for in the dump …` : `${what} can be seen when more of the dump has been read …`}</p>
        : of.busy && !of.value ? <p class="dim" role="status">Computing …</p> : null;
}

/** What stands where only a whole dump has an answer. */
export function NotKnown({ what }: { what: string }) {
    const o = state.overview.value;
    return (
        <div class="heap-note" data-test="not-known">
            <p><b>{what}: unknown, because the dump is incomplete.</b> {o?.not_known}</p>
            <p class="dim">Missing: {o?.missing?.join("; ")}. {o?.remedy}</p>
        </div>
    );
}

/** The same where the dump is XML, which has no contents. */
export function NoContents({ what }: { what: string }) {
    return <p class="heap-note" data-test="no-contents"><b>{what} cannot be said.</b> {state.overview.value?.no_contents}</p>;
}

/** Columns of what only a whole dump tells are left out of the table of another one. */
export function knownColumns<R>(columns: Column<R>[]): Column<R>[] {
    return state.knowsKeepers.value ? columns : columns.filter((c) => !c.id.startsWith("retained"));
}

/** Behind a list that is not all there. */
export function More<T, R>({ of, all, test }: { of: Pages<T, R>; all: number; test: string }) {
    const left = all - of.rows.length;
    return left <= 0 ? null : (
        <p class="heap-more"><button type="button" data-test={test} disabled={of.busy} onClick={of.more}>Show {count(Math.min(left, 100))} more</button> <span class="dim">of {count(left)}</span></p>
    );
}
