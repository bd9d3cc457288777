// inline.test.ts - tiles, arrows, path and details from a pack, against the slow way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InlineSource } from "../src/source/inline.ts";
import { SourceError } from "../src/source.ts";
import { BUCKETS, CELL, FLAG } from "../src/types.ts";
import type { Cells, ExactLock, ExactThread, LockAt, LockCells, Run, Wait } from "../src/types.ts";
import { parts } from "./brute.ts";
import { base64, packOf, randomPack } from "./pack.ts";

/** Shares are rounded so that they add up: each is off by one at most, the greatest by those that are lifted to 1. */
const near = (a: number, share: number) => Math.abs(a - share * 255) <= 2 || (a === 1 && share > 0 && share * 255 < 1);

test("a pack in base64 and gzip opens", async () => {
    const p = randomPack(3, 2, 5);
    const s = await InlineSource.open(base64(packOf(p)));
    assert.equal((await s.meta()).threads.name[1], "worker-1");
});

test("a tile of few waits has them one by one", async () => {
    const p = randomPack(5, 3, 300);
    const s = InlineSource.of(packOf(p));
    const from = 2 * BUCKETS * 64, to = from + BUCKETS * 64;
    const row = (await s.tile(6, 2, ["t2"])).get("t2") as ExactThread;
    const expected = p.threads[1].waits.map((w, index) => ({ ...w, index })).filter((w) => (w.start === w.end ? w.start >= from && w.start < to : w.end > from && w.start < to));
    assert.equal(row.kind, "exact");
    assert.deepEqual([...row.start], expected.map((w) => w.start));
    assert.deepEqual([...row.end], expected.map((w) => w.end));
    assert.deepEqual([...row.index], expected.map((w) => w.index));
    assert.deepEqual([...row.wake].map((x) => (Number.isNaN(x) ? null : x)), expected.map((w) => (w.waker ? w.wake! : null)));
    assert.deepEqual([...row.waker], expected.map((w) => w.waker ?? 0));
});

test("cells are the shares of the states in each bucket", async () => {
    const p = randomPack(7, 3, 3000);
    const s = InlineSource.of(packOf(p));
    for (const [level, i] of [[13, 0], [12, 1], [14, -1], [20, 0]]) {
        const answer = await s.tile(level, i, ["t1", "g1"]);
        for (const [id, members] of [["t1", [1]], ["g1", [2]]] as [string, number[]][]) {
            const row = answer.get(id)!;
            const bucket = 2 ** level, from = i * BUCKETS * bucket;
            if (row.kind === "nothing" || row.kind === "exact") {
                assert.ok(i < 0 || row.kind === "exact");
                continue;
            }
            for (let b = 0; b < BUCKETS; b += 7) {
                const range = { from: from + b * bucket, to: from + (b + 1) * bucket, threads: members };
                const ns = new Float64Array(6);
                for (const x of parts(p, range))
                    ns[x.state] += x.end - x.start;
                for (let state = 0; state < 6; state++)
                    assert.ok(near((row as Cells).cells[b * CELL + state], ns[state] / bucket), `${id} level ${level} bucket ${b} state ${state}`);
            }
        }
    }
});

test("a lock's tile: exact, then cells with the queue", async () => {
    const p = randomPack(11, 6, 4000);
    const s = InlineSource.of(packOf(p));
    const few = (await s.tile(8, 1, ["l1"])).get("l1") as ExactLock;
    assert.equal(few.kind, "lock");
    const many = (await s.tile(13, 0, ["l1"])).get("l1") as LockCells;
    assert.equal(many.kind, "lockcells");
    const bucket = 2 ** 13;
    for (let b = 0; b < 400; b += 11) {
        const range = { from: b * bucket, to: (b + 1) * bucket, lock: 1 };
        const queued = parts(p, range).filter((x) => !x.unknown && (x.state === 0 || x.state === 5 || (x.state === 2 && p.contexts[x.context - 1].owned)));
        const area = queued.reduce((sum, x) => sum + x.end - x.start, 0) / bucket;
        assert.ok(Math.abs(many.cells[b * 8 + 2] - Math.min(255, Math.round(16 * Math.log2(1 + area)))) <= 1, `bucket ${b}`);
    }
});

test("arrows: by effect, bundled when there are many", async () => {
    const p = randomPack(13, 6, 3000);
    const s = InlineSource.of(packOf({ ...p, acts: [{ from_time: 10, to_time: 20, from: 1, to: 2, how: "starts-thread" }] }));
    const all = p.threads.flatMap((t, i) => t.waits.filter((w) => w.waker && w.waker !== i + 1));
    const exact = await s.arrows(7, 0);
    assert.equal(exact.kind, "exact");
    const inside = all.filter((w) => w.end >= 0 && w.end < BUCKETS * 128).length + 1;
    assert.equal(exact.n, inside);
    if (exact.kind === "exact")
        assert.ok(exact.to_time.every((time, k) => k === 0 || time >= exact.to_time[k - 1]));
    const many = await s.arrows(20, 0);
    assert.ok(many.kind === "bundles" && many.n > 0);
    if (many.kind === "bundles")
        assert.equal(many.count.reduce((a, b) => a + b, 0) + many.left_out, all.length + 1);
});

test("the path's segments, then buckets", async () => {
    const path = Array.from({ length: 5000 }, (_, i) => ({ from: i * 10, to: i * 10 + 10, thread: 1 + (i % 2) }));
    const s = InlineSource.of(packOf({ ...randomPack(17, 2, 3), path }));
    const few = await s.path(0, 1);
    assert.ok(few.kind === "exact" && few.n === 52 && few.from[0] === 510, JSON.stringify(few).slice(0, 80));
    const many = await s.path(7, 0);
    assert.ok(many.kind === "buckets" && many.share[0] > 120 && many.share[511] === 0);
    await assert.rejects(s.path(0, 0, { thread: 1, time: 5 }), SourceError);
});

test("who gave the monitor back that an Object.wait took again", async () => {
    const base = randomPack(19, 3, 1);
    const contexts = [{ state: 1, lock: 1, stack: 1, site: 0 }];
    const waits = [{ start: 100, end: 500, context: 1, waker: 2, how: "notify", wake: 300 }, { start: 600, end: 900, context: 1, waker: 2, how: "notify", wake: 700 }];
    const threads = [{ name: "a", from: 0, to: 1000, waits }, { name: "b", from: 0, to: 1000, waits: [] }, { name: "c", from: 0, to: 1000, waits: [] }];
    const regains = [{ thread: 1, index: 0, owner: 3, how: "handoff-lock", wake: 450, stack: 2 }, { thread: 1, index: 1, owner: 3, how: "last-owner-seen", wake: 900, stack: 2 }];
    const by = async (p: object) => {
        const f = await InlineSource.of(packOf({ ...base, contexts, threads, from: 0, to: 1000, ...p })).flame({}, ["reacquiring"], "waker");
        return [f.ns.reduce((sum, n) => sum + n, 0), f.frames.map((x) => x.method).concat(f.why.filter((x) => x))];
    };
    const [known, words] = await by({ regains }), [unknown, none] = await by({});
    assert.ok(known === 400 && unknown === 400);
    assert.ok(words.includes("last owner seen") && !words.includes("waker unknown"), String(words));
    assert.ok(none.includes("waker unknown") && !none.includes("last owner seen"), String(none));
});

test("a wait: its neighbours, its cause, its chain, its effects", async () => {
    const base = randomPack(19, 3, 1);
    const contexts = [{ state: 0, lock: 1, other: 2, stack: 1, site: 0 }, { state: 0, lock: 3, other: 3, stack: 2, site: 1 }];
    const threads = [
        { name: "a", from: 0, to: 1000, waits: [{ start: 100, end: 500, context: 1, waker: 2, how: "handoff-lock", wake: 500 }, { start: 700, end: 800, context: 1 }] },
        { name: "b", from: 0, to: 1000, waits: [{ start: 50, end: 60, context: 2 }, { start: 120, end: 480, context: 2 }] },
        { name: "c", from: 0, to: 1000, waits: [{ start: 600, end: 650, context: 1, waker: 1, how: "notify", wake: 640 }] },
    ];
    const s = InlineSource.of(packOf({ ...base, contexts, threads, from: 0, to: 1000 }));
    const w = await s.wait(1, 0);
    assert.deepEqual([w.before, w.after], [null, { thread: 1, index: 1 }]);
    assert.deepEqual(w.cause, { thread: 2, time: 500, index: 1 });
    assert.deepEqual(w.chain.map((l) => [l.thread, l.index, l.state]), [[2, 1, "blocked"], [3, null, "running"]]);
    assert.match(w.chain[0].text, /^b held it, and itself waited 360 ns for shop.Item, owned by c$/);
    assert.deepEqual(w.effects, [{ thread: 3, index: 0, time: 640, how: "notify" }]);
    assert.equal(w.lock!.class, "shop.Order");
    assert.equal(w.stack[0].method, "put");
    const run = (await s.at("t1", 600)) as Run;
    assert.deepEqual([run.state, run.start, run.end], ["running", 500, 700]);
    assert.equal(((await s.at("t1", 100)) as Wait).index, 0);
    assert.equal(((await s.at("t1", 5000)) as Run).state, "not alive");
    const lock = (await s.at("l1", 300)) as LockAt;
    assert.deepEqual([lock.owner, lock.owner_sure, lock.queue], [2, false, [1]]);
    await assert.rejects(s.wait(1, 2), /has 2 waits/);
    await assert.rejects(s.at("x9", 0), /is not a row/);
});

test("holds that are recorded say who held a lock", async () => {
    const p = { ...randomPack(23, 2, 3), holds: [{ from: 100, to: 200, thread: 2, lock: 5 }] };
    const s = InlineSource.of(packOf(p));
    const at = (await s.at("l5", 150)) as LockAt;
    assert.deepEqual([at.owner, at.owner_sure], [2, true]);
});

test("the minimap keeps its sum when it is sampled anew", async () => {
    const o = await InlineSource.of(packOf(randomPack(29, 2, 3))).overview(3);
    assert.ok(Math.abs(o.running.reduce((a, b) => a + b) / 3 - 2.5) < 1e-9);
});

test("search finds threads, classes, methods without regard to case", async () => {
    const s = InlineSource.of(packOf(randomPack(31, 12, 40)));
    const f = await s.search("ORDER");
    assert.deepEqual(f.classes.map((c) => [c.class, c.objects]), [["shop.Order", 2]]);
    assert.deepEqual(f.methods.map((m) => m.method), ["put"]);
    assert.ok(f.methods[0].wait);
    assert.deepEqual((await s.search("worker-12")).threads, [12]);
});

test("a wait of which one end is missing may stand inside another one", async () => {
    const base = randomPack(47, 1, 1);
    const contexts = [{ state: 0, lock: 1, stack: 1, site: 0 }, { state: 2, lock: 1, stack: 1, site: 0, flags: FLAG.unknown }];
    const waits = [{ start: 100, end: 900, context: 1 }, { start: 300, end: 300, context: 2 }, { start: 400, end: 400, context: 2 }, { start: 950, end: 960, context: 1 }];
    const s = InlineSource.of(packOf({ ...base, contexts, threads: [{ name: "a", from: 0, to: 2000, waits }], from: 0, to: 2000 }));
    const row = (await s.tile(0, 1, ["t1"])).get("t1") as ExactThread; // 512 to 1023
    assert.deepEqual([...row.index], [0, 3]);
    assert.equal(((await s.at("t1", 600)) as Wait).index, 0);
    const r = await s.report(["threads"], { from: 500, to: 1000 });
    assert.equal(r.threads![0].blocked_ns, 410);
});

test("unknown waits are moments with a flag", async () => {
    const p = randomPack(37, 1, 200);
    const row = (await InlineSource.of(packOf(p)).tile(12, 0, ["t1"])).get("t1") as ExactThread;
    for (let k = 0; k < row.n; k++)
        if (row.flags[k] & FLAG.unknown)
            assert.equal(row.start[k], row.end[k]);
});
