// strings.tsx - Strings of equal value: what they waste, and who refers to them.
import { bytes, count, plural } from "../format.ts";
import { useState } from "preact/hooks";
import type { Column } from "../views/rows.ts";
import { Table } from "../views/table.tsx";
import { useFound } from "./ask.ts";
import { ClassLink, Missing, NoContents } from "./links.tsx";
import * as state from "./state.ts";
import type { EqualStrings, Holder, Strings as Data } from "./types.ts";

type Row = EqualStrings & { key: number };

const quoted = (s: EqualStrings): string => `"${s.text}${s.cut ? "…" : ""}"`;
const first = (s: EqualStrings): string => (s.holders.length ? `${s.holders[0].field}${s.n_holders > 1 ? ` and ${count(s.n_holders - 1)} more` : ""}` : "");

const COLUMNS: Column<Row>[] = [
    { id: "text", title: "Value", width: 200, grow: true, value: quoted },
    { id: "strings", title: "Strings", width: 84, right: true, value: (s) => s.strings, text: (s) => count(s.strings) },
    { id: "length", title: "Length", hint: "Characters", width: 76, right: true, value: (s) => s.length, text: (s) => count(s.length) },
    { id: "wasted", title: "Wasted", hint: "All but one String and one array", width: 90, right: true, bar: true, value: (s) => s.wasted, text: (s) => bytes(s.wasted) },
    { id: "holders", title: "Referred to by", hint: "The field that refers to most of them", width: 200, grow: true, value: first },
];

export function Strings() {
    const answer = useFound<Data>("strings");
    const [chosen, setChosen] = useState<number | null>(null);
    const of = answer.value;
    if (state.overview.value?.no_contents)
        return <div class="heap-classes" data-view="strings"><NoContents what="Which Strings are equal" /></div>;
    const rows = of?.equal.map((s, key) => ({ ...s, key })) ?? [];
    return (
        <div class="heap-classes" data-view="strings">
            <Missing of={answer} what="Equal strings" asked />
            {of && (
                <>
                    <p class="heap-sum" data-test="strings-sum">{state.atLeast.value}{plural(of.strings, "String")} of {plural(of.values, "value")}; {plural(of.n, "value")} {of.n === 1 ? "is" : "are"} there more than once, and {of.n === 1 ? "wastes" : "waste"} {bytes(of.wasted)}.</p>
                    <Table name="strings" label="Equal strings" rows={rows} columns={COLUMNS} keyOf={(s) => s.key} search empty={state.knowsKeepers.value ? "No two strings are equal." : "No two strings are equal in the part of this dump that could be read."}
                        selected={new Set(chosen === null ? [] : [chosen])} onSelect={(keys) => setChosen(([...keys][0] as number | undefined) ?? null)}>
                        {of.n > rows.length && <span class="dim">the {count(rows.length)} that waste most; {count(of.n - rows.length)} more</span>}
                    </Table>
                    {chosen !== null && rows[chosen] && <One of={rows[chosen]} size={of.string_bytes} />}
                </>)}
        </div>
    );
}

function One({ of, size }: { of: EqualStrings; size: number }) {
    return (
        <section class="heap-detail" aria-label="One value" data-test="string-detail">
            <pre class="heap-text">{of.text}{of.cut ? "…" : ""}</pre>
            <p>{plural(of.strings, "String")} of {bytes(size)} with {plural(of.arrays, "array")} of {bytes(of.array_bytes)}.</p>
            <Holders of={of.holders} all={of.n_holders} />
        </section>
    );
}

function Holders({ of, all }: { of: Holder[]; all: number }) {
    return (
        <>
            <table class="heap-fields">
                <thead><tr><th scope="col">Referred to by</th><th scope="col" class="right">References</th></tr></thead>
                <tbody>{of.map((x, k) => <tr key={k}><td><ClassLink of={{ class: x.class, name: x.field }} /></td><td class="right">{count(x.references)}</td></tr>)}</tbody>
            </table>
            {of.length === 0 && <p class="dim">No field refers to them.</p>}
            {all > of.length && <p class="dim">{count(all - of.length)} more.</p>}
        </>
    );
}
