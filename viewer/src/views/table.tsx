// table.tsx - one table for everything: only the rows that can be seen are in the page.
//
// The keyboard's place is the table itself; it tells a screen reader by aria-activedescendant on
// which row, or title, it is.  Up from the first row are the titles: left, right, Enter sorts.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count } from "../format.ts";
import { filtered, maximum, selectRow, shownText, sorted, tsv } from "./rows.ts";
import type { Column, Key, Order, Way } from "./rows.ts";
import "./table.css";

export type { Column } from "./rows.ts";

export const ROW_HEIGHT = 22;
const AHEAD = 8; // rows beyond what is seen

const NONE: ReadonlySet<Key> = new Set();

export interface TableProps<R> {
    /** The data-test name. */
    name: string;
    label: string;
    rows: readonly R[];
    columns: readonly Column<R>[];
    keyOf: (row: R) => Key;
    order?: Order;
    selected?: ReadonlySet<Key>;
    multi?: boolean;
    onSelect?: (keys: Set<Key>) => void;
    /** Enter, or a double click. */
    onOpen?: (row: R) => void;
    onHover?: (row: R | null) => void;
    /** Rows that something elsewhere points at. */
    lit?: (row: R) => boolean;
    search?: boolean;
    /** The text of a table without rows. */
    empty?: string;
    busy?: boolean;
    /** No rows because they could not be loaded; the reason is shown elsewhere. */
    failed?: boolean;
    /** Behind the label. */
    children?: ComponentChildren;
}

interface Cursor { row: number; column: number; anchor: number } // row -1: the titles

export function Table<R>(p: TableProps<R>) {
    const [order, setOrder] = useState<Order | null>(p.order ?? null);
    const [words, setWords] = useState("");
    const [cursor, setCursor] = useState<Cursor>({ row: 0, column: 0, anchor: 0 });
    const rows = useMemo(() => sorted(filtered(p.rows, p.columns, words), p.columns, order), [p.rows, p.columns, words, order]);
    const box = useRef<HTMLDivElement>(null);
    const seen = useSeen(box);
    const id = useId();
    const selected = p.selected ?? NONE;
    const at = Math.min(cursor.row, rows.length - 1);

    const sortBy = (column: Column<R>) =>
        setOrder({ id: column.id, down: order?.id === column.id ? !order.down : !!column.right });
    const select = (row: number, way: Way) => {
        const range = way === "range" && p.multi;
        setCursor({ row, column: cursor.column, anchor: range ? cursor.anchor : row });
        p.onSelect?.(selectRow(rows.map(p.keyOf), selected, row, Math.max(cursor.anchor, 0), p.multi ? way : only(way, p, rows[row])));
    };
    const move = (row: number, way: Way | "move") => {
        const to = Math.min(Math.max(row, -1), rows.length - 1);
        box.current && reveal(box.current, to);
        if (to >= 0 && way !== "move" && p.onSelect)
            select(to, way);
        else
            setCursor({ ...cursor, row: to });
    };
    const keys = (e: KeyboardEvent) => {
        if (key(e, { rows, at, cursor, page: Math.max(Math.floor(seen.height / ROW_HEIGHT) - 2, 1), columns: p.columns, p, move, select, setCursor, sortBy })) {
            e.preventDefault();
            e.stopPropagation();
        }
    };
    const width = p.columns.reduce((sum, c) => sum + c.width, 0);
    const template = p.columns.map((c) => (c.grow ? `minmax(${scaled(c.width)}, 1fr)` : scaled(c.width))).join(" ");
    return (
        <div class={`table${p.busy ? " busy" : ""}`} data-test={p.name}>
            <Head p={p} id={id} words={words} setWords={setWords} shown={rows.length} selected={selected.size} />
            <div class="table-box" ref={box} role="grid" tabIndex={0} data-keys="" aria-labelledby={`${id}l`} aria-rowcount={rows.length + 1}
                aria-colcount={p.columns.length} aria-multiselectable={p.multi ?? false} aria-busy={p.busy ?? false}
                aria-activedescendant={at < 0 ? `${id}t${cursor.column}` : `${id}r${at}`} onKeyDown={keys}
                onCopy={(e) => copy(e, rows, p, selected)} onMouseLeave={() => p.onHover?.(null)} onBlur={() => p.onHover?.(null)}>
                <div role="rowgroup" class="table-titles" style={{ minWidth: scaled(width) }}>
                    <div role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
                        {p.columns.map((c, i) => (
                            <Title key={c.id} column={c} id={`${id}t${i}`} order={order} under={at < 0 && cursor.column === i} onSort={() => sortBy(c)} />))}
                    </div>
                </div>
                <Body p={p} id={id} rows={rows} seen={seen} at={at} template={template} width={width} selected={selected} select={select} />
                {rows.length === 0 && <div class="table-empty">{emptyText(p, words)}</div>}
            </div>
        </div>
    );
}

/** Without multi-select a click on the selected row gives it up. */
function only<R>(way: Way, p: TableProps<R>, row: R): Way {
    return way === "toggle" && p.selected?.has(p.keyOf(row)) ? "toggle" : "only";
}

// --- parts -----------------------------------------------------------------------------------------

function Title<R>(p: { column: Column<R>; id: string; order: Order | null; under: boolean; onSort: () => void }) {
    const { column: c, order } = p;
    const by = order?.id === c.id ? (order.down ? "descending" : "ascending") : "none";
    return (
        <div role="columnheader" id={p.id} aria-sort={by} title={c.hint ?? c.title} data-column={c.id} onClick={p.onSort}
            class={`${c.right ? "right" : ""}${p.under ? " under" : ""}`}>
            <span>{c.title}</span>{by !== "none" && <span class="table-arrow" aria-hidden="true">{order?.down ? "▼" : "▲"}</span>}
        </div>
    );
}

interface HeadProps<R> { p: TableProps<R>; id: string; words: string; setWords: (words: string) => void; shown: number; selected: number }

function Head<R>({ p, id, words, setWords, shown, selected }: HeadProps<R>) {
    return (
        <div class="table-head">
            <span class="table-label" id={`${id}l`}>{p.label}</span>
            {p.children}
            {p.search && <input type="search" value={words} placeholder="Filter" aria-label={`Filter: ${p.label}`} data-test={`${p.name}-filter`}
                onInput={(e) => setWords(e.currentTarget.value)} onKeyDown={(e) => e.key !== "Escape" && e.stopPropagation()} />}
            <span class="table-count" role="status">
                {words.trim() ? `${count(shown)} of ${count(p.rows.length)}` : ""}{selected > 1 ? ` ${count(selected)} selected` : ""}
            </span>
        </div>
    );
}

function emptyText<R>(p: TableProps<R>, words: string): string {
    if (p.busy || p.failed)
        return p.busy ? "Computing …" : "Not available.";
    return words.trim() ? "Nothing matches the filter." : p.empty ?? "Nothing here.";
}

/** Columns are as wide as their text is large. */
const scaled = (px: number): string => `calc(${px}px * var(--scale))`;

interface BodyProps<R> {
    p: TableProps<R>; id: string; rows: readonly R[]; seen: { top: number; height: number }; at: number; template: string; width: number;
    selected: ReadonlySet<Key>; select: (row: number, way: Way) => void;
}

/** The rows that can be seen, where they would stand among all. */
function Body<R>({ p, id, rows, seen, at, template, width, selected, select }: BodyProps<R>) {
    const scales = useMemo(() => p.columns.map((c) => (c.bar ? [maximum(p.rows, c)] : c.over ? c.over(p.rows) : [])), [p.rows, p.columns]);
    const first = Math.max(0, Math.floor(seen.top / ROW_HEIGHT) - AHEAD);
    const last = Math.min(rows.length, Math.ceil((seen.top + seen.height) / ROW_HEIGHT) + AHEAD);
    return (
        <div role="rowgroup" class="table-rows" style={{ height: `${rows.length * ROW_HEIGHT}px`, minWidth: scaled(width) }}>
            {rows.slice(first, last).map((row, k) => (
                <Row key={p.keyOf(row)} id={`${id}r${first + k}`} row={row} index={first + k} p={p} template={template} scales={scales}
                    selected={selected.has(p.keyOf(row))} under={at === first + k} select={select} />))}
        </div>
    );
}

interface RowProps<R> {
    id: string; row: R; index: number; p: TableProps<R>; template: string; scales: readonly (readonly number[])[];
    selected: boolean; under: boolean; select: (row: number, way: Way) => void;
}

function Row<R>(r: RowProps<R>) {
    const { p, row } = r;
    const way = (e: MouseEvent): Way => (e.shiftKey ? "range" : e.ctrlKey || e.metaKey ? "toggle" : "only");
    const lit = p.lit?.(row) ?? false;
    return (
        <div role="row" id={r.id} aria-rowindex={r.index + 2} aria-selected={p.onSelect ? r.selected : undefined} data-key={p.keyOf(row)}
            class={`${r.selected ? "selected" : ""}${r.under ? " under" : ""}${lit ? " lit" : ""}`}
            style={{ top: `${r.index * ROW_HEIGHT}px`, gridTemplateColumns: r.template }}
            onClick={(e) => r.select(r.index, way(e))} onDblClick={() => p.onOpen?.(row)} onMouseEnter={() => p.onHover?.(row)}>
            {p.columns.map((c, i) => <Cell key={c.id} column={c} row={row} scale={r.scales[i]} />)}
        </div>
    );
}

function Cell<R>({ column: c, row, scale }: { column: Column<R>; row: R; scale: readonly number[] }) {
    const value = c.value(row);
    const text = shownText(c, row);
    const data = c.data && value !== null ? { [`data-${c.data}`]: value } : {};
    const share = c.bar && scale[0] > 0 && typeof value === "number" ? value / scale[0] : 0;
    return (
        <div role="gridcell" class={`${c.right ? "right" : ""}${c.data && value === 0 ? " zero" : ""}`} data-column={c.id} title={c.cell ? undefined : text} {...data}>
            {share > 0 && <span class="table-bar" style={{ width: `${share * 100}%` }} />}
            {c.cell ? c.cell(row, scale) : <span>{text}</span>}
        </div>
    );
}

// --- keyboard, clipboard, scrolling -------------------------------------------------------------------

interface KeyWorld<R> {
    rows: readonly R[]; at: number; cursor: Cursor; page: number; columns: readonly Column<R>[]; p: TableProps<R>;
    move: (row: number, way: Way | "move") => void; select: (row: number, way: Way) => void;
    setCursor: (c: Cursor) => void; sortBy: (c: Column<R>) => void;
}

const STEPS: Record<string, <R>(w: KeyWorld<R>) => number> = {
    ArrowUp: (w) => w.at - 1, ArrowDown: (w) => w.at + 1, PageUp: (w) => Math.max(w.at - w.page, 0), PageDown: (w) => w.at + w.page,
    Home: () => 0, End: (w) => w.rows.length - 1,
};

/** True: the key meant something here. */
function key<R>(e: KeyboardEvent, w: KeyWorld<R>): boolean {
    const ctrl = e.ctrlKey || e.metaKey;
    if (e.altKey)
        return false;
    if (w.at < 0 && titleKey(e, w))
        return true;
    const step = STEPS[e.key];
    if (step) {
        w.move(step(w), ctrl ? "move" : e.shiftKey && w.p.multi ? "range" : "only");
        return true;
    }
    if (ctrl && e.key.toLowerCase() === "a" && w.p.multi) {
        w.p.onSelect?.(new Set(w.rows.map(w.p.keyOf)));
        return true;
    }
    if (e.key === "Escape" && w.p.selected?.size && !(e.target as Element).closest("dialog")) {
        w.p.onSelect?.(new Set());
        return true;
    }
    if (w.at < 0 || (e.key !== " " && e.key !== "Enter"))
        return false;
    if (e.key === "Enter" && w.p.onOpen)
        w.p.onOpen(w.rows[w.at]);
    else
        w.select(w.at, e.shiftKey ? "range" : e.key === " " ? "toggle" : "only");
    return true;
}

function titleKey<R>(e: KeyboardEvent, w: KeyWorld<R>): boolean {
    const step = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0;
    if (step)
        w.setCursor({ ...w.cursor, row: -1, column: Math.min(Math.max(w.cursor.column + step, 0), w.columns.length - 1) });
    else if (e.key === "Enter" || e.key === " ")
        w.sortBy(w.columns[w.cursor.column]);
    else
        return false;
    return true;
}

function copy<R>(e: ClipboardEvent, rows: readonly R[], p: TableProps<R>, selected: ReadonlySet<Key>): void {
    const chosen = rows.filter((row) => selected.has(p.keyOf(row)));
    e.clipboardData?.setData("text/plain", tsv(chosen.length ? chosen : rows, p.columns));
    e.preventDefault();
}

/** Scroll so that a row stands below the titles and above the end. */
function reveal(box: HTMLElement, row: number): void {
    const top = Math.max(row, 0) * ROW_HEIGHT, room = box.clientHeight - ROW_HEIGHT;
    if (top < box.scrollTop)
        box.scrollTop = top;
    else if (top + ROW_HEIGHT > box.scrollTop + room)
        box.scrollTop = top + ROW_HEIGHT - room;
}

/** What can be seen of a scrolled box. */
function useSeen(box: { current: HTMLElement | null }): { top: number; height: number } {
    const [seen, setSeen] = useState({ top: 0, height: 400 });
    const look = () => {
        const b = box.current;
        if (b)
            setSeen((old) => (old.top === b.scrollTop && old.height === b.clientHeight ? old : { top: b.scrollTop, height: b.clientHeight }));
    };
    useLayoutEffect(look);
    useEffect(() => {
        const b = box.current!;
        const watch = new ResizeObserver(look);
        watch.observe(b);
        b.addEventListener("scroll", look, { passive: true });
        return () => {
            watch.disconnect();
            b.removeEventListener("scroll", look);
        };
    }, []);
    return seen;
}
