// classes.tsx - the classes by what their instances take and keep alive; below them the biggest instances of one.
import { bytes, count, percent, plural } from "../format.ts";
import type { Column } from "../views/rows.ts";
import { Table } from "../views/table.tsx";
import { usePages, useHeap } from "./ask.ts";
import { knownColumns, Missing, More, retainedText, shortLabel } from "./links.tsx";
import * as state from "./state.ts";
import type { Brief, ClassRow, Instances } from "./types.ts";

const whole = (): number => state.overview.value?.bytes ?? 0;

const CLASSES: Column<ClassRow>[] = [
    { id: "name", title: "Class", width: 240, grow: true, value: (c) => c.name },
    { id: "objects", title: "Objects", width: 96, right: true, data: "count", value: (c) => c.objects, text: (c) => count(c.objects) },
    { id: "bytes", title: "Shallow", hint: "Size of the instances themselves", width: 96, right: true, bar: true, value: (c) => c.bytes, text: (c) => bytes(c.bytes) },
    { id: "share", title: "Shallow %", width: 84, right: true, value: (c) => c.bytes, text: (c) => percent(c.bytes, whole()) },
    { id: "retained", title: "Retained", hint: "Size that would be freed with all instances: theirs, plus that of objects that only they keep alive", width: 96, right: true, bar: true, value: (c) => c.retained, text: (c) => retainedText(c.retained) },
    { id: "retained_share", title: "Retained %", width: 90, right: true, value: (c) => c.retained, text: (c) => (c.retained === null ? "–" : percent(c.retained, whole())) },
];

const INSTANCES: Column<Brief>[] = [
    { id: "label", title: "Object", width: 240, grow: true, value: (o) => o.label, text: (o) => shortLabel(o.label) },
    { id: "id", title: "Id", width: 130, value: (o) => o.id },
    { id: "shallow", title: "Shallow", width: 96, right: true, value: (o) => o.shallow, text: (o) => retainedText(o.shallow) },
    { id: "retained", title: "Retained", hint: "Size that would be freed with this object; –: not reachable from the roots", width: 96, right: true, bar: true, value: (o) => o.retained, text: (o) => retainedText(o.retained) },
];

export function Classes() {
    const chosen = state.chosenClass.value;
    const answer = useHeap<{ n: number; classes: ClassRow[] }>("/classes", "counted", true, String(state.has("sized")));
    const rows = answer.value?.classes ?? [];
    return (
        <div class="heap-classes" data-view="classes">
            <Table name="classes" label="Classes" rows={rows} columns={knownColumns(CLASSES)} keyOf={(c) => c.class} order={{ id: "bytes", down: true }} search
                selected={new Set(chosen === null ? [] : [chosen])} onSelect={(keys) => { state.chosenClass.value = ([...keys][0] as number | undefined) ?? null; }}
                busy={answer.busy || answer.early} failed={answer.error !== null} empty={state.knowsKeepers.value ? "The dump has no objects." : "The part of this dump that could be read has no objects."}>
                {answer.value && answer.value.n > rows.length && <span class="dim">the {count(rows.length)} largest of {count(answer.value.n)}</span>}
            </Table>
            {chosen !== null && <OneClass key={chosen} number={chosen} />}
        </div>
    );
}

function OneClass({ number }: { number: number }) {
    const list = usePages<Instances, Brief>(`/instances?class=${number}`, "sized", (part) => part.instances);
    const of = list.value;
    return (
        <section class="heap-instances" aria-label="Instances">
            <Missing of={list} what="Instances" />
            {of && (
                <>
                    <Table name="instances" label={`Instances of ${of.name}`} rows={list.rows} columns={knownColumns(INSTANCES)} keyOf={(o) => o.object} busy={list.busy}
                        selected={new Set(state.object.value === null ? [] : [state.object.value])} onSelect={(keys) => { const k = [...keys][0]; if (typeof k === "number") state.choose(k); }}
                        empty="This class has no instances.">
                        <span class="dim">{state.atLeast.value}{plural(of.objects, "object")}</span>
                        {of.class_object !== null && <button type="button" data-test="class-object" onClick={() => state.choose(of.class_object!)}>Statics and loader</button>}
                    </Table>
                    <More of={list} all={of.listed} test="more-instances" />
                </>)}
        </section>
    );
}
