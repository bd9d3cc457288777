// calls.test.mjs - calls of tracked methods and notifies in vain: as tables, as marks in the rows, in the details.
import { holds, open, pointOf, report, same, setState, settled, shot, threadOf } from "./lib.mjs";

export const trace = "called";
export const sources = ["server", "html"];

const start = async (w, hash = "group=flat&panel=500") => {
    const p = await open(`${w.url}#${hash}`, { viewport: { width: 1600, height: 900 }, ...w.options });
    await settled(p);
    return p;
};

const marks = (p, of = {}) => p.evaluate((s) => window.orca.state.source.value.marks(s), of);
const kinds = (list) => list.map((m) => [m.call ?? m.what, ...m.flags].join(" "));

export const tests = {
    async the_tables_have_the_numbers_of_the_report(w) {
        const p = await start(w, "tab=calls&panel=600"), r = report(w.trace(trace), "--calls");
        same(r.calls.map((c) => [c.method, c.called_count, c.failed_count]).sort(), [["hold", 4, 0], ["tick", 4, 0], ["tryIt", 4, 2]]);
        await p.waitForFunction(() => document.querySelector("[data-test=calls-methods]")?.textContent.includes("Called."));
        const text = await p.locator("[data-view=calls]").innerText();
        for (const c of r.calls)
            holds(text.includes(`Called.${c.method}`), `${c.method} is missing in ${text}`);
        holds(text.includes("Called.work (Called.java:"), `no caller in ${text}`);
        await shot(p, `calls-${w.kind}`);
        same(p.faults, []);
    },

    async marks_are_what_the_program_did(w) {
        const p = await start(w), worker = await threadOf(p, "worker"), all = await marks(p, { threads: [worker] });
        const m = all.marks.slice(0, 20); // behind them the JDK's own notifyAll, when the thread ends
        const one = ["Called.hold", "Called.tryIt", "Called.tick moment", "notify", "notify-all"];
        const failed = one.map((k) => (k === "Called.tryIt" ? "Called.tryIt failed" : k));
        same(kinds(m), [...one, ...failed, ...one, ...failed]);
        same([all.n, all.marks.filter((x) => x.thread !== worker)], [all.marks.length, []]);
        const second = m[5];
        same(kinds((await marks(p, { from: second.from + 1, to: second.to, threads: [worker] })).marks), ["Called.hold"], "in the middle of one");
        same(kinds((await marks(p)).marks).filter((k) => k !== "notify-all" && k !== "notify").length, 12, "of other threads");
        same(p.faults, []);
    },

    async a_mark_is_drawn_and_says_what_it_is(w) {
        const p = await start(w), worker = await threadOf(p, "worker"), all = (await marks(p)).marks;
        for (const [k, headline, stack] of [[0, /^worker called Called\.hold, for [\d.]+ ms\.$/, "hold"], [6, /^worker called Called\.tryIt.*; the call failed\.$/, "tryIt"],
            [3, /^worker called notify on Object #\d+; no thread was waiting\.$/, "notify"]]) {
            const m = all[k];
            await setState(p, `window.orca.state.show({ from: ${m.from - 2e6}, to: ${m.to + 2e6} })`);
            await settled(p);
            const at = await pointOf(p, `t${worker}`, (m.from + m.to) / 2);
            await p.mouse.move(at.x, at.y - 8);
            await p.waitForFunction(() => document.querySelector("[data-test=tooltip]")?.textContent.includes("called "));
            await p.mouse.click(at.x, at.y - 8);
            await p.waitForFunction((h) => new RegExp(h).test(document.querySelector("[data-test=details-headline]")?.textContent ?? ""), headline.source);
            await settled(p);
            holds((await p.locator("[data-test=details-stack]").innerText()).includes(stack), `${stack} in its stack`);
            await shot(p, `calls-mark-${k}-${w.kind}`);
        }
        await p.waitForFunction(() => location.hash.includes("did="));
        same(p.faults, []);
    },

    async waits_inside_a_call_are_told(w) {
        const p = await start(w), worker = await threadOf(p, "worker"), all = (await marks(p)).marks;
        const d = await p.evaluate(([t, i]) => window.orca.state.source.value.mark(t, i), [worker, all[0].index]);
        holds(d.in_waits_ns > 0 && d.in_waits_ns <= d.to - d.from, `${d.in_waits_ns} of ${d.to - d.from}`);
        same([d.call, d.stack[0].method], [{ class: "Called", method: "hold" }, "hold"]);
        const r = report(w.trace(trace), "--calls").calls.find((c) => c.method === "hold");
        let sum = 0;
        for (const m of all.filter((x) => x.call === "Called.hold"))
            sum += (await p.evaluate(([t, i]) => window.orca.state.source.value.mark(t, i), [worker, m.index])).in_waits_ns;
        same(sum, r.in_waits_ns, "over all");
        same(p.faults, []);
    },

    async a_start_says_who_and_where(w) {
        const p = await start(w), worker = await threadOf(p, "worker");
        const hash = await p.evaluate((t) => window.orca.state.meta.value.threads.hash[t], worker);
        const run = await p.evaluate((t) => { const { state } = window.orca; return state.source.value.at(`t${t}`, state.meta.value.threads.from[t]); }, worker);
        same([run.started_by.thread, run.started_by.stack.at(-1).method], [await threadOf(p, "main"), "main"]);
        holds(run.started_by.time <= run.start, "before it ran");
        await setState(p, `window.orca.state.choose({ at: { row: "t${worker}", time: ${run.start} } })`);
        await p.waitForSelector("[data-test=details-start-stack]");
        holds((await p.locator("[data-test=details-headline]").innerText()).includes("it was started by main"), "in its headline");
        same(await p.locator("[data-test=details-identity]").innerText(), `Thread.getId() ${await p.evaluate((t) => window.orca.state.meta.value.threads.java_tid[t], worker)}, the thread's hash ${hash.toString(16).toUpperCase().padStart(8, "0")}`);
        same(p.faults, []);
    },
};
