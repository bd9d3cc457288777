// tree.tsx - what keeps objects alive, as a tree that opens row by row; what is smaller comes when it is asked for.
import { useRef, useState } from "preact/hooks";
import { bytes, count, percent } from "../format.ts";
import { problem } from "../problem.ts";
import { useHeap } from "./ask.ts";
import { Crumbs } from "./crumbs.tsx";
import { Missing, NotKnown, retainedText, shortLabel } from "./links.tsx";
import { get } from "./source.ts";
import * as state from "./state.ts";
import type { Icicle, TreePart, TreeRow } from "./types.ts";

/** A row as it stands there: an object, or what of a parent's children is not shown yet. */
type Shown = { key: string; depth: number; row: TreeRow } | { key: string; depth: number; parent: number | null; left: number; bytes: number };
type Parts = ReadonlyMap<number | null, TreePart>;

/** The rows from the top down. */
function shown(parts: Parts, under: number | null, depth: number, out: Shown[]): Shown[] {
    const part = parts.get(under);
    for (const row of part?.children ?? []) {
        out.push({ key: String(row.object), depth, row });
        if (parts.has(row.object))
            shown(parts, row.object, depth + 1, out);
    }
    if (part && part.n > part.children.length)
        out.push({ key: `more ${under}`, depth, parent: under, left: part.n - part.children.length, bytes: part.rest_bytes });
    return out;
}

const DEEPEST = 200;

export function Tree() {
    return state.knowsKeepers.value ? <Known /> : <div class="heap-tree" data-view="tree"><NotKnown what="Who keeps what alive" /></div>;
}

/** All, or what one object keeps, which stands above it. */
function Known() {
    const at = state.zoomed.value;
    const way = useHeap<Icicle>(at === null ? null : `/icicle?object=${at}&parts=1`, "sized");
    return (
        <div class="heap-tree" data-view="tree">
            {at !== null && way.value && <Crumbs of={way.value} test="tree-crumbs" as="tree" />}
            <Rows key={String(at)} of={at} />
        </div>
    );
}

function Rows({ of }: { of: number | null }) {
    const first = useHeap<TreePart>(of === null ? "/tree" : `/tree?object=${of}`, "sized");
    const [opened, setOpened] = useState<Parts>(new Map());
    const [at, setAt] = useState(0);
    const box = useRef<HTMLDivElement>(null);
    const parts = new Map(first.value ? [[of, first.value] as const, ...opened] : []);
    const rows = shown(parts, of, 0, []);
    const cursor = Math.min(at, rows.length - 1);
    const ask = (object: number | null, offset: number): void => {
        const path = `/tree?offset=${offset}${object === null ? "" : `&object=${object}`}`;
        get<TreePart>(path).then((part) => setOpened((old) => {
            const before = old.get(object) ?? (object === of ? first.value : undefined);
            return new Map(old).set(object, before && offset > 0 ? { ...part, children: [...before.children.slice(0, offset), ...part.children] } : part);
        }), problem);
    };
    const close = (object: number): void => setOpened((old) => { const next = new Map(old); next.delete(object); return next; });
    const flip = (s: Shown): void => {
        if ("left" in s)
            ask(s.parent, parts.get(s.parent)!.children.length);
        else if (parts.has(s.row.object))
            close(s.row.object);
        else if (s.row.children > 0 && s.depth < DEEPEST)
            ask(s.row.object, 0);
    };
    const move = (to: number): void => {
        const k = Math.min(Math.max(to, 0), rows.length - 1);
        setAt(k);
        box.current?.querySelectorAll<HTMLElement>("[role=row]")[k]?.scrollIntoView({ block: "nearest" });
    };
    const keys = (e: KeyboardEvent): void => {
        const s = rows[cursor];
        const isOpen = s && "row" in s && parts.has(s.row.object);
        if (!s || e.ctrlKey || e.altKey || e.metaKey)
            return;
        if (e.key === "ArrowDown" || e.key === "ArrowUp")
            move(cursor + (e.key === "ArrowDown" ? 1 : -1));
        else if (e.key === "Home" || e.key === "End")
            move(e.key === "Home" ? 0 : rows.length - 1);
        else if (e.key === "ArrowRight")
            isOpen ? move(cursor + 1) : flip(s);
        else if (e.key === "ArrowLeft")
            isOpen ? flip(s) : move(rows.findLastIndex((r, k) => k < cursor && r.depth < s.depth));
        else if (e.key === "Enter" || e.key === " ")
            "row" in s ? state.choose(s.row.object) : flip(s);
        else
            return;
        e.preventDefault();
        e.stopPropagation();
    };
    const all = first.value?.retained ?? 0;
    return (
        <>
            <Missing of={first} what="What keeps what alive" />
            {first.value && (
                <div class="table-box" role="treegrid" aria-label="Who keeps what alive" tabIndex={0} data-keys="" data-test="tree" ref={box} onKeyDown={keys}
                    aria-activedescendant={`tree-${cursor}`} aria-rowcount={rows.length}>
                    <div class="heap-tree-titles" aria-hidden="true"><span>Object</span><span>Shallow</span><span>Retained</span><span>Share</span></div>
                    {rows.map((s, k) => <Row key={s.key} id={`tree-${k}`} s={s} under={k === cursor} open={"row" in s && parts.has(s.row.object)} all={all}
                        onFlip={() => { setAt(k); flip(s); }} onChoose={() => { setAt(k); if ("row" in s) state.choose(s.row.object); else flip(s); }} />)}
                </div>)}
            {first.value?.n === 0 && <p class="dim">It keeps nothing else alive.</p>}
        </>
    );
}

interface RowProps { id: string; s: Shown; under: boolean; open: boolean; all: number; onFlip: () => void; onChoose: () => void }

function Row({ id, s, under, open, all, onFlip, onChoose }: RowProps) {
    const isMore = "left" in s;
    const kept = isMore ? s.bytes : s.row.retained ?? 0;
    const opens = !isMore && s.row.children > 0;
    const chosen = !isMore && state.object.value === s.row.object;
    return (
        <div role="row" id={id} aria-level={s.depth + 1} aria-expanded={opens ? open : undefined} aria-selected={chosen} class={`heap-tree-row${under ? " under" : ""}${chosen ? " selected" : ""}`}
            data-object={isMore ? undefined : s.row.object} data-test={isMore ? "tree-more" : undefined} onClick={onChoose} onDblClick={isMore ? undefined : onFlip}>
            <span role="gridcell" class="heap-tree-name" style={{ paddingLeft: `${6 + Math.min(s.depth, 40) * 16}px` }} title={isMore ? undefined : `${s.row.label} ${s.row.id}`}>
                <span class="heap-fold" aria-hidden="true" data-test={opens ? "fold" : undefined} onClick={(e) => { if (opens) { e.stopPropagation(); onFlip(); } }}>{opens ? (open ? "▾" : "▸") : ""}</span>
                {isMore ? <em>{count(s.left)} others: show more</em> : shortLabel(s.row.label)}
            </span>
            <span role="gridcell" class="right">{isMore ? "" : retainedText(s.row.shallow)}</span>
            <span role="gridcell" class="right">{all > 0 && <span class="table-bar" style={{ width: `${(100 * kept) / all}%` }} />}<span>{bytes(kept)}</span></span>
            <span role="gridcell" class="right">{percent(kept, all)}</span>
        </div>
    );
}
