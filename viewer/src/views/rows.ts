// rows.ts - what a table does to its rows, without a page: order, filter, selection, copying.
import type { ComponentChildren } from "preact";

export type Key = string | number;

/** What a column shows of a row. */
export interface Column<R> {
    id: string;
    title: string;
    /** What the column means, where the title does not say all. */
    hint?: string;
    /** Pixels; with `grow` the least. */
    width: number;
    grow?: boolean;
    right?: boolean;
    /** By what it is sorted and what is copied; null comes last either way. */
    value: (row: R) => number | string | null;
    /** What is shown; without it the value. */
    text?: (row: R) => string;
    /** Shown instead of the text.  `scale` is what `over` made of all rows. */
    cell?: (row: R, scale: readonly number[]) => ComponentChildren;
    over?: (rows: readonly R[]) => readonly number[];
    /** A bar behind the number: its share of the greatest one. */
    bar?: boolean;
    /** The value goes into the cell's data-ns or data-count. */
    data?: "ns" | "count";
}

export interface Order { id: string; down: boolean }

export function sorted<R>(rows: readonly R[], columns: readonly Column<R>[], order: Order | null): readonly R[] {
    const column = order && columns.find((c) => c.id === order.id);
    if (!column)
        return rows;
    const keyed = rows.map((row) => ({ row, v: column.value(row) }));
    keyed.sort((a, b) => compare(a.v, b.v, order.down));
    return keyed.map((k) => k.row);
}

const collator = new Intl.Collator("en", { numeric: true });

function compare(a: number | string | null, b: number | string | null, down: boolean): number {
    if (a === null || b === null)
        return a === b ? 0 : a === null ? 1 : -1;
    const c = typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
    return down ? -c : c;
}

export function shownText<R>(column: Column<R>, row: R): string {
    return column.text ? column.text(row) : String(column.value(row) ?? "");
}

/** The rows of which some text column contains every word of `words`, without regard to case. */
export function filtered<R>(rows: readonly R[], columns: readonly Column<R>[], words: string): readonly R[] {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length === 0)
        return rows;
    const texts = columns.filter((c) => !c.right);
    return rows.filter((row) => {
        const all = texts.map((c) => `${c.value(row) ?? ""} ${shownText(c, row)}`).join(" ").toLowerCase();
        return wanted.every((w) => all.includes(w));
    });
}

/** Lines of values with a tab between them, the titles first; what would end a value becomes a space. */
export function tsv<R>(rows: readonly R[], columns: readonly Column<R>[]): string {
    const clean = (text: string) => text.replace(/[\t\r\n]+/g, " ");
    const head = columns.map((c) => clean(c.data === "ns" ? `${c.title} (ns)` : c.title));
    const lines = rows.map((row) => columns.map((c) => clean(String(c.value(row) ?? ""))).join("\t"));
    return [head.join("\t"), ...lines].join("\n") + "\n";
}

/** How a click or a key selects. */
export type Way = "only" | "toggle" | "range";

/** The selection after row `at` was acted on; `anchor` is where a range begins. */
export function selectRow(keys: readonly Key[], old: ReadonlySet<Key>, at: number, anchor: number, way: Way): Set<Key> {
    if (way === "toggle") {
        const next = new Set(old);
        if (!next.delete(keys[at]))
            next.add(keys[at]);
        return next;
    }
    const from = way === "range" ? Math.min(anchor, at) : at;
    const to = way === "range" ? Math.max(anchor, at) : at;
    return new Set(keys.slice(from, to + 1));
}

export function maximum<R>(rows: readonly R[], column: Column<R>): number {
    let max = 0;
    for (const row of rows) {
        const v = column.value(row);
        if (typeof v === "number" && v > max)
            max = v;
    }
    return max;
}
