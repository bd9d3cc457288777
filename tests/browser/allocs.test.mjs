// allocs.test.mjs - flame graphs of allocations and the lanes of their rates: their numbers against `orca report --alloc --json`.
import { drawn, holds, near, open, panned, pointOf, report, same, settled, shot, until } from "./lib.mjs";

export const trace = "heap";
export const sources = ["server", "html"];

const start = async (w, hash = "tab=flame&panel=600") => {
    const p = await open(`${w.url}#${hash}`, { viewport: { width: 1600, height: 1100 }, ...w.options });
    await settled(p);
    return p;
};

const sum = (list) => list.reduce((x, y) => x + y, 0);
const flame = (p, of, by) => p.evaluate(([s, b]) => window.orca.state.source.value.flame(s, null, b), [of, by]);
const rates = (p, of, n) => p.evaluate(([s, k]) => window.orca.state.source.value.rates(s, k), [of, n]);

async function agrees(p, file, of, ...options) {
    const r = report(file, "--alloc", ...options).allocations;
    for (const [by, key] of [["alloc", "allocated"], ["live", "not_freed"]]) {
        const f = await flame(p, of, by);
        same([f.unit, f.total_ns, f.total_count], ["bytes", r[key].bytes, r[key].objects], `${by} ${options}`);
        same([sum(f.ns), sum(f.count)], [f.total_ns, f.total_count], `nodes of ${by}`);
        for (const c of r.classes) {
            const frame = f.frames.findIndex((x) => x.class === c.class && x.method === "");
            same(sum(f.ns.filter((_, k) => f.frame[k] === frame)), c[key].bytes, `${by} of ${c.class} ${options}`);
        }
    }
    return r;
}

export const tests = {
    async the_graphs_have_the_numbers_of_the_report(w) {
        const p = await start(w), file = w.trace(trace);
        const from = 400_000_000, to = 600_000_000, range = ["--from", "400ms", "--to", "600ms"];
        await agrees(p, file, {});
        await agrees(p, file, { from, to }, ...range);
        await agrees(p, file, { from, to, threads: [2] }, ...range, "--thread", "worker-1");
        await agrees(p, file, { threads: [1] }, "--thread", "main");
        same(p.faults, []);
    },

    async rates_add_up_to_what_was_allocated(w) {
        const p = await start(w);
        for (const of of [{}, { from: 333_333_333, to: 700_000_001 }, { threads: [1, 3] }])
            for (const n of [1, 7, 500]) {
                const r = await rates(p, of, n), f = await flame(p, of, "alloc");
                same(r.bytes.length, n * r.threads.length);
                same(sum(r.bytes), f.total_ns, `${JSON.stringify(of)} in ${n}`);
            }
        same(p.faults, []);
    },

    async the_view_shows_what_is_live(w) {
        const p = await start(w), r = report(w.trace(trace), "--live").allocations;
        await p.click("[data-test=flame-by-live]");
        await settled(p);
        const total = p.locator("[data-test=flame-total]");
        same([await total.getAttribute("data-ns"), await total.getAttribute("data-count")].map(Number), [r.not_freed.bytes, r.not_freed.objects]);
        holds((await total.textContent()).includes("objects"), await total.textContent());
        holds(!(await p.isVisible("[data-test=flame-states]")), "allocations have no states");
        await p.click("[data-test=flame-as-table]");
        await settled(p);
        holds((await p.textContent("[data-view=flame]")).includes("shop.Cache$Entry"), "the class is a row");
        await p.waitForFunction(() => location.hash.includes("by=live"));
        same(p.faults, []);
    },

    async lanes_say_how_fast_in_words(w) {
        const p = await start(w, "group=flat"), file = w.trace(trace);
        await p.waitForFunction(() => window.orca.lanes()?.most > 0);
        // Where a thread allocated most.
        const at = await p.evaluate(() => {
            const l = window.orca.lanes();
            const [thread, v] = [...l.of].find(([, list]) => list.includes(l.most));
            const part = (l.to - l.from) / l.n;
            return { thread, bytes: l.most, part, time: l.from + (v.indexOf(l.most) + 0.5) * part };
        });
        const point = await pointOf(p, `t${at.thread}`, at.time);
        await p.mouse.move(point.x, point.y + 8);
        const text = await p.locator("[data-test=tooltip]").innerText();
        const name = await p.evaluate((t) => window.orca.state.meta.value.threads.name[t], at.thread);
        const sampled = report(file, "--alloc").allocations.source === "sampled";
        holds(text.startsWith(`${name} allocated `) && /\d (B|kB|MB|GB)\/s\n/.test(text), `the tooltip says ${text}`);
        holds(text.endsWith(sampled ? "estimated from samples" : "every object counted"), `the tooltip says ${text}`);
        const [, number, unit] = /allocated ([\d.]+) (B|kB|MB|GB)\/s/.exec(text);
        near(Number(number) * { B: 1, kB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 }[unit], at.bytes / at.part * 1e9, 0.06, "the rate");
        // Above the lane is the bar's own.
        await p.mouse.move(point.x, point.y);
        holds(!/allocated/.test(await p.locator("[data-test=tooltip]").innerText()), "the bar has its own words");
        await p.click("[data-test=tab-legend]");
        const legend = await p.locator('[data-lane="alloc"]').innerText();
        holds(legend.includes(`${number} ${unit}/s`), `the legend says ${legend}`);
        await shot(p, `allocs-legend-${w.kind}`);
        // Without a mouse: the selection shows what was allocated in that time.
        await p.evaluate(([t, time]) => { window.orca.state.chosenAt.value = { row: `t${t}`, time }; window.orca.state.tab.value = "details"; }, [at.thread, at.time]);
        await p.waitForSelector("[data-test=details-allocated]");
        await settled(p);
        const [from, to] = await p.$eval("[data-test=details-times]", (e) => [Number(e.dataset.from), Number(e.dataset.to)]);
        const r = await rates(p, { from: Math.floor(from), to: Math.ceil(to), threads: [at.thread] }, 1);
        same(Number(await p.getAttribute("[data-test=details-allocated]", "data-bytes")), sum(r.bytes));
        same(p.faults, []);
    },

    /** The lanes come a little after the bars: who waits until nothing is under way sees those of the view. */
    async panning_moves_lanes(w) {
        await panned(await start(w, "group=flat"));
    },

    async lanes_are_drawn_and_switched_off(w) {
        const p = await start(w, "group=flat");
        const purple = () => p.evaluate(() => {
            const c = document.querySelector("canvas.base"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
            let n = 0;
            for (let k = 0; k < d.length; k += 4)
                n += (d[k] === 0xc7 && d[k + 1] === 0x92 && d[k + 2] === 0xea) || (d[k] === 0x8e && d[k + 1] === 0x3f && d[k + 2] === 0xc0);
            return n;
        });
        await until(async () => await purple() > 50, "lanes are drawn", () => drawn(p));
        await p.click("[data-test=alloc]");
        await settled(p);
        same(await purple(), 0, "switched off");
        await p.waitForFunction(() => location.hash.includes("alloc=0"));
        same(p.faults, []);
    },
};
