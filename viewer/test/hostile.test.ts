// hostile.test.ts - packs that are cut, absurd, or lie: a SourceError that says so, and never for long.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SourceError } from "../src/source.ts";
import { InlineSource } from "../src/source/inline.ts";
import { assemble, packOf, random, randomPack, sectionsOf } from "./pack.ts";

const p = randomPack(43, 3, 50);

/** Opens, or says why not: nothing else is allowed. */
async function open(bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    try {
        const s = InlineSource.of(bytes);
        await s.tile(10, 0, ["t1", "g1", "l1"]);
        await s.report(["threads", "monitors", "sites", "owners"], { from: 0, to: 1000 });
        return true;
    } catch (e) {
        if (!(e instanceof SourceError))
            throw e;
        return false;
    }
}

const changed = (name: string, bytes: Uint8Array) => assemble({ ...sectionsOf(p), [name]: bytes });

test("a pack that is whole opens", async () => assert.ok(await open(packOf(p))));

test("a pack that is cut anywhere does not hang and does not crash", async () => {
    const whole = packOf(p);
    for (let n = 0; n < whole.length; n += 97)
        assert.equal(await open(whole.slice(0, n)), false);
});

test("sections that are cut", async () => {
    for (const [name, bytes] of Object.entries(sectionsOf(p)))
        for (const part of [0, 0.3, 0.9])
            await open(changed(name, bytes.slice(0, Math.floor(bytes.length * part))));
});

test("absurd counts are refused before memory is taken by them", async () => {
    for (const name of ["waits", "contexts", "locks", "sites", "stacks", "acts", "wakes", "holds"]) {
        const bytes = sectionsOf(p)[name].slice();
        new DataView(bytes.buffer).setUint32(0, 0xfffffff0, true);
        assert.equal(await open(changed(name, bytes)), false, name);
    }
    const waits = sectionsOf(p).waits.slice(), planes = 8 + Math.ceil((4 * (p.threads.length + 1)) / 8) * 8;
    new DataView(waits.buffer).setUint32(planes, 200, true); // bytes of a number
    assert.equal(await open(changed("waits", waits)), false);
    new DataView(waits.buffer).setUint32(planes, 1, true);
    new DataView(waits.buffer).setUint32(planes + 4, 2 ** 31, true); // others
    assert.equal(await open(changed("waits", waits)), false);
});

test("numbers of other things than there are", async () => {
    assert.equal(await open(changed("waits", new Uint8Array(500).fill(0xff))), false);
    const contexts = sectionsOf(p).contexts.slice();
    new DataView(contexts.buffer).setUint32(12, 77777, true); // a lock
    assert.equal(await open(changed("contexts", contexts)), false);
});

test("bytes that are changed at random", async () => {
    const whole = packOf(p), r = random(99);
    for (let round = 0; round < 300; round++) {
        const bytes = whole.slice();
        for (let k = 0; k < 3; k++)
            bytes[r(bytes.length)] = r(256);
        await open(bytes);
    }
});

test("what is no base64, no gzip, no pack says so", async () => {
    for (const text of ["%%%", "AAAA", ""])
        await assert.rejects(InlineSource.open(text), SourceError);
});

test("a page of tiles says what it cannot answer", async () => {
    const all = sectionsOf(p);
    const meta = JSON.parse(new TextDecoder().decode(all.meta)) as Record<string, unknown>;
    meta.packed = "tiles";
    const s = InlineSource.of(assemble({ meta: new TextEncoder().encode(JSON.stringify(meta)) }));
    await assert.rejects(s.wait(1, 0), /only the overview/);
    await assert.rejects(s.flame({}, null, "waiter"), /orca view/);
    assert.deepEqual((await s.report(["sites"], { class: "shop.Order" })).sites, []);
    await assert.rejects(s.report(["threads"], { class: "shop.Order" }), /only the overview/);
    assert.equal((await s.report(["threads"], {})).schema, "orca-report-1");
    assert.deepEqual((await s.search("worker-2")).threads, [2]);
});
