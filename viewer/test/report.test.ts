// report.test.ts - the tables of a selection against the slow way: sums, cutting, percentiles, flame graphs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InlineSource } from "../src/source/inline.ts";
import { Weigh, log2, percentile } from "../src/source/inline_stats.ts";
import type { ReportRow, Selection } from "../src/types.ts";
import * as brute from "./brute.ts";
import { NONE, packOf, randomPack } from "./pack.ts";

const p = randomPack(41, 6, 800);
const source = InlineSource.of(packOf(p));
const SELECTIONS: Selection[] = [{ from: 0, to: 1e9 }, { from: 100_000, to: 300_001 }, { from: 50_000, to: 50_001 }, { threads: [2, 5] }, { from: 1234, to: 777_777, threads: [1, 3, 4] }, { lock: 2 }];

const KINDS = [["blocked", 0], ["waited", 1], ["parked", 2], ["joined", 3], ["slept", 4], ["reacquiring", 5]] as const;

for (const s of SELECTIONS)
    test(`threads and sites of ${JSON.stringify(s)}`, async () => {
        const r = await source.report(["threads", "sites", "monitors", "owners"], s);
        const parts = brute.parts(p, s);
        for (const t of r.threads!) {
            const of = parts.filter((x) => x.thread === t.id);
            assert.equal(t.blocked_count, of.filter((x) => x.state === 0).length);
            assert.equal(t.blocked_ns, brute.sum(of.filter((x) => x.state === 0).map((x) => x.end - x.start)));
            assert.equal(t.reacquired_ns, brute.sum(of.filter((x) => x.state === 5).map((x) => x.end - x.start)));
            assert.equal(t.blocked_ns + t.waited_ns + t.parked_ns + t.joined_ns + t.slept_ns + t.reacquired_ns + t.running_ns, t.life_ns);
        }
        for (const row of r.sites!)
            checkSite(row, parts);
        for (const key of ["blocked_count", "blocked_ns", "waited_count", "waited_ns", "parked_ns"])
            assert.equal(total(r.sites!, key), total(r.threads as unknown as ReportRow[], key), key);
        for (const key of ["blocked_count", "blocked_ns", "waited_count", "waited_ns"])
            assert.equal(total(r.locks!, key), total(r.sites!, key), key);
        for (const list of [r.owners!, r.pairs!])
            for (const key of ["blocked_count", "blocked_ns"])
                assert.equal(total(list, key), total(r.sites!, key), key);
    });

const total = (rows: ReportRow[], key: string) => brute.sum(rows.map((row) => row[key] as number));

function checkSite(row: ReportRow, parts: brute.BrutePart[]): void {
    const site = p.sites.findIndex((s) => s.stack === row.stack);
    for (const [name, state] of KINDS) {
        const of = parts.filter((x) => x.state === state && p.contexts[x.context - 1].site === site);
        const known = of.filter((x) => !x.unknown).map((x) => x.end - x.start);
        assert.equal(row[`${name}_count`], of.length);
        assert.equal(row[`${name}_unknown`], of.length - known.length);
        assert.equal(row[`${name}_ns`], brute.sum(known));
        assert.equal(row[`${name}_min_ns`], known.length ? Math.min(...known) : 0);
        assert.equal(row[`${name}_max_ns`], Math.max(0, ...known));
        assert.equal(row[`${name}_avg_ns`], known.length ? Math.floor(brute.sum(known) / known.length) : 0);
        for (const [suffix, permille] of [["p50", 500], ["p90", 900], ["p99", 990]] as const)
            assert.equal(row[`${name}_${suffix}_ns`], brute.percentile(known, permille));
        assert.equal(row[`${name}_threads`], new Set(of.map((x) => x.thread)).size);
        assert.equal(row[`${name}_objects`], new Set(of.map((x) => p.contexts[x.context - 1].lock).filter(Boolean)).size);
        assert.equal(brute.sum((row[`${name}_log2`] as [number, number][]).map(([, n]) => n)), known.length);
    }
}

test("of a class: its rows only", async () => {
    const r = await source.report(["monitors", "sites", "owners", "threads"], { class: "shop.Item" });
    assert.deepEqual(r.locks!.map((row) => row.class), ["shop.Item"]);
    assert.ok(r.sites!.length > 0 && r.sites!.every((row) => row.class === "shop.Item"));
    assert.ok(r.owners!.every((row) => row.class === "shop.Item"));
    await assert.rejects(source.report(["monitors"], { class: "shop.Nothing" }), /No monitor is of class/);
    await assert.rejects(source.report(["nothing"], {}), /no section "nothing"/);
});

test("ranges that adjoin add up", async () => {
    const sums = [];
    for (const [from, to] of [[0, 123_456], [123_456, 500_000], [500_000, 1e9]])
        sums.push(total((await source.report(["threads"], { from, to })).threads as unknown as ReportRow[], "blocked_ns"));
    assert.equal(brute.sum(sums), brute.sum(brute.parts(p, {}).filter((x) => x.state === 0).map((x) => x.end - x.start)));
});

test("owner sites: waits whose owner was asked", async () => {
    const r = await source.report(["owners"], { from: 0, to: 1e9 });
    const asked = brute.parts(p, {}).filter((x) => !x.unknown && (p.contexts[x.context - 1].owner_site ?? NONE) !== NONE);
    assert.equal(total(r.owner_sites!, "blocked_ns"), brute.sum(asked.map((x) => x.end - x.start)));
});

test("locks one by one: sums, order, longest queue", async () => {
    const { n, locks } = await source.locks({ from: 0, to: 400_000 }, 3);
    assert.equal(locks.length, 3);
    assert.ok(n >= 3);
    for (const l of locks)
        assert.equal(l.blocked_ns, brute.sum(brute.parts(p, { from: 0, to: 400_000, lock: l.id }).filter((x) => x.state === 0).map((x) => x.end - x.start)));
    assert.ok(locks.every((l) => l.longest_queue >= 1 && l.longest_queue <= p.threads.length));
});

test("a flame graph's nodes add up to the waits of its states", async () => {
    for (const by of ["waiter", "owner", "waker"] as const) {
        const f = await source.flame({ from: 1000, to: 600_000 }, ["blocked", "sleeping"], by);
        const parts = brute.parts(p, { from: 1000, to: 600_000 }).filter((x) => x.state === 0 || x.state === 4);
        assert.equal(f.total_count, parts.length);
        assert.equal(f.total_ns, brute.sum(parts.map((x) => (x.unknown ? 0 : x.end - x.start))));
        assert.equal(brute.sum(f.ns), f.total_ns);
        assert.ok(f.parent.every((parent, k) => parent < k));
    }
    const held = await source.flame({}, null, "waiter");
    const wanted = brute.parts(p, {}).filter((x) => x.state === 0 || x.state === 5 || (x.state === 2 && p.contexts[x.context - 1].owned));
    assert.equal(held.total_count, wanted.length);
});

test("percentile is the nearest rank; powers of two begin at 0", () => {
    const v = Float64Array.from([0, 1, 2, 3, 4, 1023, 1024]);
    assert.equal(percentile(v, 500), 3);
    assert.equal(percentile(v, 990), 1024);
    assert.equal(percentile(new Float64Array(0), 500), 0);
    assert.deepEqual(log2(v), [[0, 2], [2, 2], [4, 1], [512, 1], [1024, 1]]);
});

// The figures of tests/unit/analyze_weigh_test.c.
test("what a set of waits is due to", () => {
    const weigh = (...waits: [n: number, key: number, ns: number][]) => {
        const w = new Weigh();
        for (const [n, key, ns] of waits)
            for (let i = 0; i < n; i++)
                w.add(key, ns);
        return w;
    };
    assert.deepEqual(weigh().of(1, 0, 0), { ns: 0, permille: 0 });
    assert.equal(weigh([3, 1, 10], [1, 2, 1e6]).of(1, 3, 30).permille, 750);
    assert.deepEqual(weigh([38, 1, 100], [1, 2, 1e6], [19, 3, 100]).of(2, 1, 1e6), { ns: 300, permille: 50 });
    assert.deepEqual(weigh([900, 1, 10], [100, 2, 50000]).of(2, 100, 5e6), { ns: 5e6, permille: 998 });
    assert.deepEqual(weigh([40, 1, 10], [19, 2, 1e6]).of(2, 19, 19e6), { ns: 19 * 400, permille: 950 });
});
