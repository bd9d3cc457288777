// icicle_layout.ts - a part of the tree of dominators in the form that the canvas draws: columns, names, colours.
import { bytes, count, simple } from "../format.ts";
import type { BoxNames } from "../views/flame_canvas.tsx";
import type { Layout, Tree } from "../views/flame_layout.ts";
import { classColour } from "../views/flame_names.ts";
import type { Icicle } from "./types.ts";

/** Node k of the answer is node k of the tree, and its own name; a parent that does not stand before its child
 * counts as the root. */
export function icicleTree(of: Icicle): Tree {
    const n = Math.max(of.nodes.length, 1);
    const t: Tree = { n, parent: new Int32Array(n), frame: Int32Array.from({ length: n }, (_, k) => k), own: new Float64Array(n), total: new Float64Array(n),
        count: new Float64Array(n), depth: new Int32Array(n) };
    t.parent[0] = -1;
    of.nodes.forEach(([parent, , kept, objects], k) => {
        t.total[k] = t.own[k] = kept;
        t.count[k] = objects;
        if (k === 0)
            return;
        const up = parent >= 0 && parent < k ? parent : 0;
        t.parent[k] = up;
        t.depth[k] = t.depth[up] + 1;
        t.own[up] = Math.max(t.own[up] - kept, 0);
    });
    return t;
}

/** Boxes in the order of the answer: the largest first, what is left at the end. */
export function icicleBoxes(t: Tree): Layout {
    const levels: Layout["levels"] = [];
    const next = new Float64Array(t.n); // where the next child of each node begins
    const all = t.total[0] || 1;
    for (let k = 0; k < t.n; k++) {
        const from = k === 0 ? 0 : next[t.parent[k]];
        const to = from + t.total[k] / all;
        next[k] = from;
        if (k > 0)
            next[t.parent[k]] = to;
        const level = (levels[t.depth[k]] ??= { node: [], from: [], to: [] });
        level.node.push(k);
        level.from.push(from);
        level.to.push(to);
    }
    return { levels, hidden: 0 };
}

/** The text about a box, in a heap's terms. */
export function icicleNames(of: Icicle): BoxNames {
    const full = (k: number): string => {
        const node = of.nodes[k];
        return !node ? "" : node[4] ?? `${count(node[3])} others`;
    };
    const short = (k: number): string => {
        const name = full(k);
        return of.nodes[k]?.[1] === null ? name : name.startsWith("class ") ? `class ${simple(name.slice(6))}` : simple(name);
    };
    return {
        what: "object", amount: bytes, full, short,
        matches: (k, words) => words !== "" && full(k).toLowerCase().includes(words),
        colour: (k, dark) => (of.nodes[k]?.[1] === null ? `hsl(0 0% ${dark ? 24 : 88}%)` : classColour(full(k).replace(/^class /, ""), dark)),
    };
}
