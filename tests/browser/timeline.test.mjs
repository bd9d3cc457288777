// timeline.test.mjs - rows, states, arrows, path, minimap, filter, pins, keys, address: on what Showcase does.
import { colours, drawn, holds, near, open, panned, pointOf, ready, report, same, setState, threadOf, until } from "./lib.mjs";

export const trace = "showcase";
export const sources = ["server", "html"];

const labels = (p) => p.$$eval("[data-row] .label", (all) => all.map((e) => e.textContent));
const start = (w, hash = "") => open(w.url + hash, { viewport: { width: 1280, height: 1100 }, ...w.options });

/** A wait of a thread in a state, the n-th. */
async function waitOf(p, name, state, n = 0) {
    const thread = await threadOf(p, name);
    return p.evaluate(async ([t, s, k]) => {
        const o = window.orca.state;
        const count = o.meta.value.threads.waits[t];
        for (let i = 0; i < count; i++) {
            const w = await o.source.value.wait(t, i);
            if (w.state === s && k-- === 0)
                return w;
        }
        return null;
    }, [thread, state, n]);
}

/** The longest wait of a thread in a state that no collector's veil lies over: a busy machine cuts short ones into pieces.  `names`:
 * of threads of which it may be any ("a|b"), as who waits is chance. */
async function longestWait(p, names, state) {
    const threads = [];
    for (const name of names.split("|"))
        threads.push(await threadOf(p, name));
    const found = await p.evaluate(async ([list, s]) => {
        const o = window.orca.state;
        const all = (await Promise.all(list.map((t) => Promise.all(Array.from({ length: o.meta.value.threads.waits[t] }, (_, i) => o.source.value.wait(t, i)))))).flat();
        return all.filter((w) => w.state === s && !o.meta.value.gc.some(([from, to]) => from < w.end && to > w.start)).sort((a, b) => b.end - b.start - (a.end - a.start))[0] ?? null;
    }, [threads, state]);
    holds(found, `${names}: no wait that is ${state}`);
    return found;
}

/** When an Object.wait was over but for its monitor. */
const notified = (w) => (w.ended_by && w.ended_by.how.startsWith("notify") ? w.ended_by.time : w.end);

/** Make a wait fill the middle half of the timeline. */
async function zoomTo(p, w) {
    await setState(p, `(() => { const o = window.orca.state; o.grouping.value = "flat"; o.focusRow.value = "t${w.thread}"; o.show({ from: ${w.start - (w.end - w.start) / 2}, to: ${w.end + (w.end - w.start) / 2} }); })()`);
}

// As draw/palette.ts has them, dark: colour and texture.
const LOOKS = {
    blocked: [0xe8602c, 0xa83c10], waiting: [0x8a7f3c, 0xb8ac62], parked: [0x27374f, 0x3c5a86], locked: [0x5aa2ff, 0x2b6cd0], joining: [0xa8668c, 0x80406a],
    reacquiring: [0xe69f00, 0xa06c00], sleeping: [0x4a5058, 0x6a727c], running: [0x1fa37a, 0x1fa37a], deadlocked: [0xff2222, 0x000000],
    unknown: [0x1d2127, 0x3a414b], io: [0x1b5c6b, 0x2f8ca0],
};
const LOOKS_OF_ALL = new Set(Object.values(LOOKS).flat());
const hex = ([r, g, b]) => (r << 16) | (g << 8) | b;

/** Every pixel of the bar is of the look; with a texture, over some columns both colours are there. */
async function looks(p, row, time, look, step) {
    const seen = new Set();
    for (let k = 0; k < 8; k++)
        for (const c of await colours(p, row, time + k * step))
            seen.add(hex(c));
    const wanted = new Set(LOOKS[look]);
    for (const c of seen)
        holds(wanted.has(c), `${row} at ${time}: a pixel of #${c.toString(16)} in a bar that is ${look}`);
    same([...wanted].filter((c) => !seen.has(c)).map((c) => c.toString(16)), [], `colours of ${look} that are missing`);
}

const pixel = (p) => p.evaluate(() => { const v = window.orca.state.view.value; return (v.to - v.from) / document.querySelector("[data-test=canvas]").clientWidth; });

export const tests = {
    async nothing_goes_wrong(w) {
        const p = await start(w);
        same(p.faults, []);
        same(await p.$$(".loading"), [], "what is said before the script runs");
        same(await p.title(), `${await p.evaluate(() => window.orca.state.meta.value.name)} – Orca`);
    },

    async groups_pools_and_flat(w) {
        const p = await start(w);
        const names = await labels(p);
        holds(names.includes("workers"), `no group "workers" in ${names}`);
        holds(names.indexOf("worker-1") > names.indexOf("workers"), "worker-1 is not in its group");
        await p.click('[data-row] >> text="workers"');
        await ready(p);
        holds(!(await labels(p)).includes("worker-1"), "a folded group shows its threads");
        await p.click("[data-test=by-pool]");
        await ready(p);
        holds((await labels(p)).includes("worker-#"), `no pool worker-# in ${await labels(p)}`);
        await p.click("[data-test=by-flat]");
        await ready(p);
        const flat = await labels(p);
        holds(flat.includes("worker-1") && !flat.includes("workers") && !flat.includes("worker-#"), `flat: ${flat}`);
        await p.keyboard.press("g");
        await ready(p);
        holds((await labels(p)).includes("workers"), "G does not group");
        same(p.faults, []);
    },

    async every_state_has_its_look(w) {
        const p = await start(w, "#arrows=0&path=0");
        for (const [name, state, look] of [["worker-2", "blocked"], ["taker-1", "waiting"], ["parker", "parked"], ["permit-1|permit-2", "parked", "locked"], ["joiner", "joining"], ["sleeper", "sleeping"]]) {
            const wait = await longestWait(p, name, state);
            await zoomTo(p, { ...wait, end: notified(wait) });
            // Away from the label on its left.
            await looks(p, `t${wait.thread}`, wait.start + (notified(wait) - wait.start) * 0.8, look ?? state, await pixel(p));
        }
        same(p.faults, []);
    },

    async what_is_not_known_has_its_look(w) {
        const p = await start(w, "#arrows=0&path=0");
        const thread = await threadOf(p, "Signal Dispatcher");
        const life = await p.evaluate(async (t) => {
            const { from, to, unknown_ns, running_ns } = window.orca.state.meta.value.threads;
            return { thread: t, start: from[t], end: to[t], unknown: unknown_ns[t], running: running_ns[t] };
        }, thread);
        same([life.unknown, life.running], [life.end - life.start, 0], "all of its life is not known");
        await zoomTo(p, life);
        const free = await p.evaluate(([a, b]) => { // of the label on its left and of collections
            const gc = window.orca.state.meta.value.gc;
            return Array.from({ length: 50 }, (_, k) => a + (b - a) * (90 - k) / 100).find((t) => !gc.some(([from, to]) => from - (b - a) / 50 < t && t < to + (b - a) / 50));
        }, [life.start, life.end]);
        await looks(p, `t${thread}`, free, "unknown", await pixel(p));
        const at = await p.evaluate(([t, time]) => window.orca.state.source.value.at(`t${t}`, time), [thread, free]);
        same(at.state, "unknown");
        same(p.faults, []);
    },

    async ends_of_threads_and_of_time_are_marked(w) {
        const p = await start(w, "#arrows=0&path=0");
        const wait = await longestWait(p, "sleeper", "waiting");
        same(wait.flags.includes("timed_out"), true, `flags of sleeper's wait: ${wait.flags}`);
        await zoomTo(p, wait);
        const found = await p.evaluate(([thread, time]) => {
            const v = window.orca.state.view.value, ns = (v.to - v.from) / document.querySelector("[data-test=canvas]").clientWidth;
            const to = window.orca.state.meta.value.threads.to[thread];
            const marks = window.orca.marksDrawn();
            const at = (kind, t) => marks.filter((m) => m.kind === kind && Math.abs(m.x - (t - v.from) / ns) < 0.01).length;
            return { up: at("time-up", time), end: at("end", to), ends: marks.filter((m) => m.kind === "end").length };
        }, [wait.thread, wait.end]);
        same([found.up, found.end], [1, 1], "the marks of sleeper's wait and of its end");
        await p.click("[data-test=tab-legend]");
        await ready(p);
        for (const kind of ["end", "time-up"])
            same(await p.$$(`[data-view=legend] [data-mark=${kind}]`).then((l) => l.length), 1, `${kind} in the legend`);
        same(p.faults, []);
    },

    async taking_the_monitor_again_has_its_look(w) {
        const p = await start(w, "#arrows=0&path=0");
        const thread = await threadOf(p, "taker-1");
        const wait = await p.evaluate(async (t) => {
            const o = window.orca.state;
            const all = await Promise.all(Array.from({ length: o.meta.value.threads.waits[t] }, (_, i) => o.source.value.wait(t, i)));
            const again = (x) => (x.ended_by?.how.startsWith("notify") ? x.end - x.ended_by.time : 0);
            return all.sort((a, b) => again(b) - again(a))[0];
        }, thread);
        const from = notified(wait);
        holds(from < wait.end, "taker-1 never takes the monitor again");
        await zoomTo(p, { thread, start: from, end: wait.end });
        await looks(p, `t${thread}`, from + (wait.end - from) * 0.8, "reacquiring", await pixel(p));
        const at = await pointOf(p, `t${thread}`, from + (wait.end - from) * 0.8);
        await p.mouse.move(at.x, at.y);
        await p.mouse.move(at.x + 1, at.y);
        const text = await p.textContent("[data-test=tooltip]");
        holds(/then reacquiring the monitor for/.test(text), text);
    },

    async running_and_ended(w) {
        const p = await start(w, "#arrows=0&path=0");
        const wait = await waitOf(p, "sleeper", "sleeping", 3);
        await zoomTo(p, wait);
        const t = wait.thread;
        const life = await p.evaluate((k) => { const x = window.orca.state.meta.value.threads; return [x.from[k], x.to[k]]; }, t);
        await setState(p, `window.orca.state.show({ from: ${life[1] - 1e6}, to: ${life[1] + 1e6} })`);
        const after = new Set((await colours(p, `t${t}`, life[1] + 5e5)).map(hex));
        holds(![...after].some((c) => Object.values(LOOKS).flat().includes(c) && c !== 0), `a thread that has ended shows ${[...after].map((c) => c.toString(16))}`);
        const main = await threadOf(p, "main");
        const runs = await p.evaluate(async (k) => {
            const o = window.orca.state;
            let best = null;
            for (let i = 1; i < o.meta.value.threads.waits[k]; i++) {
                const a = await o.source.value.wait(k, i - 1);
                const b = await o.source.value.wait(k, i);
                if (o.meta.value.gc.some(([from, to]) => from < b.start && to > a.end))
                    continue;
                if (!best || b.start - a.end > best[1] - best[0])
                    best = [a.end, b.start];
            }
            return best;
        }, main);
        // On a busy machine it is ready for a part of that.
        const at = await p.evaluate(async ([k, from, to]) => {
            for (let i = 1; i < 200; i++) {
                const time = from + (to - from) * i / 200;
                if (!(await window.orca.state.source.value.at(`t${k}`, time)).io)
                    return time;
            }
            return null;
        }, [main, ...runs]);
        await setState(p, `window.orca.state.show({ from: ${at} - 1e4, to: ${at} + 1e4 })`);
        await looks(p, `t${main}`, at, "running", await pixel(p));
    },

    async deadlocked_is_unmistakable(w) {
        const p = await start(w, "#arrows=0&path=0");
        await setState(p, "window.orca.state.grouping.value = 'flat'");
        for (const name of ["dead-1", "dead-2"]) {
            const t = await threadOf(p, name);
            const to = await p.evaluate(() => window.orca.state.meta.value.to);
            await setState(p, `window.orca.state.focusRow.value = "t${t}"; window.orca.state.show({ from: ${to - 100e6}, to: ${to} })`);
            await looks(p, `t${t}`, to - 60e6, "deadlocked", await pixel(p));
            same(await p.$eval(`[data-row=t${t}] .dead`, (e) => e.title), "deadlocked");
        }
    },

    async zoomed_out_bars_show_shares(w) {
        const p = await start(w, "#arrows=0&path=0");
        await setState(p, "window.orca.state.grouping.value = 'flat'; window.orca.state.showAll()");
        const t = await threadOf(p, "worker-1");
        const [from, to] = await p.evaluate((k) => { const x = window.orca.state.meta.value.threads; return [x.from[k], x.to[k]]; }, t);
        const blocks = await p.evaluate(async (k) => {
            const o = window.orca.state;
            const all = await Promise.all(Array.from({ length: o.meta.value.threads.waits[k] }, (_, i) => o.source.value.wait(k, i)));
            return all.filter((x) => x.state === "blocked").map((x) => [x.start, x.end]);
        }, t);
        const row = report(w.trace(trace), "--threads", "--top", "0").threads.find((x) => x.name === "worker-1");
        same(blocks.reduce((n, [a, b]) => n + b - a, 0), row.blocked_ns, "time of its blocks");
        const step = await pixel(p);
        const view = await p.evaluate(() => window.orca.state.view.value.from);
        let red = 0;
        let wanted = 0;
        let columns = 0;
        for (let x = Math.ceil((from - view) / step) + 1; view + (x + 1) * step < to; x++) {
            const a = view + x * step;
            const seen = (await colours(p, `t${t}`, a + step / 4)).map(hex);
            // A long wait has its label on it.
            if (!seen.every((c) => LOOKS_OF_ALL.has(c)))
                continue;
            columns++;
            red += seen.filter((c) => LOOKS.blocked.includes(c)).length / seen.length;
            wanted += blocks.reduce((n, [b, e]) => n + Math.max(0, Math.min(e, a + step) - Math.max(b, a)), 0) / step;
        }
        holds(columns > 20, `${columns} columns without a label`);
        near(red, wanted, 0.1, "columns of red");
    },

    async arrows_of_every_kind(w) {
        const p = await start(w);
        const sums = report(w.trace(trace), "--interactions").interactions;
        await setState(p, "window.orca.state.grouping.value = 'flat'; window.orca.state.showAll()");
        await p.click("[data-test=tab-legend]");
        for (const i of sums) {
            const shown = Number(await p.$eval(`[data-arrow="${i.kind}"] [data-count]`, (e) => e.dataset.count));
            same(shown, i.count, `${i.kind} in the legend`);
        }
        // how many of them are certain depends on who ran then
        const given = ["handoff-lock", "last-owner-seen"].filter((kind) => sums.find((i) => i.kind === kind)?.count);
        holds(given.length > 0, "nobody gave a lock to anybody");
        const kinds = ["starts-thread", ...given, "interrupt", "notify", "notify-all", "dead-and-notify-joined", "unpark", "semaphore", "submit"];
        for (const kind of kinds) {
            const n = sums.find((i) => i.kind === kind)?.count ?? 0;
            holds(n > 0, `the program has no ${kind}`);
            // Only this kind: as many arrows as there are between rows, all rows in sight at once.
            await setState(p, `window.orca.state.arrowKinds.value = new Set(["${kind}"])`);
            const drawn = await p.evaluate(() => window.orca.arrowsDrawn().reduce((sum, a) => sum + a.count, 0));
            holds(drawn > 0 && drawn <= n, `${kind}: ${drawn} of ${n} are drawn`);
        }
        await setState(p, "window.orca.state.arrowKinds.value = new Set(['interrupt'])");
        const pair = await p.evaluate(() => window.orca.arrowsDrawn().map((a) => [window.orca.state.meta.value.threads.name[a.from], window.orca.state.meta.value.threads.name[a.to]]));
        // who ends a pool interrupts those of its threads that are idle then
        const others = pair.filter(([from, to]) => from !== "main" || !to.startsWith("pool-"));
        same(others, [["meddler", "victim"]], "who interrupts whom");
        await p.click("[data-test=arrow-interrupt]");
        await ready(p);
        same(await p.evaluate(() => window.orca.arrowsDrawn().length), 0, "arrows of a kind that is switched off");
        await p.click("[data-test=arrow-interrupt]");
        await p.click("[data-test=arrows]");
        await ready(p);
        same(await p.evaluate(() => window.orca.arrowsDrawn().length), 0, "arrows although they are off");
        same(p.faults, []);
    },

    async notify_all_wakes_both(w) {
        const p = await start(w);
        await setState(p, "window.orca.state.grouping.value = 'flat'; window.orca.state.arrowKinds.value = new Set(['notify-all']); window.orca.state.showAll()");
        const pairs = await p.evaluate(() => window.orca.arrowsDrawn().filter((a) => window.orca.state.meta.value.threads.flags[a.to] & 8).map((a) => [window.orca.state.meta.value.threads.name[a.from], window.orca.state.meta.value.threads.name[a.to]]).sort());
        same(pairs, [["feeder", "taker-1"], ["feeder", "taker-2"]]);
    },

    async critical_path_on_and_off(w) {
        const p = await start(w);
        /** So many pixels are others than when this was asked last. */
        const changed = () => p.evaluate(() => {
            const c = document.querySelector("canvas.base");
            const now = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
            const before = window.before ?? now;
            window.before = now;
            return now.reduce((n, v, k) => n + (v === before[k] ? 0 : 1), 0);
        });
        /** Until nothing moves. */
        const still = async () => {
            let same = 0;
            await until(async () => (same = await changed() === 0 ? same + 1 : 0) >= 3, "nothing moves", () => drawn(p));
        };
        await setState(p, "window.orca.state.arrowsOn.value = false; window.orca.state.grouping.value = 'flat'; window.orca.state.showAll()");
        await ready(p);
        await still();
        await p.keyboard.press("c");
        await ready(p);
        const path = await changed();
        holds(path > 300, `the path is ${path} pixels`);
        same(await p.getAttribute("[data-test=path]", "aria-pressed"), "false");
        await p.keyboard.press("c");
        await ready(p);
        same(await changed(), path, "pixels of the path when it is back");
    },

    async collector_pauses_are_a_lane(w) {
        const p = await start(w);
        const n = await p.$$eval(".axis rect.gc", (all) => all.length);
        const gc = report(w.trace(trace), "--findings").recording.gc_count;
        holds(gc >= 2, "the program collects twice");
        same(n, gc, "pauses in the lane");
        const said = await p.$$eval(".axis rect.gc title", (all) => all.map((t) => t.textContent));
        holds(said.filter((t) => t.includes("System.gc()") && /heap .* before, .* after/.test(t)).length >= 2, said.join("; "));
    },

    async minimap_moves_the_window(w) {
        const p = await start(w);
        const box = await p.locator("[data-view=minimap]").boundingBox();
        await p.mouse.move(box.x + box.width * 0.25, box.y + 20);
        await p.mouse.down();
        await p.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 4 });
        await p.mouse.up();
        await ready(p);
        const shown = async () => p.evaluate(() => { const s = window.orca.state; const m = s.meta.value; const v = s.view.value; return [(v.from - m.from) / (m.to - m.from), (v.to - m.from) / (m.to - m.from)]; });
        let v = await shown();
        holds(Math.abs(v[0] - 0.25) < 0.01 && Math.abs(v[1] - 0.5) < 0.01, `a drag over a quarter of the minimap shows ${v}`);
        await p.mouse.move(box.x + box.width * 0.4, box.y + 20);
        await p.mouse.down();
        await p.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
        await p.mouse.up();
        await ready(p);
        v = await shown();
        holds(Math.abs(v[0] - 0.45) < 0.01 && Math.abs(v[1] - 0.7) < 0.01, `moving the window shows ${v}`);
        const ink = await p.$eval("[data-view=minimap] canvas", (c) => {
            const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
            const seen = { running: 0, held: 0 };
            for (let k = 0; k < d.length; k += 4) {
                if (d[k] === 0x1f && d[k + 1] === 0xa3)
                    seen.running++;
                if (d[k] === 0xe8 && d[k + 1] === 0x60)
                    seen.held++;
            }
            return seen;
        });
        holds(ink.running > 100 && ink.held > 100, `the minimap shows ${JSON.stringify(ink)}`);
    },

    async a_drag_marks_a_range(w) {
        const p = await start(w);
        const box = await p.locator("[data-test=canvas]").boundingBox();
        await p.mouse.move(box.x + 200, box.y + 30);
        await p.mouse.down();
        await p.mouse.move(box.x + 400, box.y + 50, { steps: 5 });
        await p.mouse.up();
        await ready(p);
        const [m, v] = await p.evaluate(() => [window.orca.state.marked.value, window.orca.state.view.value]);
        near(m.to - m.from, ((v.to - v.from) * 200) / box.width, 0.02, "length of the range");
        await p.keyboard.press("f");
        await ready(p);
        const fit = await p.evaluate(() => window.orca.state.view.value);
        near(fit.to - fit.from, (m.to - m.from) * 1.04, 0.01, "F shows the range");
        await p.keyboard.press("Escape");
        same(await p.evaluate(() => window.orca.state.marked.value), null, "Esc unmarks");
        await p.keyboard.press("0");
        await ready(p);
        const all = await p.evaluate(() => [window.orca.state.view.value, window.orca.state.meta.value.from, window.orca.state.meta.value.to]);
        holds(all[0].from <= all[1] && all[0].to >= all[2], "0 shows all");
    },

    async keys_move_the_view(w) {
        const p = await start(w);
        const shown = () => p.evaluate(() => ({ ...window.orca.state.view.value }));
        const a = await shown();
        await p.keyboard.press("w");
        const b = await shown();
        near(b.to - b.from, (a.to - a.from) * 0.6, 0.01, "W");
        await p.keyboard.press("d");
        const c = await shown();
        near(c.from - b.from, (b.to - b.from) * 0.2, 0.01, "D");
        await p.keyboard.press("a");
        near((await shown()).from - b.from + 1, 1, 0.01, "A goes back");
        await p.keyboard.press("s");
        near((await shown()).to - (await shown()).from, a.to - a.from, 0.02, "S");
        const box = await p.locator("[data-test=canvas]").boundingBox();
        await p.mouse.move(box.x + 300, box.y + 50);
        const at = a.from + (300 / box.width) * (a.to - a.from);
        await p.keyboard.press("w");
        await p.keyboard.press("w");
        const z = await shown();
        near(z.from + (300 / box.width) * (z.to - z.from), at, 0.02, "what is at the mouse stays there");
    },

    async rows_by_keyboard(w) {
        const p = await start(w);
        await p.focus("[data-test=rows]");
        await p.keyboard.press("ArrowDown");
        await p.keyboard.press("ArrowDown");
        const first = await p.evaluate(() => window.orca.state.focusRow.value);
        holds(first !== null, "no row has the focus");
        await p.keyboard.press("p");
        await ready(p);
        holds(await p.$(`[data-row="pin:${first}"]`), "P does not pin");
        same(await p.evaluate(() => window.orca.state.pinned.value), [first]);
        await p.keyboard.press("p");
        await ready(p);
        holds(!(await p.$(`[data-row="pin:${first}"]`)), "P again does not unpin");
    },

    async pinned_rows_stay(w) {
        const p = await start(w);
        const t = await threadOf(p, "dead-1");
        await p.setViewportSize({ width: 1280, height: 520 });
        await setState(p, `window.orca.state.grouping.value = "flat"; window.orca.state.pinned.value = ["t${t}"]`);
        await p.evaluate(() => document.querySelector("[data-test=rows]").scrollTo(0, 200));
        await ready(p);
        const y = (await p.locator(`[data-row="pin:t${t}"]`).boundingBox()).y;
        const top = (await p.locator("[data-test=rows]").boundingBox()).y;
        same(Math.round(y - top), 0, "distance of a pinned row from the top");
    },

    async filter_dialog(w) {
        const p = await start(w);
        await p.keyboard.press("t");
        await p.waitForSelector("dialog[open]");
        const dialog = p.locator("dialog[open]");
        await dialog.locator("input[type=search], input[type=text]").first().fill("worker-");
        await p.waitForFunction(() => {
            const names = [...document.querySelectorAll("dialog[open] [role=row]")].slice(1).map((r) => r.textContent);
            return names.length === 4 && names.every((t) => t.includes("worker-"));
        });
        await dialog.locator("[role=row][aria-rowindex='2'], [role=row]").nth(1).click();
        await p.keyboard.press("Control+a");
        await dialog.locator("[data-test=filter-apply]").click();
        await ready(p);
        const names = await p.evaluate(() => [...(window.orca.state.filter.value ?? [])].map((t) => window.orca.state.meta.value.threads.name[t]).sort());
        same(names, ["worker-1", "worker-2", "worker-3", "worker-4"]);
        await setState(p, "window.orca.state.grouping.value = 'flat'");
        same((await labels(p)).sort(), names);
        await setState(p, "window.orca.state.filter.value = null");
        holds((await labels(p)).length > 4, "all threads again");
        same(p.faults, []);
    },

    async the_address_holds_the_view(w) {
        const p = await start(w);
        const t = await threadOf(p, "parker");
        await setState(p, `(() => { const o = window.orca.state; o.grouping.value = "pool"; o.pinned.value = ["t${t}"]; o.pathOn.value = false; o.tab.value = "legend";
            o.arrowKinds.value = new Set(["notify"]); o.filter.value = new Set([${t}, 1, 2, 3]); o.show({ from: 1e8, to: 2e8 }); o.marked.value = { from: 1.2e8, to: 1.5e8 }; })()`);
        await p.waitForFunction(() => location.hash.includes("legend")); // all of it at once
        const hash = await p.evaluate(() => location.hash);
        const q = await start(w, hash);
        const look = (x) => x.evaluate(() => { const o = window.orca.state; return [o.grouping.value, o.pinned.value, o.pathOn.value, o.tab.value, [...o.arrowKinds.value], [...o.filter.value].sort(), o.view.value, o.marked.value]; });
        same(await look(q), await look(p), "what the address brings back");
        await p.keyboard.press("0");
        await p.waitForFunction((before) => location.hash !== before, hash);
        await p.goBack();
        await p.waitForFunction(() => { // the range of before
            const v = window.orca.state.view.value;
            return Math.abs(v.to - v.from - 1e8) < 1e6;
        });
    },

    async hover_tells(w) {
        const p = await start(w);
        const wait = await longestWait(p, "worker-1|worker-2|worker-3|worker-4", "blocked");
        await zoomTo(p, wait);
        await setState(p, "window.orca.state.arrowsOn.value = false");
        const at = await pointOf(p, `t${wait.thread}`, (wait.start + wait.end) / 2);
        await p.mouse.move(at.x, at.y);
        await p.waitForSelector("[data-test=tooltip]");
        await p.mouse.move(at.x + 2, at.y);
        await drawn(p);
        const text = await p.textContent("[data-test=tooltip]");
        holds(/^blocked for/.test(text), text);
        holds(text.includes("Showcase$Hot"), text);
        holds(/Showcase\.hot/.test(text), text);
        holds(/owner worker-|owner unknown/.test(text), text);
    },

    async resource_view(w) {
        const p = await start(w);
        await p.keyboard.press("r");
        await ready(p);
        await p.waitForFunction(() => document.querySelectorAll("[data-row^=l]").length > 3);
        await ready(p);
        const names = await labels(p);
        for (const c of ["Showcase$Hot", "Showcase$Box", "Showcase$Blocker"])
            holds(names.some((n) => n.startsWith(`${c}#`)), `no row of ${c} in ${names}`);
        const wait = await longestWait(p, "worker-1|worker-2|worker-3|worker-4", "blocked");
        const hot = `l${wait.lock.id}`;
        await setState(p, `window.orca.state.show({ from: ${wait.start}, to: ${wait.end} })`);
        const at = await pointOf(p, hot, (wait.start + wait.end) / 2);
        await p.mouse.move(at.x, at.y);
        await p.mouse.move(at.x + 1, at.y);
        const text = await p.textContent("[data-test=tooltip]");
        holds(/held by worker-\d|owner unknown/.test(text), text);
        const waiter = await p.evaluate((t) => window.orca.state.meta.value.threads.name[t], wait.thread);
        holds(new RegExp(`\\d queue: .*${waiter}`).test(text), text);
        const seen = new Set((await colours(p, hot, (wait.start + wait.end) / 2)).map(hex));
        holds([...seen].some((c) => LOOKS.blocked.includes(c)), "no queue is drawn");
        await p.click(`[data-row=${hot}] .fold`);
        await ready(p);
        // worker-1 may have had it whenever it wanted.
        await p.waitForFunction((id) => document.querySelectorAll(`[data-row^="${id}:t"]`).length >= 3, hot);
        await p.mouse.move(at.x - 2, at.y);
        await p.mouse.move(at.x - 1, at.y);
        await p.waitForFunction(([id, t]) => document.querySelector(`[data-row="${id}:t${t}"]`)?.classList.contains("lit"), [hot, wait.thread]);
        same(p.faults, []);
    },

    async names_are_text(w) {
        const p = await start(w);
        await setState(p, "window.orca.state.grouping.value = 'flat'");
        const name = "<img src=x onerror=\"window.hacked=1\">&amp;'\"";
        const t = await threadOf(p, name);
        await setState(p, `window.orca.state.focusRow.value = "t${t}"`);
        same(await p.textContent(`[data-row=t${t}] .label`), name);
        for (const tab of ["findings", "details", "statistics", "flame", "locks", "legend"]) {
            await p.click(`[data-test=tab-${tab}]`);
            await ready(p);
        }
        same(await p.evaluate(() => [window.hacked ?? null, document.querySelectorAll("img").length]), [null, 0]);
        same(p.faults, []);
    },

    async search_goes_there(w) {
        const p = await start(w);
        await p.keyboard.press("/");
        await p.fill("[data-test=search-text]", "parker");
        await p.waitForSelector("#search-hits li[data-kind=thread]");
        await p.keyboard.press("Enter");
        await ready(p);
        same(await p.evaluate(() => window.orca.state.focusRow.value), `t${await threadOf(p, "parker")}`);
        await p.keyboard.press("/");
        await p.fill("[data-test=search-text]", "Showcase$Hot");
        await p.waitForSelector("#search-hits li[data-kind=class]");
        await p.click("#search-hits li[data-kind=class]");
        await ready(p);
        same(await p.evaluate(() => [window.orca.state.mode.value, window.orca.state.lockClass.value]), ["locks", "Showcase$Hot"]);
        await p.keyboard.press("/");
        await p.fill("[data-test=search-text]", "Showcase.hot");
        await p.waitForSelector("#search-hits li[data-kind=method]");
        await p.click("#search-hits li[data-kind=method]");
        await ready(p);
        same(await p.evaluate(() => window.orca.state.tab.value), "details");
    },

    /** What was moved and what was painted beside it is what the whole would be, painted anew. */
    async panning_moves_what_is_painted(w) {
        await panned(await start(w, "#group=flat"));
    },

    async themes(w) {
        const p = await start(w);
        const back = () => p.evaluate(() => getComputedStyle(document.body).backgroundColor);
        same(await back(), "rgb(20, 23, 28)");
        await p.click("[data-test=theme]");
        same(await back(), "rgb(255, 255, 255)");
        await p.waitForFunction(() => location.hash.includes("theme=light"));
        await p.reload();
        await ready(p);
        same(await back(), "rgb(255, 255, 255)", "after a reload");
    },

    async help_lists_every_key(w) {
        const p = await start(w);
        await p.keyboard.press("?");
        await p.waitForSelector("dialog.help[open]");
        const keys = await p.$$eval("dialog.help[open] kbd", (all) => all.map((k) => k.textContent));
        for (const k of ["W", "S", "A", "D", "F", "0", "/", "[", "]", "C", "G", "P", "?"])
            holds(keys.includes(k), `no ${k} in the help`);
        await p.keyboard.press("Escape");
        await ready(p);
        holds(!(await p.$("dialog.help[open]")), "Esc does not close the help");
    },
};
