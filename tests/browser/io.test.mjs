// io.test.mjs - input and output: drawn as such, in words, in the legend, with peer and stack.
import { colours, holds, open, pointOf, report, same, setState, settled, threadOf } from "./lib.mjs";

export const trace = "reads";
export const sources = ["server", "html"];

const COLOURS = [0x1b5c6b, 0x2f8ca0]; // as draw/palette.ts has them, dark
const start = async (w, hash = "") => {
    const p = await open(w.url + hash, { viewport: { width: 1280, height: 1000 }, ...w.options });
    await settled(p);
    return p;
};

/** The longest read of the thread, as the tile that has all of the recording says it. */
async function longestRead(p) {
    const thread = await threadOf(p, "asks");
    const found = await p.evaluate(async (t) => {
        const o = window.orca.state, m = o.meta.value;
        const level = Math.ceil(Math.log2((m.to - m.from) / 512));
        const reads = [];
        for (const i of [0, 1]) {
            const row = (await o.source.value.tile(level, i, [`t${t}`])).get(`t${t}`);
            for (let k = 0; row.kind === "exact" && k < row.io.n; k++)
                reads.push({ from: row.io.from[k], to: row.io.to[k], what: row.io.what[k], peer: row.io.peer[k] });
        }
        return reads.filter((r) => r.what === 1).sort((a, b) => b.to - b.from - (a.to - a.from))[0] ?? null;
    }, thread);
    holds(found, "no read of the thread is in its row");
    return { ...found, thread };
}

async function zoomTo(p, r) {
    await setState(p, `(() => { const o = window.orca.state; o.grouping.value = "flat"; o.focusRow.value = "t${r.thread}"; o.show({ from: ${r.from - (r.to - r.from) / 2}, to: ${r.to + (r.to - r.from) / 2} }); })()`);
}

export const tests = {
    async a_read_is_drawn_and_said(w) {
        const p = await start(w);
        const r = await longestRead(p), middle = (r.from + r.to) / 2, row = `t${r.thread}`;
        await zoomTo(p, r);
        await setState(p, "window.orca.state.pathOn.value = false"); // its line lies over the bar
        const seen = new Set((await colours(p, row, middle)).map(([a, b, c]) => (a << 16) | (b << 8) | c));
        holds([...seen].every((c) => COLOURS.includes(c)), `the read is drawn as ${[...seen].map((c) => c.toString(16))}`);
        const at = await pointOf(p, row, middle);
        await p.mouse.move(at.x, at.y);
        await p.waitForFunction(() => document.querySelector("[data-test=tooltip]")?.textContent.includes("waiting for input for "));
        const text = await p.locator("[data-test=tooltip]").innerText();
        holds(/^waiting for input for [\d.]+ ms\n127\.0\.0\.1:\d+$/.test(text), `the tooltip says ${text}`);
        await p.mouse.click(at.x, at.y);
        await p.waitForFunction(() => document.querySelector("[data-test=details-headline]")?.textContent.includes("was waiting for input"));
        holds(/^asks was waiting for input \(127\.0\.0\.1:\d+\) for [\d.]+ ms\.$/.test(await p.textContent("[data-test=details-headline]")), await p.textContent("[data-test=details-headline]"));
        holds((await p.textContent("[data-test=details-stack]")).includes("Reads.ask"), "its stack is not shown");
        same(p.faults, []);
    },

    async the_legend_has_its_share(w) {
        const p = await start(w, "#tab=legend");
        const t = report(w.trace("reads"), "--threads").threads;
        await p.waitForFunction(() => document.querySelector("[data-state=io] [data-ns]")?.dataset.ns !== undefined);
        const shown = Number(await p.getAttribute("[data-state=io] [data-ns]", "data-ns"));
        same(shown, t.reduce((n, x) => n + x.io_ns, 0));
        const asks = t.find((x) => x.name === "asks");
        holds(asks.io_ns >= 20 * 20e6, `asks was in input and output for ${asks.io_ns} ns`);
    },

    async shares_are_the_tables(w) {
        const p = await start(w);
        const r = await longestRead(p), of = (await p.evaluate(() => window.orca.state.meta.value.threads.pool))[r.thread];
        const sums = await p.evaluate(async ([pool]) => {
            const o = window.orca.state, m = o.meta.value, level = Math.ceil(Math.log2((m.to - m.from) / 512));
            let io = 0;
            for (const i of [0, 1]) {
                const row = (await o.source.value.tile(level, i, [`p${pool}`])).get(`p${pool}`);
                for (let b = 0; row.kind === "cells" && b < 512; b++)
                    io += (row.cells[b * 14 + 10] / 255) * 2 ** level;
            }
            return io;
        }, [of]);
        const t = report(w.trace("reads"), "--threads").threads.find((x) => x.name === "asks");
        holds(Math.abs(sums / t.io_ns - 1) < 0.05, `cells say ${sums} ns, the table ${t.io_ns}`);
    },
};
