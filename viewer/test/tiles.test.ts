// tiles.test.ts - a page of packed "tiles": one level and all coarser ones, read at any level.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InlineSource } from "../src/source/inline.ts";
import { CELL } from "../src/types.ts";
import type { Cells } from "../src/types.ts";
import { assemble, meta, randomPack } from "./pack.ts";

const p = randomPack(53, 1, 3);
const ROWS = 2 + 2 + 2; // t0, t1, p0, p1, g0, g1

/** A tile in which t1 has these cells, blocked and lived, and the others nothing. */
function tile(blocked: (bucket: number) => number): Uint8Array {
    const out = new Uint8Array(8 + 16 * ROWS + 512 * CELL), v = new DataView(out.buffer), at = 8 + 16 * ROWS;
    v.setUint32(0, 0x314c544f, true);
    v.setUint32(4, ROWS, true);
    for (let r = 0; r < ROWS; r++)
        [r === 1 ? 1 : 4, r === 1 ? 512 : 0, 0, at].forEach((x, k) => v.setUint32(8 + 16 * r + 4 * k, x, true));
    for (let b = 0; b < 512; b++)
        out.set([blocked(b), 0, 0, 0, 0, 0, 255, 1, 0], at + CELL * b);
    return out;
}

/** Kind 1 with one bundle in a slot. */
function arrows(slot: number, count: number): Uint8Array {
    const out = new Uint8Array(16 + 8 * 6), v = new DataView(out.buffer);
    [0x3152414f, 1, 1, 0].forEach((x, k) => v.setUint32(4 * k, x, true));
    v.setFloat64(16, 100 * count, true);
    [1, 1, count, slot].forEach((x, k) => v.setUint32(24 + 8 * k, x, true));
    out[56] = 3;
    return out;
}

/** Kind 1: one thread in every bucket, for so much of it. */
function path(thread: number, share: (bucket: number) => number): Uint8Array {
    const out = new Uint8Array(16 + 512 * 6), v = new DataView(out.buffer);
    [0x3141504f, 1, 512, 0].forEach((x, k) => v.setUint32(4 * k, x, true));
    for (let b = 0; b < 512; b++) {
        v.setUint32(16 + 4 * b, thread, true);
        out[16 + 512 * 4 + b] = 1;
        out[16 + 512 * 5 + b] = share(b);
    }
    return out;
}

function shelf(list: [level: number, i: number, bytes: Uint8Array][]): Uint8Array {
    const out = new Uint8Array(8 + 16 * list.length + list.reduce((sum, [, , b]) => sum + b.length, 0)), v = new DataView(out.buffer);
    v.setUint32(0, list.length, true);
    let at = 8 + 16 * list.length;
    list.forEach(([level, i, bytes], k) => {
        v.setBigInt64(8 + 16 * k, BigInt(i), true);
        v.setUint32(16 + 16 * k, level, true);
        v.setUint32(20 + 16 * k, bytes.length, true);
        out.set(bytes, at);
        at += bytes.length;
    });
    return out;
}

const source = InlineSource.of(assemble({
    meta: new TextEncoder().encode(JSON.stringify({ ...meta(p), packed: "tiles" })),
    tiles: shelf([[4, 0, tile((b) => b % 256)], [4, 1, tile(() => 100)]]),
    arrows: shelf([[4, 0, arrows(10, 5)], [4, 1, arrows(63, 7)]]),
    path: new Uint8Array(0),
    paths: shelf([[4, 0, path(1, (b) => b % 256)], [4, 1, path(0, () => 255)]]),
}));

const blocked = async (level: number, i: number, bucket: number) => ((await source.tile(level, i, ["t1"])).get("t1") as Cells).cells[bucket * CELL];

test("a stored tile is as it was", async () => {
    assert.equal(await blocked(4, 0, 77), 77);
    assert.equal((await source.tile(4, 0, ["t0"])).get("t0")!.kind, "nothing");
});

test("a finer one has the same shares, each for more buckets", async () => {
    assert.equal(await blocked(2, 1, 0), 128);
    assert.equal(await blocked(2, 1, 7), 129);
});

test("a coarser one has the averages", async () => {
    assert.ok(Math.abs((await blocked(5, 0, 10)) - 20.5) <= 1);
    assert.equal(await blocked(5, 0, 300), 100);
    assert.equal((await source.tile(5, -1, ["t1"])).get("t1")!.kind, "nothing");
});

test("arrows go to the part, and to the whole, that they lie in", async () => {
    const finer = [await source.arrows(3, 0), await source.arrows(3, 1)];
    assert.deepEqual(finer.map((a) => a.n), [1, 0]);
    const coarser = await source.arrows(5, 0);
    assert.ok(coarser.kind === "bundles");
    assert.deepEqual([...coarser.count].map((n, k) => [n, coarser.slot[k]]), [[7, 63], [5, 5]]);
    assert.equal((await source.arrows(4, 9)).n, 0);
});

const pathOf = async (level: number, i: number) => {
    const t = await source.path(level, i);
    assert.equal(t.kind, "buckets");
    return t as Extract<typeof t, { kind: "buckets" }>;
};

test("the path of a stored tile, of a finer one and of a coarser one", async () => {
    const stored = await pathOf(4, 0), fine = await pathOf(2, 1), coarse = await pathOf(5, 0), beyond = await pathOf(5, 9);
    assert.deepEqual([stored.thread[77], stored.segment[77], stored.share[77]], [1, 1, 77]);
    assert.deepEqual([fine.thread[8], fine.share[8], fine.share[11], fine.share[12]], [1, 130, 130, 131]);
    assert.deepEqual([coarse.thread[20], coarse.share[20]], [1, 41]); // of 40 and 41, rounded up
    assert.deepEqual([coarse.thread[300], coarse.share[300]], [0, 255]);
    assert.ok(beyond.share.every((s) => s === 0));
});
