// tables.test.mjs - findings, details, statistics, flame graph, filter: their numbers against `orca report
// --json`, and all of them without a mouse.
import { holds, near, open, report, same, setState, settled, threadOf } from "./lib.mjs";

export const trace = "showcase";
export const sources = ["server", "html"];

const start = async (w, tab) => {
    const p = await open(w.url, { viewport: { width: 1280, height: 1100 }, permissions: ["clipboard-read", "clipboard-write"], ...w.options });
    await p.evaluate((t) => { window.orca.state.panelHeight.value = 560; window.orca.state.tab.value = t; }, tab);
    await settled(p);
    return p;
};

/** Until no view computes. */
/** [[key, {column: raw value}], ...] of the rows that are shown. */
const rowsOf = (p, table) => p.$$eval(`[data-test="${table}"] .table-rows [role=row]`, (rows) => rows.map((r) =>
    [r.dataset.key, Object.fromEntries([...r.children].map((c) => [c.dataset.column, c.dataset.ns ?? c.dataset.count ?? c.textContent]))]));
const text = (p, name) => p.textContent(`[data-test="${name}"]`);
const threads = (p) => p.evaluate(() => [...window.orca.state.tableThreads.value]);

/** The shown rows of a table have the numbers of the report's rows of the same key. */
async function agrees(p, table, rows, keyOf, keys) {
    const wanted = new Map(rows.map((r) => [String(keyOf(r)), r]));
    const shown = await rowsOf(p, table);
    holds(shown.length > 0, `${table} has no rows`);
    for (const [key, cells] of shown)
        for (const k of keys)
            same(Number(cells[k]), wanted.get(key)?.[k], `${table} ${key} ${k}`);
    return shown;
}

const TIMES = ["held_up_count", "held_up_ns", "blocked_count", "blocked_ns", "waited_count", "waited_ns", "parked_ns"];

export const tests = {
    async the_tables_have_the_numbers_of_the_report(w) {
        const p = await start(w, "statistics");
        const r = report(w.trace("showcase"));
        await agrees(p, "statistics-threads", r.threads, (t) => t.id, [...TIMES, "joined_ns", "slept_ns", "reacquired_ns", "running_ns"]);
        await agrees(p, "statistics-classes", r.locks, (l) => l.class ?? "?", [...TIMES, "held_up_min_ns", "held_up_p99_ns", "waited_avg_ns", "reacquiring_ns", "objects"]);
        await p.click('[data-test="statistics-classes"] [data-key="Showcase$Hot"]');
        await settled(p);
        const hot = report(w.trace("showcase"), "--sites", "--class", "Showcase$Hot").sites;
        const key = (s) => `${s.class}|${s.stack}`;
        await agrees(p, "statistics-held_up", hot, key, ["held_up_count", "held_up_ns", "held_up_min_ns", "held_up_p50_ns", "held_up_max_ns", "held_up_objects", "held_up_threads", "reacquiring_ns"]);
        await p.click('[data-test="statistics-part-owners"]');
        await settled(p);
        const owners = report(w.trace("showcase"), "--owners", "--class", "Showcase$Hot").owners;
        await agrees(p, "statistics-owners", owners, (o) => `${o.class}|${o.owner}`, ["held_up_count", "held_up_ns", "held_up_max_ns"]);
        same(p.faults, []);
    },

    /** TPTP 4.5's thread profiling: of the selected ones the callers are shown together. */
    async several_classes_are_selected(w) {
        const p = await start(w, "statistics"), file = w.trace("showcase");
        const all = report(file, "--monitors").locks.filter((l) => l.class && l.held_up_count).slice(0, 2).map((l) => l.class);
        same(all.length, 2, "classes that held somebody up");
        await p.click(`[data-test="statistics-classes"] [data-key="${all[0]}"]`);
        await p.click(`[data-test="statistics-classes"] [data-key="${all[1]}"]`, { modifiers: ["Control"] });
        await settled(p);
        const sites = all.flatMap((c) => report(file, "--sites", "--class", c).sites), key = (s) => `${s.class}|${s.stack}`;
        await agrees(p, "statistics-held_up", sites, key, ["held_up_count", "held_up_ns", "held_up_max_ns"]);
        same((await rowsOf(p, "statistics-held_up")).length, sites.filter((s) => s.held_up_count).length, "callers of both");
        holds((await text(p, "statistics-chosen")).includes("on 2 classes"), "what is selected is said");
        await p.waitForFunction((c) => decodeURIComponent(location.hash).includes(`of=${c}`), all.join(";"));
        await p.reload();
        await settled(p);
        same(await p.evaluate(() => [...window.orca.state.tableClasses.value]), all, "after a reload");
        same(p.faults, []);
    },

    async several_threads_are_added_up(w) {
        const p = await start(w, "statistics");
        await p.focus('[data-test="statistics-threads"] [role=grid]');
        for (const key of ["Home", "Shift+ArrowDown", "Shift+ArrowDown", "Control+ArrowDown", " "])
            await p.keyboard.press(key);
        same((await threads(p)).length, 4, "selected by keys");
        await settled(p);
        const names = await p.evaluate(() => [...window.orca.state.tableThreads.value].map((t) => window.orca.state.meta.value.threads.name[t]));
        const r = report(w.trace("showcase"), "--monitors", "--thread", names.join(","));
        same((await agrees(p, "statistics-classes", r.locks, (l) => l.class ?? "?", TIMES)).length, r.locks.length, "classes");
        await p.keyboard.press("Escape");
        same(await threads(p), [], "Esc selects nothing");
    },

    async a_marked_range_is_what_the_tables_are_of(w) {
        const p = await start(w, "statistics");
        await setState(p, "window.orca.state.marked.value = { from: 1e8, to: 2e8 }");
        await settled(p);
        holds((await text(p, "scope-text")).startsWith("0.100 s to 0.200 s"), await text(p, "scope-text"));
        const r = report(w.trace("showcase"), "--threads", "--from", "100ms", "--to", "200ms");
        await agrees(p, "statistics-threads", r.threads, (t) => t.id, [...TIMES, "running_ns"]);
        await p.click('[data-test="scope-whole"]');
        await settled(p);
        await agrees(p, "statistics-threads", report(w.trace("showcase")).threads, (t) => t.id, TIMES);
    },

    async a_table_is_sorted_filtered_and_copied_by_keys(w) {
        const p = await start(w, "statistics");
        const grid = '[data-test="statistics-threads"] [role=grid]';
        await p.focus(grid);
        for (const key of ["Home", "ArrowUp", "ArrowRight", "Enter"])
            await p.keyboard.press(key);
        same(await p.getAttribute('[data-test="statistics-threads"] [role=columnheader][data-column=name]', "aria-sort"), "ascending");
        holds(await p.evaluate((g) => document.getElementById(document.querySelector(g).getAttribute("aria-activedescendant")) !== null, grid), "the grid says where it is");
        await p.keyboard.press("Control+a");
        await p.keyboard.press("Control+c");
        const lines = (await p.evaluate(() => navigator.clipboard.readText())).trimEnd().split("\n");
        same(lines.length, report(w.trace("showcase")).threads.length + 1, "lines copied");
        same(lines[0].split("\t").slice(0, 5), ["Id", "Thread", "Group", "Blocked", "Blocked for (ns)"]);
        await p.fill('[data-test="statistics-threads-filter"]', "worker");
        same((await rowsOf(p, "statistics-threads")).map(([, c]) => c.name), ["worker-1", "worker-2", "worker-3", "worker-4"]);
        same(await p.getAttribute(grid, "aria-rowcount"), "5");
    },

    async a_finding_leads_into_the_timeline(w) {
        const p = await start(w, "findings");
        const r = report(w.trace("showcase"), "--findings").findings;
        same(await p.$$eval("[data-rule]", (all) => all.map((e) => e.dataset.rule)), r.map((f) => f.rule));
        const k = r.findIndex((f) => f.to > f.from) + 1;
        await p.focus(`[data-test="finding-${k}"] [data-test="finding-show"]`);
        await p.keyboard.press("Enter");
        same(await p.evaluate(() => window.orca.state.marked.value), { from: r[k - 1].from, to: r[k - 1].to });
    },

    async a_deadlock_cannot_be_missed(w) {
        const p = await start(w, "findings");
        const members = await p.$$eval('[data-test="deadlock"] [data-test="deadlock-member"] .member', (all) => all.map((e) => e.textContent));
        same(members.sort(), ["dead-1", "dead-2"]);
        await p.click('[data-test="deadlock-member"] .member');
        await settled(p);
        holds(/^dead-[12] was blocked for .* on Showcase\$Lock[AB]/.test(await text(p, "details-headline")), await text(p, "details-headline"));
    },

    async brackets_follow_causes_and_effects(w) {
        const p = await start(w, "details");
        const thread = await threadOf(p, "parker");
        await p.evaluate((t) => window.orca.state.choose({ wait: { thread: t, index: 3 } }), thread);
        await settled(p);
        holds((await text(p, "details-headline")).startsWith("parker was parked for"), await text(p, "details-headline"));
        await p.evaluate(() => document.activeElement?.blur());
        await p.keyboard.press("[");
        await settled(p);
        holds((await text(p, "details-headline")).startsWith("waker slept"), await text(p, "details-headline"));
        await p.keyboard.press("]");
        await settled(p);
        same(await p.evaluate(() => window.orca.state.chosen.value), { thread, index: 3 });
        await p.click('[data-test="details-mark"]');
        const [from, to] = await p.$eval('[data-test="details-times"]', (e) => [Number(e.dataset.from), Number(e.dataset.to)]);
        same(await p.evaluate(() => window.orca.state.marked.value), { from, to });
    },

    async the_flame_graph_adds_up_and_zooms_by_keys(w) {
        const p = await start(w, "flame");
        const r = report(w.trace("showcase"));
        const sum = (key) => r.threads.reduce((n, t) => n + t[key], 0);
        const total = async () => Number(await p.getAttribute('[data-test="flame-total"]', "data-ns"));
        await p.click('[data-test="flame-state-sleeping"]');
        await settled(p);
        same(await total(), sum("slept_ns"), "ns asleep");
        await p.click('[data-test="flame-state-blocked"]');
        await settled(p);
        same(await total(), sum("slept_ns") + sum("blocked_ns"), "ns asleep or blocked");
        await p.focus('[data-test="flame-canvas"]');
        for (const key of ["ArrowDown", "ArrowDown", "Enter"])
            await p.keyboard.press(key);
        same((await p.$$('[data-test="flame-crumbs"] button')).length, 3, "crumbs");
        await p.keyboard.press("Escape");
        same((await p.$$('[data-test="flame-crumbs"] button')).length, 2, "crumbs after Esc");
        await p.click('[data-test="flame-mycode"]');
        await p.click('[data-test="flame-as-table"]');
        const self = (await rowsOf(p, "flame-table")).reduce((n, [, c]) => n + Number(c.self), 0);
        near(self, await total(), 0.001, "self times");
        same(p.faults, []);
    },

    async the_filter_chooses_threads(w) {
        const p = await start(w, "findings");
        await setState(p, `window.orca.state.dialog.value = "filter"`);
        await p.click('[data-test="filter-none"]');
        holds(await p.isDisabled('[data-test="filter-apply"]'), "nobody can be shown");
        await p.click('[data-test="filter-waits"]');
        await p.click('[data-test="filter-apply"]');
        const shown = await p.evaluate(() => { const s = window.orca.state; return [...s.filter.value].every((t) => s.meta.value.threads.waits[t] > 0) && s.dialog.value === null; });
        holds(shown, "those with waits");
        await setState(p, `window.orca.state.dialog.value = "filter"`);
        await p.focus('[data-test="filter-threads"] [role=grid]');
        await p.keyboard.press("Escape");
        await p.waitForSelector('dialog[data-view="filter"]', { state: "detached" });
    },

    async every_control_has_a_name(w) {
        const p = await start(w, "findings");
        for (const tab of ["findings", "details", "statistics", "flame", "locks"]) {
            await p.evaluate((t) => { window.orca.state.tab.value = t; }, tab);
            await settled(p);
            const bare = await p.$$eval(".panelbody button, .panelbody input, .panelbody select", (all) =>
                all.filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.closest("label") || e.title)).map((e) => e.outerHTML.slice(0, 120)));
            same(bare, [], `controls without a name in ${tab}`);
        }
    },
};
