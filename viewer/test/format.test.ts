// format.test.ts - times and sizes read as `orca report` has them: the expected texts are those of tests/unit/human_test.c.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { bytes, count, duration } from "../src/format.ts";

// Built into build/viewer/test.
const expected = readFileSync(fileURLToPath(new URL("../../../tests/unit/human_test.c", import.meta.url)), "utf8");
const textOf = (c: string) => c.replace(/\\xc2\\xb5/g, "µ").replace(/" "/g, "");

test("a duration is that of human_time", () => {
    const rows = [...expected.matchAll(/\{(\d+), ("[^}]*")\}/g)];
    assert.ok(rows.length > 10);
    for (const [, ns, text] of rows)
        assert.equal(duration(Number(ns)), textOf(text!).slice(1, -1), `${ns} ns`);
});

test("a size is that of human_bytes, a number that of human_count", () => {
    const valueOf = (c: string) => {
        const m = /^\(?(\d+)(?: << (\d+))?\)?(?: - (\d+))?$/.exec(c);
        return m ? Number(m[1]) * 2 ** Number(m[2] ?? 0) - Number(m[3] ?? 0) : NaN;
    };
    let n = 0;
    for (const [, what, value, text] of expected.matchAll(/human_(bytes|count)\((.*?)\)\.text, "(.*?)"/g)) {
        if (what === "count" && value === "UINT64_MAX")
            continue; // not exact as a number
        const v = value === "UINT64_MAX" ? 2 ** 64 : valueOf(value!);
        assert.equal((what === "bytes" ? bytes : count)(v), text, value);
        n++;
    }
    assert.ok(n > 8);
});
