// halts.test.ts - why a thread did not run, in no wait: each kind is drawn as its own part, one by one and as shares.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addCells, addExact, PARTS } from "../src/draw/columns.ts";
import { LOOK } from "../src/draw/palette.ts";
import type { Cells, ExactThread } from "../src/types.ts";
import { BUCKETS, CELL, HALTS, haltOf, IO_KINDS } from "../src/types.ts";

const none = { n: 0, start: new Float64Array(), end: new Float64Array(), wake: new Float64Array(), index: new Uint32Array(), context: new Uint32Array(),
    waker: new Uint32Array(), state: new Uint8Array(), flags: new Uint8Array(), how: new Uint8Array() };
const what = ["?", "input", "process", "ready", "stopped", "off"].map((name) => IO_KINDS.indexOf(name as (typeof IO_KINDS)[number]));
const part = (shares: Float32Array, look: number) => Math.round(shares[look] * 1000) / 1000;

test("all input and output is one kind, the others are their own", () => {
    assert.deepEqual(what.map((w) => HALTS[haltOf(w)]), ["io", "io", "io", "ready", "stopped", "off"]);
});

test("stretches one by one take their time off running", () => {
    const n = what.length, row: ExactThread = { kind: "exact", ...none, io: { n, from: Float64Array.from(what, (_, k) => k * 10), to: Float64Array.from(what, (_, k) => k * 10 + 5), peer: new Uint32Array(n), what: Uint8Array.from(what) } };
    const shares = new Float32Array(PARTS);
    addExact(shares, { from: 0, ns: 100, width: 1 }, row, { from: 0, to: 100 }, { from: 0, to: 100 });
    assert.deepEqual([LOOK.io, LOOK.ready, LOOK.stopped, LOOK.off, LOOK.running].map((l) => part(shares, l)), [0.15, 0.05, 0.05, 0.05, 0.7]);
});

test("shares of a bucket", () => {
    const cells = new Uint8Array(BUCKETS * CELL), shares = new Float32Array(PARTS);
    cells.set([255, 0, 0, 0, 51, 51, 51, 51], 6); // lived, waits, blocked parks, unknown, HALTS
    const row: Cells = { kind: "cells", cells };
    addCells(shares, { from: 0, ns: 1, width: 1 }, row, { from: 0, to: BUCKETS }, { from: 0, to: 1 });
    assert.deepEqual([LOOK.io, LOOK.ready, LOOK.stopped, LOOK.off, LOOK.running].map((l) => part(shares, l)), [0.2, 0.2, 0.2, 0.2, 0.2]);
});
