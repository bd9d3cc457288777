// arrow_look.test.ts - kinds of arrows can be distinguished without their colours.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ARROW_LOOKS, headOf } from "../src/draw/arrow_look.ts";
import { INTERACTIONS } from "../src/types.ts";

test("no two kinds of arrows look alike but for their colour", () => {
    const looks = INTERACTIONS.map((how) => `${ARROW_LOOKS[how].dash.join(",")} ${ARROW_LOOKS[how].head}`);
    assert.equal(new Set(looks).size, INTERACTIONS.length, looks.join("; "));
});

test("a head points to where the arrow goes, and a double one is two behind each other", () => {
    assert.deepEqual(headOf(10, 5, 1, 0, 4, "full"), [[[10, 5], [6, 7], [6, 3]]]);
    assert.deepEqual(headOf(10, 5, 1, 0, 4, "double").map((h) => h[0]), [[10, 5], [6, 5]]);
});
