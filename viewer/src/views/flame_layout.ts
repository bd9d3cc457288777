// flame_layout.ts - a flame graph's nodes as boxes: sums, folding, order, what is too small.
//
//     total of a node = its own ns + the totals of its children
//
// Folding to my code takes the frames of the JDK out: what is under them moves up to their caller, and
// time of their own goes to one node "JDK" there.  Totals of what stays are the same.
import type { Flame, FlameFrame } from "../types.ts";

/** A tree in columns; node 0 is the root, every node stands behind its parent. */
export interface Tree {
    n: number;
    parent: Int32Array;
    /** Index into frames; -1 - i: why[i]; JDK: folded frames; ROOT. */
    frame: Int32Array;
    own: Float64Array;
    total: Float64Array;
    /** Waits, with those of the children. */
    count: Float64Array;
    depth: Int32Array;
}

export const JDK = -1000001;
export const ROOT = -1000002;

/** The tree of an answer; a parent that does not stand before its child counts as the root. */
export function tree(f: Flame, myCode: boolean): Tree {
    const n = Math.min(f.parent.length, f.frame.length, f.ns.length, f.count.length);
    const t = room(n * 2 + 1);
    const place = new Int32Array(n); // of each node of the answer: where its children hang
    const known = new Map<string, number>();
    const child = (parent: number, frame: number) => {
        const name = `${parent} ${frame}`;
        let at = known.get(name);
        if (at === undefined)
            known.set(name, (at = append(t, parent, frame)));
        return at;
    };
    for (let k = 0; k < n; k++) {
        const p = f.parent[k];
        const under = p >= 0 && p < k ? place[p] : 0;
        const fold = myCode && isFolded(f.frames[f.frame[k]]);
        place[k] = fold ? under : child(under, f.frame[k]);
        const owner = fold && f.ns[k] > 0 ? child(under, JDK) : place[k];
        if (!fold || f.ns[k] > 0) {
            t.own[owner] += f.ns[k];
            t.count[owner] += f.count[k];
        }
    }
    return sum(t);
}

/** The JDK's, and the classes that it makes for lambdas. */
function isFolded(frame: FlameFrame | undefined): boolean {
    return frame !== undefined && (frame.jdk || frame.class.includes("$$Lambda"));
}

function room(n: number): Tree {
    const t: Tree = { n: 1, parent: new Int32Array(n), frame: new Int32Array(n), own: new Float64Array(n), total: new Float64Array(n),
        count: new Float64Array(n), depth: new Int32Array(n) };
    t.parent[0] = -1;
    t.frame[0] = ROOT;
    return t;
}

function append(t: Tree, parent: number, frame: number): number {
    t.parent[t.n] = parent;
    t.frame[t.n] = frame;
    t.depth[t.n] = t.depth[parent] + 1;
    return t.n++;
}

function sum(t: Tree): Tree {
    for (let k = t.n - 1; k >= 0; k--) {
        t.total[k] += t.own[k];
        if (k > 0) {
            t.total[t.parent[k]] += t.total[k];
            t.count[t.parent[k]] += t.count[k];
        }
    }
    return t;
}

/** Boxes of one depth, from left to right, in shares of the width. */
export interface Level { node: number[]; from: number[]; to: number[] }

export interface Layout {
    levels: Level[];
    /** Of nodes that the noise threshold left out. */
    hidden: number;
}

/** The boxes when `zoomed` fills the width, with its ancestors above it.  `least`: share of the zoomed total. */
export function layout(t: Tree, zoomed: number, least: number): Layout {
    const children = childLists(t);
    const levels: Level[] = [];
    for (let k = zoomed; k >= 0; k = t.parent[k])
        put(levels, t.depth[k], k, 0, 1);
    const whole = t.total[zoomed] || 1;
    let hidden = 0;
    const work: [number, number][] = [[zoomed, 0]];
    for (let next = work.pop(); next; next = work.pop()) {
        let from = next[1];
        for (const k of children(next[0])) {
            const share = t.total[k] / whole;
            if (share < least || share <= 0) {
                hidden++;
                continue;
            }
            put(levels, t.depth[k], k, from, from + share);
            work.push([k, from]);
            from += share;
        }
    }
    for (const level of levels)
        order(level);
    return { levels, hidden };
}

function put(levels: Level[], depth: number, node: number, from: number, to: number): void {
    while (levels.length <= depth)
        levels.push({ node: [], from: [], to: [] });
    levels[depth].node.push(node);
    levels[depth].from.push(from);
    levels[depth].to.push(to);
}

function order(level: Level): void {
    const by = level.node.map((_, i) => i).sort((a, b) => level.from[a] - level.from[b]);
    level.node = by.map((i) => level.node[i]);
    level.to = by.map((i) => level.to[i]);
    level.from = by.map((i) => level.from[i]);
}

/** A node's children, most time first. */
export function childLists(t: Tree): (node: number) => number[] {
    const lists = new Map<number, number[]>();
    for (let k = 1; k < t.n; k++) {
        const list = lists.get(t.parent[k]);
        if (list)
            list.push(k);
        else
            lists.set(t.parent[k], [k]);
    }
    for (const list of lists.values())
        list.sort((a, b) => t.total[b] - t.total[a] || a - b);
    return (node) => lists.get(node) ?? [];
}

/** The box of a level that covers a share of the width; -1: none. */
export function boxAt(level: Level | undefined, x: number): number {
    if (!level)
        return -1;
    let low = 0, high = level.from.length;
    while (low < high) {
        const mid = (low + high) >> 1;
        if (level.from[mid] <= x)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && x < level.to[low - 1] ? low - 1 : -1;
}

export interface MethodSum { group: number; self: number; total: number; count: number }

/** Sums by what `groupOf` makes of a frame; in a recursion the outermost counts, so that no total exceeds the whole. */
export function methodSums(t: Tree, groupOf: (frame: number) => number): MethodSum[] {
    const sums = new Map<number, MethodSum>();
    const group = Int32Array.from({ length: t.n }, (_, k) => (k ? groupOf(t.frame[k]) : ROOT));
    for (let k = 1; k < t.n; k++) {
        let s = sums.get(group[k]);
        if (!s)
            sums.set(group[k], (s = { group: group[k], self: 0, total: 0, count: 0 }));
        s.self += t.own[k];
        if (isOutermost(t, group, k)) {
            s.total += t.total[k];
            s.count += t.count[k];
        }
    }
    return [...sums.values()];
}

function isOutermost(t: Tree, group: Int32Array, k: number): boolean {
    for (let up = t.parent[k]; up > 0; up = t.parent[up])
        if (group[up] === group[k])
            return false;
    return true;
}

/** Time in nodes that match, and under them, each ns once. */
export function matchedTotal(t: Tree, matches: (frame: number) => boolean): number {
    const under = new Uint8Array(t.n);
    let ns = 0;
    for (let k = 1; k < t.n; k++) {
        const own = matches(t.frame[k]);
        under[k] = own || under[t.parent[k]] ? 1 : 0;
        if (own && !under[t.parent[k]])
            ns += t.total[k];
    }
    return ns;
}
