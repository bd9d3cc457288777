// growth.tsx - what each class has more, or less, than in an earlier dump of the program.
import { bytes, count, plural } from "../format.ts";
import { useState } from "preact/hooks";
import type { Column } from "../views/rows.ts";
import { Table } from "../views/table.tsx";
import { useFound } from "./ask.ts";
import { Missing } from "./links.tsx";
import * as state from "./state.ts";
import type { Change, Diff } from "./types.ts";

const more = (c: Change): number => c.now.bytes - c.then.bytes;
const moreObjects = (c: Change): number => c.now.objects - c.then.objects;
const signed = (n: number, text: (n: number) => string): string => (n === 0 ? "–" : `${n > 0 ? "+" : "−"}${text(Math.abs(n))}`);

const COLUMNS: Column<Change>[] = [
    { id: "name", title: "Class", width: 220, grow: true, value: (c) => c.name },
    { id: "growth", title: "Growth", hint: "Shallow size of all instances, now less then", width: 96, right: true, bar: true, value: more, text: (c) => signed(more(c), bytes) },
    { id: "then", title: "Then", width: 84, right: true, value: (c) => c.then.bytes, text: (c) => bytes(c.then.bytes) },
    { id: "now", title: "Now", width: 84, right: true, value: (c) => c.now.bytes, text: (c) => bytes(c.now.bytes) },
    { id: "objects", title: "Objects", hint: "Instances, now less then", width: 96, right: true, value: moreObjects, text: (c) => signed(moreObjects(c), count) },
    { id: "objects_then", title: "Then", hint: "Instances then", width: 84, right: true, value: (c) => c.then.objects, text: (c) => count(c.then.objects) },
    { id: "objects_now", title: "Now", hint: "Instances now", width: 84, right: true, value: (c) => c.now.objects, text: (c) => count(c.now.objects) },
];

export function Growth() {
    const answer = useFound<Diff>("diff");
    const [chosen, setChosen] = useState<string | null>(null);
    const of = answer.value;
    const isLater = of !== null && of.base.made_unix_ms > (state.overview.value?.made_unix_ms ?? 0);
    const row = of?.classes.find((c) => c.name === chosen);
    return (
        <div class="heap-classes" data-view="growth">
            <Missing of={answer} what="What has grown" />
            {of && (
                <>
                    <p class="heap-sum" data-test="growth-sum"><b title={of.base.path}>{of.base.name}</b>{of.base.made_unix_ms ? `, made ${new Date(of.base.made_unix_ms).toLocaleString()}` : ""}:
                        {" "}{of.base.partial && "at least "}{plural(of.then.objects, "object")} of {bytes(of.then.bytes)}; now {state.atLeast.value}{count(of.now.objects)} of {bytes(of.now.bytes)}.
                        {of.grown !== null && of.shrunk !== null && of.same !== null && <> {of.grown === 1 ? "1 class takes" : `${count(of.grown)} classes take`} more, {count(of.shrunk)} less, {count(of.same)} have not changed.</>}
                        {isLater && <b data-test="growth-later"> The other dump is newer than this one.</b>}{of.grown === null && <b data-test="growth-partial"> Orca cannot say what has grown: {of.base.partial ? "the earlier" : "this"} dump is incomplete, and objects that it lacks would seem to have grown.</b>}{of.shrunk === null && <b data-test="shrunk-partial"> Orca cannot say what has shrunk: {state.knowsKeepers.value ? "the earlier" : "this"} dump is incomplete, and objects that it lacks would seem to have shrunk.</b>}</p>
                    <Table name="growth" label="Growth" rows={of.classes} columns={COLUMNS} keyOf={(c) => c.name} order={{ id: "growth", down: true }} search empty={of.same === null ? "No change is certain." : "Nothing has changed."}
                        selected={new Set(chosen === null ? [] : [chosen])} onSelect={(keys) => setChosen(([...keys][0] as string | undefined) ?? null)}
                        onOpen={(c) => { if (c.class !== null) state.chooseClass(c.class); }}>
                        {of.n > of.classes.length && <span class="dim">those that changed most; {count(of.n - of.classes.length)} more</span>}
                        {row && row.class !== null && <button type="button" data-test="growth-class" onClick={() => state.chooseClass(row.class!)}>Its instances</button>}
                    </Table>
                </>)}
        </div>
    );
}
