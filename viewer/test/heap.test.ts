// heap.test.ts - the icicle of a heap dump: boxes in the order of the answer, whatever it says of parents.
import assert from "node:assert/strict";
import { test } from "node:test";
import { icicleBoxes, icicleNames, icicleTree } from "../src/heap/icicle_layout.ts";
import type { Icicle, IcicleNode } from "../src/heap/types.ts";

const of = (nodes: IcicleNode[]): Icicle => ({ object: null, all: 1000, up: [], up_left_out: 0, nodes });

const HEAP = of([
    [-1, null, 1000, 1, "all that the roots keep"],
    [0, 7, 500, 1, "class shop.Mix"],
    [0, 9, 200, 1, "shop.Order[]"],
    [0, null, 250, 1234, null],
    [1, 3, 400, 1, "byte[]"],
]);

test("boxes are as wide as what is retained, others stand last", () => {
    const boxes = icicleBoxes(icicleTree(HEAP));
    assert.deepEqual(boxes.levels.map((l) => l.node), [[0], [1, 2, 3], [4]]);
    assert.deepEqual(boxes.levels[1].from, [0, 0.5, 0.7]);
    assert.deepEqual(boxes.levels[1].to, [0.5, 0.7, 0.95]);
    assert.deepEqual([boxes.levels[2].from[0], boxes.levels[2].to[0]], [0, 0.4]);
});

test("what is an object's own is what its children do not have", () => {
    const t = icicleTree(HEAP);
    assert.deepEqual([...t.own], [50, 100, 200, 250, 400]);
    assert.deepEqual([...t.depth], [0, 1, 1, 1, 2]);
});

test("names", () => {
    const names = icicleNames(HEAP);
    assert.deepEqual([0, 1, 2, 3, 4].map((k) => names.short(k)), ["all that the roots keep", "class Mix", "Order[]", "1,234 others", "byte[]"]);
    assert.equal(names.full(1), "class shop.Mix");
    assert.ok(names.matches(2, "order") && !names.matches(2, "mix") && !names.matches(2, ""));
    assert.equal(names.colour(1, true), names.colour(1, true));
    assert.notEqual(names.colour(1, true), names.colour(3, true));
});

test("a parent that does not stand before its child counts as the root", () => {
    const t = icicleTree(of([[-1, 1, 100, 1, "A"], [5, 2, 60, 1, "B"], [2, 3, 90, 1, "C"], [-7, 4, 1, 1, "D"]]));
    assert.deepEqual([...t.parent], [-1, 0, 0, 0]);
    assert.ok(t.own[0] >= 0);
    icicleBoxes(t);
    assert.deepEqual(icicleBoxes(icicleTree(of([]))).levels.length, 1);
});
