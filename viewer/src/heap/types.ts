// types.ts - the answers about a heap dump (docs/reference/heap-protocol.md).

export const STAGES = ["reading", "counted", "sized", "ready"] as const;
export type Stage = (typeof STAGES)[number];

/** What is found beside the stages. */
export type Finding = "suspects" | "threads" | "strings" | "collections" | "diff";
export type Found = "no" | "wanted" | "found" | "never";

export interface Overview {
    schema: string; name: string; path: string; stage: Stage;
    phase: { text: string; step: number; steps: number; done: number; total: number } | null;
    error: string | null;
    /** `diff` only where there is an earlier dump. */
    found: Partial<Record<Finding, Found>>;
    // from "counted" on
    made_unix_ms?: number; disk_bytes?: number; dump_bytes?: number; id_bytes?: number; header_bytes?: number; reference_bytes?: number;
    objects?: number; bytes?: number; classes?: number; roots?: number; root_kinds?: { kind: string; count: number }[]; threads?: number;
    /** Of a dump that is not whole: what it lacks, what is not known without that, and how to get a whole one. */
    partial?: boolean; problems?: string[]; more_problems?: number; missing?: string[]; not_known?: string | null; no_contents?: string | null; remedy?: string | null;
    // from "sized" on, of a whole dump
    unreached?: { objects: number; bytes: number };
}

export interface ClassRow { class: number; name: string; objects: number; bytes: number; retained: number | null }

/** An object in a list; retained null: the roots do not lead to it, or the dump is not whole. */
export interface Brief { object: number; id: string; class: number | null; label: string; shallow: number | null; retained: number | null }

export interface Instances extends ClassRow { class_object: number | null; offset: number; listed: number; instances: Brief[] }

/** `to` null: `text` says what is there. */
export interface Value { text?: string; to: Brief | null }
export interface Field extends Value { name: string; type: string; of?: string }
export interface Root { kind: string; thread: Brief | null; frame: string | null }

export interface HeapObject extends Brief {
    kind: "instance" | "array" | "class";
    class_name: string | null; class_object: number | null;
    n_fields: number; fields: Field[];
    elements: number | null;
    string: { text: string; length: number } | null;
    is_class: null | (ClassRow & { super: Brief | null; loader: Brief | null; n_statics: number; statics: Field[] });
    /** null: that is not known. */
    reached: boolean | null; dominator: Brief | null; children: number; roots: Root[];
}

export interface Elements { n: number; offset: number; type: string; elements: Value[] }
export interface Link extends Brief { by: string; weak?: boolean }
export interface Referrers { n: number; offset: number; referrers: Link[] }
/** not_known: whether there is one. */
export interface Path { not_known?: string; n: number; left_out: number; roots: Root[]; path: Link[]; others?: Path[] }

export interface TreeRow extends Brief { children: number }
export interface TreePart { object: number | null; retained: number; n: number; offset: number; rest_bytes: number; children: TreeRow[] }

/** parent, object (null: the root of all, or others), bytes, how many objects, name (null: others). */
export type IcicleNode = [number, number | null, number, number, string | null];
export interface Icicle {
    object: number | null; all: number;
    up: { object: number; name: string; retained: number }[]; up_left_out: number;
    nodes: IcicleNode[];
}

/** Objects of a class; class null: the dump does not have it. */
export interface OfClass { class: number | null; name: string | null }
export interface Kept extends OfClass { objects: number; retained: number }
/** `object` null: `objects` of a class, the largest of which is `top`. */
export interface Suspect extends OfClass {
    text: string; objects: number; retained: number; chain: number; object: Brief | null; top: Brief; below: Kept[]; further: Kept[];
}
export interface Suspects { least_percent: number; least: number; alive: number; suspects: Suspect[] }

export interface ThreadRow { thread: number; name: string; id: string; object: number | null; retained: number | null; frames: number; held: number }
export interface Threads { n: number; offset: number; threads: ThreadRow[] }
export interface Held { depth: number | null; frame: string | null; n: number; holds: (Brief & { kind: string })[] }
export interface Stack extends ThreadRow { left_out: number; stack: Held[]; no_frame: Held }

/** Who refers to something: a field, and the class whose field it is. */
export interface Holder { field: string; class: number | null; references: number }
export interface EqualStrings {
    text: string; cut: boolean; length: number; strings: number; arrays: number; array_bytes: number; wasted: number; n_holders: number; holders: Holder[];
}
export interface Strings { strings: number; arrays: number; values: number; wasted: number; string_bytes: number; n: number; equal: EqualStrings[] }

export const FILLS = ["empty", "quarter", "half", "three_quarters", "full", "unknown"] as const;
export type CollectionClass = OfClass & { collections: number; wasted: number } & Record<(typeof FILLS)[number], number>;
export interface CollectionField extends Holder { empty: number; wasted: number }
export interface EmptyArrays extends OfClass { arrays: number; bytes: number; no_length: number }
export interface Collections {
    collections: number; wasted: number; empty: number; sparse: number; empty_arrays: number; empty_arrays_bytes: number;
    n_classes: number; classes: CollectionClass[]; n_fields: number; fields: CollectionField[]; n_arrays: number; arrays: EmptyArrays[];
}

export interface Totals { objects: number; bytes: number }
export interface Change { class: number | null; name: string; then: Totals; now: Totals }
export interface Diff {
    base: { name: string; path: string; made_unix_ms: number; partial: boolean };
    then: Totals; now: Totals;
    /** null: a dump is not whole, and what it lacks would seem to be it. */
    grown: number | null; shrunk: number | null; same: number | null; n: number; classes: Change[];
}
