// virtual.test.mjs - ten thousand virtual threads: folded into one row, unfolded, scrolled, filtered, found.
import { colours, holds, open, ready, report, same, setState, threadOf } from "./lib.mjs";

export const trace = "virtual";
export const sources = ["server", "html"];
/** Before this release there are none. */
export const needs = (w) => (w.newest.version >= 21 ? null : "no JDK of release 21 or later");

const MANY = 10_000;
const size = { viewport: { width: 1280, height: 1100 } };
const start = (w, hash = "") => open(w.url + hash, { ...size, ...w.options });
const elements = (p) => p.evaluate(() => document.querySelectorAll("[data-row]").length);
const labels = (p) => p.$$eval("[data-row] .label", (all) => all.map((e) => e.textContent));

/** The row that has all of them: its key. */
async function folded(p, label) {
    const row = await p.evaluate((text) => {
        const found = [...document.querySelectorAll("[data-row]")].find((r) => r.querySelector(".label").textContent === text);
        return found && [found.dataset.row, found.querySelector(".note").textContent];
    }, label);
    holds(row, `no row ${label} in ${await labels(p)}`);
    same(row[1], "10,000 threads", `note of ${label}`);
    return row[0];
}

export const tests = {
    async one_row_for_all(w) {
        const p = await start(w);
        await folded(p, "VirtualThreads");
        holds((await elements(p)) < 60, "rows of a folded group");
        await p.click("[data-test=by-pool]");
        await ready(p);
        const pool = await folded(p, "vt-#");
        const [from, to] = await p.evaluate(() => {
            const t = window.orca.state.meta.value.threads;
            const mine = (_, k) => t.name[k].startsWith("vt-");
            return [Math.min(...t.from.filter(mine)), Math.max(...t.to.filter(mine))];
        });
        const seen = new Set();
        for (let k = 1; k < 60; k++)
            for (const [r, g, b] of await colours(p, pool, from + ((to - from) * k) / 60))
                seen.add((r << 16) | (g << 8) | b);
        const all = report(w.trace(trace), "--threads", "--thread=vt-*").threads;
        same(all.length, MANY, "threads of the report");
        const share = (key) => all.reduce((n, t) => n + t[key], 0) / all.reduce((n, t) => n + t.life_ns, 0);
        // What takes a pixel of the bar, at least on average.
        for (const [key, rgb] of [["blocked_ns", 0xe8602c], ["slept_ns", 0x4a5058], ["running_ns", 0x1fa37a], ["parked_ns", 0x3c5a86]])
            if (share(key) > 1 / 16)
                holds(seen.has(rgb), `${key} is ${share(key)} of their lives, and not to be seen`);
        same(p.faults, []);
    },

    async every_row_can_be_reached_and_few_are_in_the_page(w) {
        const p = await open(w.url + "#group=pool&arrows=0&path=0&panel=60", { viewport: { width: 700, height: 2400 }, ...w.options });
        await setState(p, "window.orca.state.toggled.value = new Set([`p${window.orca.state.meta.value.pools.name.indexOf('vt-#')}`])");
        const seen = new Set();
        let most = 0;
        const total = Number(await p.getAttribute("[data-test=rows]", "aria-rowcount"));
        holds(total > MANY, `${total} rows`);
        for (let y = 0, before = -1; y !== before;) {
            for (const name of await labels(p))
                seen.add(name);
            most = Math.max(most, await elements(p));
            before = y;
            y = await p.evaluate(() => new Promise((done) => {
                const box = document.querySelector("[data-test=rows]");
                box.scrollTop += box.clientHeight - 40;
                requestAnimationFrame(() => requestAnimationFrame(() => done(box.scrollTop)));
            }));
        }
        same([...seen].filter((n) => /^vt-\d+$/.test(n)).length, MANY, "threads seen");
        holds(most <= Math.ceil((await p.evaluate(() => document.querySelector("[data-test=rows]").clientHeight)) / 20) + 8, `${most} rows are in the page at once`);
        await ready(p);
        same(p.faults, []);
    },

    async unfolded_by_a_click_and_folded_again(w) {
        const p = await start(w);
        const row = await folded(p, "VirtualThreads");
        await p.click(`[data-row=${row}] .fold`);
        await ready(p);
        holds((await labels(p)).includes("vt-0"), "vt-0 is not in the unfolded group");
        holds((await elements(p)) < 80, `${await elements(p)} rows are in the page`);
        await p.click(`[data-row=${row}] .fold`);
        await ready(p);
        holds(!(await labels(p)).includes("vt-0"), "vt-0 is shown by a folded group");
        same(p.faults, []);
    },

    async search_reveals_one(w) {
        const p = await start(w);
        await p.keyboard.press("/");
        await p.fill("[data-test=search-text]", "vt-9999");
        await p.waitForSelector("#search-hits li[data-kind=thread]");
        same(await p.textContent("#search-hits li[data-kind=thread] .label"), "vt-9999");
        await p.keyboard.press("Enter");
        await ready(p);
        const key = `t${await threadOf(p, "vt-9999")}`;
        await p.waitForSelector(`[data-row=${key}]`);
        const [row, box] = [await p.locator(`[data-row=${key}]`).boundingBox(), await p.locator("[data-test=rows]").boundingBox()];
        holds(row.y >= box.y && row.y + row.height <= box.y + box.height, "the row is out of sight");
        same(await p.evaluate(() => window.orca.state.focusRow.value), key);
    },

    async the_filter_has_them_all(w) {
        const p = await start(w);
        await p.keyboard.press("t");
        await p.waitForSelector("dialog[data-view=filter]");
        const all = await p.evaluate(() => window.orca.state.meta.value.threads.id.length - 1);
        same(await p.textContent("dialog .filter-end [role=status]"), `${all.toLocaleString("en-US")} of ${all.toLocaleString("en-US")} threads`);
        const rows = await p.evaluate(() => document.querySelectorAll("dialog [role=row]").length);
        holds(rows > 5 && rows < 120, `the dialog has ${rows} rows in the page`);
        await p.click("[data-test=filter-none]");
        await p.fill("[data-test=filter-threads-filter]", "vt-77");
        await p.waitForFunction(() => [...document.querySelectorAll("dialog .table-rows [role=row]")].every((r) => r.textContent.includes("vt-77")));
        await p.focus("dialog [role=grid]");
        await p.keyboard.press("Control+a");
        await p.click("[data-test=filter-apply]");
        await ready(p);
        // 77, 770 to 779, 7700 to 7799
        same(await p.evaluate(() => window.orca.state.filter.value.size), 111, "threads that are left");
        await setState(p, "window.orca.state.grouping.value = 'flat'");
        same(await p.getAttribute("[data-test=rows]", "aria-rowcount"), "111");
        same(p.faults, []);
    },

    async arrows_and_path_go_to_the_folded_row(w) {
        const p = await start(w, "#group=pool");
        const sums = report(w.trace(trace), "--interactions").interactions;
        holds(sums.some((i) => i.count > 1000), `few interactions: ${JSON.stringify(sums)}`);
        const drawn = await p.evaluate(() => {
            const names = window.orca.state.meta.value.threads.name;
            return window.orca.arrowsDrawn().filter((a) => names[a.from].startsWith("vt-") || names[a.to].startsWith("vt-")).reduce((n, a) => n + a.count, 0);
        });
        holds(drawn > 0, "no arrow begins or ends at the folded row");
        const white = () => p.evaluate(() => {
            const c = document.querySelector("canvas.base");
            const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
            let n = 0;
            for (let k = 0; k < d.length; k += 4)
                n += d[k] > 240 && d[k + 1] > 240 && d[k + 2] > 240 ? 1 : 0;
            return n;
        });
        await setState(p, "window.orca.state.arrowsOn.value = false");
        holds((await white()) > 80, `the path is ${await white()} pixels`);
        await setState(p, "window.orca.state.pathOn.value = false");
        same(await white(), 0, "pixels of a path that is off");
        same(p.faults, []);
    },
};
