// panels.test.mjs - findings, statistics, details, flame graph, locks, legend: their content is the report's.
import { holds, open, ready, report, same, setState, threadOf } from "./lib.mjs";

export const trace = "showcase";
export const sources = ["server", "html"];

const start = (w, hash = "") => open(w.url + hash, { viewport: { width: 1920, height: 1200 }, ...w.options });

/** A table's cells by row: {column: {text, value}}, all rows that are in the page. */
const table = (p, name) => p.evaluate((n) => {
    const box = document.querySelector(`[data-test="${n}"]`);
    return box && [...box.querySelectorAll("[role=row]")].map((r) => Object.fromEntries(
        [...r.querySelectorAll("[role=gridcell]")].map((c, k) => [c.dataset.column ?? k, { text: c.textContent, value: Number(c.dataset.ns ?? c.dataset.count ?? NaN) }])))
        .filter((r) => Object.keys(r).length);
}, name);

/** Until something of this thread is chosen. */
const chooses = (p, thread) => p.waitForFunction((t) => {
    const at = window.orca.state.chosen.value ?? window.orca.state.chosenAt.value;
    return (at.thread ?? Number(at.row.slice(1))) === t;
}, thread);

/** Until the tables are of what is chosen. */
async function settled(p) {
    await p.waitForFunction(() => [...document.querySelectorAll("[data-test=scope-busy]")].every((e) => !e.textContent));
    await ready(p);
}

async function statistics(w, state = "") {
    const p = await start(w, "#tab=statistics&panel=700");
    if (state)
        await setState(p, state);
    await settled(p);
    return p;
}

function thread(r, name) {
    return r.threads.find((t) => t.name === name);
}

async function checkThreads(p, r, names) {
    const rows = await table(p, "statistics-threads");
    for (const name of names) {
        const row = rows.find((x) => x.name?.text === name);
        holds(row, `no row of ${name}`);
        const wanted = thread(r, name);
        for (const key of ["held_up_count", "held_up_ns", "blocked_count", "blocked_ns", "waited_count", "waited_ns", "parked_count", "parked_ns", "joined_count", "joined_ns", "slept_count", "slept_ns", "running_ns"])
            same(row[key]?.value, wanted[key], `${key} of ${name}`);
    }
}

export const tests = {
    async findings_are_the_reports(w) {
        const p = await start(w, "#panel=600");
        const r = report(w.trace(trace), "--findings", "--deadlocks");
        const text = await p.textContent("[data-view=findings]");
        for (const f of r.findings)
            for (const words of [f.card.title, f.card.share, ...f.card.lines.flatMap((l) => [l.label ?? "", l.text])])
                holds(text.includes(words), `the findings lack "${words}"`);
        holds(text.includes("dead-1") && text.includes("dead-2"), "the deadlock's members");
        same(p.faults, []);
    },

    async the_address_asks_for_a_finding(w) { // orca view --finding N
        const r = report(w.trace(trace), "--findings");
        const k = r.findings.findIndex((f) => f.to > f.from && f.to - f.from < (r.recording.to - r.recording.from) / 2);
        holds(k >= 0, "no finding is about a part");
        const p = await start(w, `#finding=${k + 1}`);
        await p.waitForFunction(() => window.orca.state.evidence.value);
        const m = await p.evaluate(() => window.orca.state.marked.value);
        same([m?.from, m?.to], [r.findings[k].from, r.findings[k].to]);
        await p.waitForFunction(() => !location.hash.includes("finding=") && location.hash.includes("m="));
        same(p.faults, []);
    },

    async a_finding_zooms_to_its_evidence(w) {
        const p = await start(w, "#panel=600");
        const r = report(w.trace(trace), "--findings");
        const k = r.findings.findIndex((f) => f.to > f.from && f.to - f.from < (r.recording.to - r.recording.from) / 2);
        holds(k >= 0, "no finding is about a part");
        await p.locator("[data-test=finding-show]").nth(k).click();
        await ready(p);
        const m = await p.evaluate(() => window.orca.state.marked.value);
        same([m?.from, m?.to], [r.findings[k].from, r.findings[k].to]);
        const v = await p.evaluate(() => window.orca.state.view.value);
        holds(v.from <= m.from && v.to >= m.to, "the evidence is in sight");
    },

    async threads_table_equals_the_report(w) {
        const p = await statistics(w);
        await checkThreads(p, report(w.trace(trace), "--threads"), ["worker-1", "worker-4", "taker-1", "parker", "joiner", "sleeper", "main"]);
        same(p.faults, []);
    },

    async classes_and_callers_equal_the_report(w) {
        const p = await statistics(w, "window.orca.state.tableClasses.value = new Set(['Showcase$Hot'])");
        const r = report(w.trace(trace), "--monitors");
        const rows = await table(p, "statistics-classes");
        const hot = r.locks.find((l) => l.class === "Showcase$Hot");
        const row = rows.find((x) => Object.values(x).some((c) => c.text === "Showcase$Hot"));
        for (const key of ["held_up_count", "held_up_ns", "held_up_min_ns", "held_up_avg_ns", "held_up_max_ns", "held_up_p50_ns", "held_up_p99_ns", "blocked_count", "blocked_ns", "objects", "reacquiring_ns", "waited_count"])
            if (key in row)
                same(row[key].value, hot[key], `${key} of Showcase$Hot`);
        same(row.blocked_ns.value, hot.blocked_ns, "blocked_ns is shown");
        const sites = report(w.trace(trace), "--sites", "--class", "Showcase$Hot").sites.filter((s) => s.held_up_count);
        const blocks = await table(p, "statistics-held_up");
        same(blocks.length, sites.length, "callers that Showcase$Hot holds up");
        same(blocks[0].held_up_ns.value, sites[0].held_up_ns, "time of the first caller");
        same(blocks[0].held_up_count.value, sites[0].held_up_count, "count of the first caller");
        holds(Object.values(blocks[0]).some((c) => /Showcase\.hot/.test(c.text)), "the caller's name");
        holds(Object.values(blocks[0]).some((c) => /Showcase\.java:\d+/.test(c.text)), "the caller's line");
    },

    async selected_threads_are_added_up(w) {
        const p = await statistics(w);
        const one = await threadOf(p, "worker-1");
        const two = await threadOf(p, "worker-2");
        await setState(p, `window.orca.state.tableThreads.value = new Set([${one}, ${two}])`);
        await settled(p);
        const rows = await table(p, "statistics-classes");
        const row = rows.find((x) => Object.values(x).some((c) => c.text === "Showcase$Hot"));
        const hot = report(w.trace(trace), "--monitors", "--thread", "worker-1,worker-2").locks.find((l) => l.class === "Showcase$Hot");
        same([row.blocked_count.value, row.blocked_ns.value], [hot.blocked_count, hot.blocked_ns]);
    },

    async tables_follow_the_range_and_the_filter(w) {
        const p = await statistics(w, "window.orca.state.marked.value = { from: 50000000, to: 120000000 }");
        await checkThreads(p, report(w.trace(trace), "--threads", "--from", "50ms", "--to", "120ms"), ["worker-1", "worker-3"]);
        const t = await threadOf(p, "worker-3");
        await setState(p, `window.orca.state.filter.value = new Set([${t}])`);
        await settled(p);
        const rows = await table(p, "statistics-threads");
        same(rows.length, 1, "rows with a filter of one thread");
        const text = await p.textContent("[data-test=scope-text]");
        holds(/1 threads? of/.test(text) && text.includes("0.05"), text);
        await p.click("[data-test=scope-whole]");
        await settled(p);
        same(await p.evaluate(() => [window.orca.state.marked.value, window.orca.state.filter.value]), [null, null]);
    },

    async columns_sort(w) {
        const p = await statistics(w);
        const box = p.locator("[data-test=statistics-threads]");
        await box.locator("[role=columnheader]", { hasText: "Sleeps" }).first().click();
        await ready(p);
        const rows = await table(p, "statistics-threads");
        const values = rows.map((r) => r.slept_count.value);
        same(values, [...values].sort((a, b) => b - a), "sleeps, most first");
        await box.locator("[role=columnheader]", { hasText: "Sleeps" }).first().click();
        await ready(p);
        const up = (await table(p, "statistics-threads")).map((r) => r.slept_count.value);
        same(up, [...up].sort((a, b) => a - b), "sleeps, least first");
    },

    async rows_are_selected_by_keyboard(w) {
        const p = await statistics(w);
        await p.locator("[data-test=statistics-threads] [role=grid], [data-test=statistics-threads][role=grid]").first().focus();
        await p.keyboard.press("ArrowDown");
        await p.keyboard.press("Shift+ArrowDown");
        await p.keyboard.press("Shift+ArrowDown");
        await settled(p);
        const n = await p.evaluate(() => window.orca.state.tableThreads.value.size);
        holds(n >= 2, `${n} rows are selected`);
        await p.keyboard.press("Control+a");
        await settled(p);
        same(await p.evaluate(() => window.orca.state.tableThreads.value.size), await p.evaluate(() => window.orca.state.meta.value.threads.name.length - 1), "Ctrl-A");
    },

    async details_of_a_wait(w) {
        const p = await start(w, "#panel=600");
        const t = await threadOf(p, "worker-3");
        const wait = await p.evaluate(async (k) => {
            const o = window.orca.state;
            for (let i = 0; i < o.meta.value.threads.waits[k]; i++) {
                const x = await o.source.value.wait(k, i);
                if (x.state === "blocked" && x.ended_by && x.cause)
                    return x;
            }
            return null;
        }, t);
        holds(wait, "no wait of worker-3 has a cause");
        await setState(p, `window.orca.state.choose({ wait: { thread: ${t}, index: ${wait.index} } })`);
        await p.waitForSelector("[data-view=details] [data-test=details-stack]");
        const text = await p.textContent("[data-view=details]");
        const waker = await p.evaluate((k) => window.orca.state.meta.value.threads.name[k], wait.ended_by.thread);
        for (const part of ["worker-3", "Showcase$Hot".split("$")[1], waker, "hot", "Showcase.java:"])
            holds(text.includes(part), `the details lack "${part}": ${text.slice(0, 500)}`);
        await p.keyboard.press("[");
        await chooses(p, wait.cause.thread);
        same(p.faults, []);
    },

    async effects_lead_on(w) {
        const p = await start(w, "#panel=600");
        const t = await threadOf(p, "feeder");
        const wait = await p.evaluate(async (k) => {
            const o = window.orca.state;
            for (let i = 0; i < o.meta.value.threads.waits[k]; i++) {
                const x = await o.source.value.wait(k, i);
                if (x.effects.some((e) => e.how === "notify"))
                    return x;
            }
            return null;
        }, t);
        holds(wait, "feeder never notifies after a wait");
        await setState(p, `window.orca.state.choose({ wait: { thread: ${t}, index: ${wait.index} } })`);
        await p.waitForSelector("[data-view=details] [data-test=details-stack]");
        await p.keyboard.press("]");
        await chooses(p, wait.effects[0].thread);
    },

    async deadlock_in_the_details(w) {
        const p = await start(w, "#panel=600");
        const t = await threadOf(p, "dead-1");
        const n = await p.evaluate((k) => window.orca.state.meta.value.threads.waits[k], t);
        await setState(p, `window.orca.state.choose({ wait: { thread: ${t}, index: ${n - 1} } })`);
        await p.waitForSelector("[data-view=details] [data-test=details-stack]");
        const text = await p.textContent("[data-view=details]");
        for (const part of ["dead-1", "dead-2", "LockB", "deadlock"])
            holds(text.includes(part), `the details lack "${part}": ${text.slice(0, 600)}`);
    },

    async flame_graph_adds_up(w) {
        const p = await start(w, "#tab=flame&panel=700");
        await settled(p);
        const sums = async (by, states) => p.evaluate(async ([b, s]) => {
            const f = await window.orca.state.source.value.flame({}, s, b);
            return { ns: f.ns.reduce((x, y) => x + y, 0), total: f.total_ns, notAsked: f.not_asked_ns ?? 0, why: f.why, names: f.frames.map((x) => `${x.class}.${x.method}`) };
        }, [by, states]);
        const r = report(w.trace(trace), "--threads");
        const blocked = r.threads.reduce((n, t) => n + t.blocked_ns, 0);
        for (const by of ["waiter", "owner", "waker"]) {
            const f = await sums(by, ["blocked"]);
            same([f.ns, f.total + f.notAsked], [f.total, blocked], `blocked time by ${by}`);
            same([by === "owner" || f.notAsked === 0, f.why.includes("owner not asked")], [true, false], `whose owner nobody asked, by ${by}`);
        }
        holds((await sums("waiter", ["blocked"])).names.includes("Showcase.hot"), "Showcase.hot is a frame");
        const ink = await p.$eval("[data-view=flame] canvas", (c) => {
            const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
            const seen = new Set();
            for (let k = 0; k < d.length; k += 4)
                seen.add((d[k] << 16) | (d[k + 1] << 8) | d[k + 2]);
            return seen.size;
        });
        holds(ink > 5, `the flame graph has ${ink} colours`);
        await p.click("[data-test=flame-as-table]");
        await ready(p);
        holds((await p.textContent("[data-view=flame]")).includes("hot"), "the flame graph as a table");
        same(p.faults, []);
    },

    async lock_table_equals_the_report(w) {
        const p = await start(w, "#tab=locks&panel=700");
        await settled(p);
        const rows = await table(p, "locks");
        const hot = rows.find((r) => Object.values(r).some((c) => c.text === "Showcase$Hot"));
        const wanted = report(w.trace(trace), "--monitors").locks.find((l) => l.class === "Showcase$Hot");
        same([hot.blocked_ns.value, hot.blocked_count.value], [wanted.blocked_ns, wanted.blocked_count]);
        same(hot.longest_queue.value, report(w.trace(trace), "--queues").queues.find((q) => q.class === "Showcase$Hot").longest_queue);
    },

    async shares_of_the_visible_range(w) {
        const p = await start(w, "#tab=legend&panel=700");
        await settled(p);
        await p.waitForFunction(() => document.querySelector("[data-state=blocked] [data-ns]"));
        const r = report(w.trace(trace), "--threads");
        const shown = (look) => p.$eval(`[data-state=${look}] [data-ns]`, (e) => Number(e.dataset.ns));
        const recorded = (key) => r.threads.reduce((n, t) => n + t[key], 0);
        for (const [look, key] of [["blocked", "blocked_ns"], ["waiting", "waited_ns"], ["joining", "joined_ns"], ["sleeping", "slept_ns"], ["running", "running_ns"], ["io", "io_ns"]])
            same(await shown(look), recorded(key), look);
        const heldUp = await shown("locked");
        holds(heldUp > 0 && heldUp < recorded("parked_ns"), `${heldUp} ns held up while parked`);
        same(heldUp + await shown("parked"), recorded("parked_ns"), "parked");
        await setState(p, "window.orca.state.marked.value = { from: 50000000, to: 120000000 }");
        const part = report(w.trace(trace), "--threads", "--from", "50ms", "--to", "120ms");
        const blocked = part.threads.reduce((n, t) => n + t.blocked_ns, 0);
        await p.waitForFunction((ns) => Math.abs(Number(document.querySelector("[data-state=blocked] [data-ns]")?.dataset.ns) - ns) <= 1e-9 * ns, blocked);
    },

    async tabs_by_keyboard(w) {
        const p = await start(w);
        for (const [key, view] of [["2", "details"], ["3", "statistics"], ["4", "flame"], ["5", "locks"], ["6", "legend"], ["1", "findings"]]) {
            await p.keyboard.press(key);
            await p.waitForSelector(`[data-view=${view}]`);
        }
        await p.focus("[data-test=tab-findings]");
        await p.keyboard.press("ArrowRight");
        await p.waitForSelector("[data-view=details]");
    },

    async controls_have_names(w) {
        const p = await start(w);
        for (const tab of ["findings", "details", "statistics", "flame", "locks", "legend"]) {
            await p.click(`[data-test=tab-${tab}]`);
            await settled(p);
            const nameless = await p.evaluate(() => [...document.querySelectorAll("button, input, select, [role=grid], dialog")]
                .filter((e) => e.offsetParent !== null && !(e.textContent?.trim() || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.title || (e.labels?.length ?? 0) > 0))
                .map((e) => e.outerHTML.slice(0, 120)));
            same(nameless, [], `controls without a name in ${tab}`);
        }
    },
};
