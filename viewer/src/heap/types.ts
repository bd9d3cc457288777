// types.ts - the answers about a heap dump (docs/heap-protocol.md).

export const STAGES = ["reading", "counted", "sized", "ready"] as const;
export type Stage = (typeof STAGES)[number];

export interface Overview {
    schema: string; name: string; path: string; stage: Stage;
    phase: { text: string; step: number; steps: number; done: number; total: number } | null;
    error: string | null;
    // from "counted" on
    made_unix_ms?: number; disk_bytes?: number; dump_bytes?: number; id_bytes?: number; header_bytes?: number; reference_bytes?: number;
    objects?: number; bytes?: number; classes?: number; roots?: number; root_kinds?: { kind: string; count: number }[]; threads?: number;
    partial?: boolean; problems?: string[]; more_problems?: number;
    // from "sized" on
    unreached?: { objects: number; bytes: number };
}

export interface ClassRow { class: number; name: string; objects: number; bytes: number; retained: number | null }

/** An object in a list; retained null: the roots do not lead to it. */
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
    reached: boolean; dominator: Brief | null; children: number; roots: Root[];
}

export interface Elements { n: number; offset: number; type: string; elements: Value[] }
export interface Link extends Brief { by: string; weak?: boolean }
export interface Referrers { n: number; offset: number; referrers: Link[] }
export interface Path { n: number; left_out: number; roots: Root[]; path: Link[] }

export interface TreeRow extends Brief { children: number }
export interface TreePart { object: number | null; retained: number; n: number; offset: number; rest_bytes: number; children: TreeRow[] }

/** parent, object (null: the root of all, or others), bytes, how many objects, name (null: others). */
export type IcicleNode = [number, number | null, number, number, string | null];
export interface Icicle {
    object: number | null; all: number;
    up: { object: number; name: string; retained: number }[]; up_left_out: number;
    nodes: IcicleNode[];
}
