// collections.tsx - collections by how much of their array is in use, who refers to them, and arrays of nothing.
import { useState } from "preact/hooks";
import { bytes, count, plural } from "../format.ts";
import { Choice } from "../views/choice.tsx";
import type { Column } from "../views/rows.ts";
import { Table } from "../views/table.tsx";
import { useFound } from "./ask.ts";
import { Missing, NoContents } from "./links.tsx";
import * as state from "./state.ts";
import type { CollectionClass, CollectionField, Collections as Data, EmptyArrays, OfClass } from "./types.ts";
import { FILLS } from "./types.ts";

const number = <R,>(id: string, title: string, value: (r: R) => number, hint?: string): Column<R> => ({ id, title, hint, width: 66, right: true, value, text: (r) => count(value(r)) });
const size = <R,>(id: string, title: string, value: (r: R) => number, hint?: string): Column<R> => ({ id, title, hint, width: 84, right: true, bar: true, value, text: (r) => bytes(value(r)) });
const className = <R extends OfClass>(): Column<R> => ({ id: "name", title: "Class", width: 200, grow: true, value: (r) => r.name ?? "unknown class" });

const FILL_TITLES: Record<(typeof FILLS)[number], [string, string]> = {
    empty: ["Empty", "Empty"], quarter: ["≤ 1/4", "At most a quarter of the array is in use"], half: ["≤ 1/2", "At most a half"],
    three_quarters: ["≤ 3/4", "At most three quarters"], full: ["Fuller", "More than three quarters"], unknown: ["Other", "Not empty and without an array, as a tree"],
};
const WASTED = "Empty: the collection and its array; else: the unused part of the array";

const CLASSES: Column<CollectionClass>[] = [
    className(), number("collections", "Number", (c) => c.collections), size("wasted", "Wasted", (c) => c.wasted, WASTED),
    ...FILLS.map((f) => number<CollectionClass>(f, FILL_TITLES[f][0], (c) => c[f], FILL_TITLES[f][1])),
];
const FIELDS: Column<CollectionField>[] = [
    { id: "field", title: "Field", width: 220, grow: true, value: (f) => f.field }, number("references", "Number", (f) => f.references), number("empty", "Empty", (f) => f.empty),
    size("wasted", "Wasted", (f) => f.wasted, WASTED),
];
const ARRAYS: Column<EmptyArrays>[] = [
    className(), number("arrays", "Number", (a) => a.arrays, "All null, or all zero"), size("bytes", "Bytes", (a) => a.bytes), number("no_length", "Length 0", (a) => a.no_length, "Arrays of length 0, not counted in Number"),
];

const PARTS = [
    { value: "classes", text: "By class" }, { value: "fields", text: "By field", hint: "who refers to them" }, { value: "arrays", text: "Arrays without content", hint: "all null, or all zero" },
] as const;
type Part = (typeof PARTS)[number]["value"];

export function Collections() {
    const answer = useFound<Data>("collections");
    const [part, setPart] = useState<Part>("classes");
    const of = answer.value;
    if (state.overview.value?.no_contents)
        return <div class="heap-classes" data-view="collections"><NoContents what="What is in collections" /></div>;
    return (
        <div class="heap-classes" data-view="collections">
            <Missing of={answer} what="Empty and oversized collections" asked />
            {of && (
                <>
                    <p class="heap-sum" data-test="collections-sum">{state.atLeast.value}{plural(of.collections, "collection")}: {count(of.empty)} are empty, {count(of.sparse)} have at most a quarter of their array in use; {bytes(of.wasted)} wasted.
                        {" "}Arrays without content: {count(of.empty_arrays)}, {bytes(of.empty_arrays_bytes)}.</p>
                    <div class="heap-parts"><Choice name="collections-part" label="Which table" options={PARTS} value={part} onChange={setPart} /></div>
                    {part === "classes" && <Rows name="collections" label="Collections by class" rows={of.classes} all={of.n_classes} columns={CLASSES} />}
                    {part === "fields" && <Rows name="collection-fields" label="Collections by who refers to them" rows={of.fields} all={of.n_fields} columns={FIELDS} />}
                    {part === "arrays" && <Rows name="empty-arrays" label="Arrays without content" rows={of.arrays} all={of.n_arrays} columns={ARRAYS} />}
                </>)}
        </div>
    );
}

/** Enter, or a double click, leads to the class. */
function Rows<R extends { class: number | null }>({ name, label, rows, all, columns }: { name: string; label: string; rows: R[]; all: number; columns: Column<R>[] }) {
    const [chosen, setChosen] = useState<number | null>(null);
    const numbered = rows.map((row, key) => ({ ...row, key }));
    return (
        <Table name={name} label={label} rows={numbered} columns={columns} keyOf={(r) => r.key} search empty={state.knowsKeepers.value ? "There are none." : "None in the part of this dump that could be read."}
            selected={new Set(chosen === null ? [] : [chosen])} onSelect={(keys) => setChosen(([...keys][0] as number | undefined) ?? null)}
            onOpen={(r) => { if (r.class !== null) state.chooseClass(r.class); }}>
            {all > rows.length && <span class="dim">the {count(rows.length)} that waste most; {count(all - rows.length)} more</span>}
            {chosen !== null && rows[chosen]?.class != null && <button type="button" data-test={`${name}-class`} onClick={() => state.chooseClass(rows[chosen].class!)}>Its class</button>}
        </Table>
    );
}
