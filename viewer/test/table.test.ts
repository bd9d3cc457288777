// table.test.ts - what tables and flame graphs do to their data, without a page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { filtered, selectRow, sorted, tsv } from "../src/views/rows.ts";
import type { Column } from "../src/views/rows.ts";
import { JDK, boxAt, layout, matchedTotal, methodSums, tree } from "../src/views/flame_layout.ts";
import { eachStep, orderOf } from "../src/source/inline_order.ts";
import type { Flame } from "../src/types.ts";
import { random } from "./pack.ts";

interface Row { name: string; ns: number | null }
const COLUMNS: Column<Row>[] = [
    { id: "name", title: "Name", width: 1, value: (r) => r.name },
    { id: "ns", title: "Time", width: 1, right: true, data: "ns", value: (r) => r.ns, text: (r) => `${r.ns} ns` },
];
const ROWS: Row[] = [{ name: "worker-10", ns: 5 }, { name: "worker-2", ns: null }, { name: "Main\tx", ns: 70 }];

test("rows are sorted by value, names as people count, what is not known last", () => {
    assert.deepEqual(sorted(ROWS, COLUMNS, { id: "ns", down: true }).map((r) => r.ns), [70, 5, null]);
    assert.deepEqual(sorted(ROWS, COLUMNS, { id: "ns", down: false }).map((r) => r.ns), [5, 70, null]);
    assert.deepEqual(sorted(ROWS, COLUMNS, { id: "name", down: false }).map((r) => r.name), ["Main\tx", "worker-2", "worker-10"]);
});

test("the filter wants every word, in text columns", () => {
    assert.equal(filtered(ROWS, COLUMNS, "WORK 10").length, 1);
    assert.equal(filtered(ROWS, COLUMNS, "70").length, 0);
    assert.equal(filtered(ROWS, COLUMNS, "  ").length, 3);
});

test("what is copied has a tab between values, and none in them", () => {
    assert.equal(tsv(ROWS.slice(2), COLUMNS), "Name\tTime (ns)\nMain x\t70\n");
});

test("a click selects one, Ctrl adds, Shift a range", () => {
    const keys = ["a", "b", "c", "d"];
    assert.deepEqual([...selectRow(keys, new Set(["a"]), 2, 0, "only")], ["c"]);
    assert.deepEqual([...selectRow(keys, new Set(["a"]), 2, 0, "toggle")], ["a", "c"]);
    assert.deepEqual([...selectRow(keys, new Set(["a"]), 0, 0, "toggle")], []);
    assert.deepEqual([...selectRow(keys, new Set(["a"]), 1, 3, "range")], ["b", "c", "d"]);
});

/** main calls put, put waits in Object.wait (the JDK's); main sleeps; the JDK calls run. */
const FLAME: Flame = {
    unit: "ns", by: "waiter", total_ns: 100, total_count: 10, why: ["no stack"],
    frames: [["A", "main", false], ["A", "put", false], ["java.lang.Object", "wait", true], ["java.lang.Thread", "run", true]].map(([c, m, jdk]) =>
        ({ class: c as string, method: m as string, file: "", line: null, jdk: jdk as boolean })),
    parent: [-1, 0, 1, 0, -1, -1, 5], frame: [0, 1, 2, 2, -1, 3, 1], ns: [0, 10, 40, 20, 5, 0, 25], count: [0, 1, 4, 2, 1, 0, 2],
};

test("totals are the node's own time and its children's", () => {
    const t = tree(FLAME, false);
    assert.equal(t.total[0], 100);
    assert.equal(t.count[0], 10);
    assert.deepEqual([...t.total.subarray(1, 4)], [70, 50, 40]);
});

test("just my code: no JDK but a mark where it had time, the same totals", () => {
    const t = tree(FLAME, true);
    const frames = [...t.frame.subarray(1, t.n)];
    assert.ok(!frames.includes(2) && !frames.includes(3));
    assert.equal(frames.filter((f) => f === JDK).length, 2);
    assert.equal(t.total[0], 100);
    const run = [...t.parent.subarray(0, t.n)].findIndex((p, k) => p === 0 && t.frame[k] === 1);
    assert.equal(t.total[run], 25); // put, called by Thread.run, hangs at the root
});

test("boxes tile the width; what is too small is counted", () => {
    const t = tree(FLAME, false), l = layout(t, 0, 0);
    assert.deepEqual(l.levels[1].to.at(-1), 1);
    assert.equal(l.levels[1].node[boxAt(l.levels[1], 0.5)], 1);
    assert.equal(boxAt(l.levels[2], 0.99), -1);
    assert.equal(layout(t, 0, 0.1).hidden, 1);
    assert.equal(layout(t, 1, 0).levels[1].to[0], 1);
});

test("a method's total counts each ns once, in a recursion too", () => {
    const deep: Flame = { ...FLAME, parent: [-1, 0, 1], frame: [0, 1, 0], ns: [1, 2, 3], count: [1, 1, 1] };
    const sums = methodSums(tree(deep, false), (f) => f);
    assert.deepEqual(sums.map((s) => [s.group, s.self, s.total]), [[0, 4, 6], [1, 2, 5]]);
    assert.equal(matchedTotal(tree(deep, false), (f) => f === 0), 6);
});

test("the order of runs is the order of all", () => {
    const r = random(3), keys = Float64Array.from({ length: 5000 }, (_, i) => (i % 700) * 3 + r(900));
    const order = orderOf(keys);
    assert.deepEqual([...order].map((i) => keys[i]), [...keys].sort((a, b) => a - b));
    assert.equal(new Set(order).size, keys.length);
    let n = 0, most = 0, last = -1;
    eachStep(Float64Array.of(0, 5, 5), Float64Array.of(5, 9, 6), (time, _, begins) => {
        assert.ok(time >= last);
        last = time;
        most = Math.max(most, (n += begins ? 1 : -1));
    });
    assert.deepEqual([n, most], [0, 2]);
});
