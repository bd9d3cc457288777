// imports.test.mjs - traces in other formats: what they know is shown, with the report's numbers.
import { join } from "node:path";
import { build, colours, holds, html, open, orca, ready, report, run, same, setState, threadOf, view } from "./lib.mjs";

export const traces = ["showcase"];

/** By format: its suffix, the interactions that it has no form for, the class of a lock as it has it. */
const FORMATS = {
    tptp: { suffix: "trcxml", lacks: ["handoff-lock", "unpark", "semaphore", "submit"], hot: "Showcase$Hot" },
    orca: { suffix: "orca", lacks: ["handoff-lock", "unpark", "semaphore", "interrupt"], hot: null },
};
const HTML = "<img src=x onerror=\"window.hacked=1\">&amp;'\"";
const made = new Map();

function exported(w, to) {
    if (!made.has(to)) {
        const prefix = join(build, `imported-${to}`);
        run(orca, ["export", "--to", to, "-o", prefix, w.trace("showcase")]);
        made.set(to, `${prefix}.${FORMATS[to].suffix}`);
    }
    return made.get(to);
}

const size = { viewport: { width: 1600, height: 1200 } };

/** Both pages of a file, one after the other. */
async function onBoth(w, to, hash, body) {
    const file = exported(w, to);
    for (const source of [await view([file]), html(file, `imported-${to}`)])
        try {
            const p = await open(source.url + hash, size);
            await body(p, file);
            same(p.faults, []);
        } finally {
            await source.stop();
        }
}

/** The rows of a table: [key, {column: number or text}]. */
const rowsOf = (p, table) => p.$$eval(`[data-test="${table}"] .table-rows [role=row]`, (rows) => rows.map((r) =>
    [r.dataset.key, Object.fromEntries([...r.children].map((c) => [c.dataset.column, c.dataset.ns ?? c.dataset.count ?? c.textContent]))]));

async function numbers(p, file) {
    await p.waitForSelector("[data-test=statistics-threads] .table-rows [role=row]");
    await ready(p);
    const r = report(file);
    const tables = [["statistics-threads", r.threads, (t) => t.id], ["statistics-classes", r.locks, (l) => l.class ?? "?"]];
    for (const [table, rows, keyOf] of tables) {
        const shown = await rowsOf(p, table);
        holds(shown.length >= Math.min(rows.length, 5), `${table} has ${shown.length} rows`);
        for (const [key, cells] of shown) {
            const wanted = rows.find((x) => String(keyOf(x)) === key);
            for (const k of ["blocked_count", "blocked_ns", "waited_count", "waited_ns"])
                same(Number(cells[k]), wanted?.[k], `${table} ${key} ${k}`);
        }
    }
}

async function arrows(p, file, lacks) {
    await p.click("[data-test=tab-legend]");
    await ready(p);
    for (const i of report(file, "--interactions").interactions) {
        const shown = await p.$(`[data-arrow="${i.kind}"] [data-count]`);
        same(shown ? Number(await shown.getAttribute("data-count")) : 0, i.count, i.kind);
        holds(lacks.includes(i.kind) || i.count > 0, `no ${i.kind} in the file`);
        await setState(p, `window.orca.state.arrowKinds.value = new Set(["${i.kind}"])`);
        const drawn = await p.evaluate(() => window.orca.arrowsDrawn().reduce((n, a) => n + a.count, 0));
        holds(i.count ? drawn > 0 && drawn <= i.count : drawn === 0, `${i.kind}: ${drawn} of ${i.count} are drawn`);
    }
}

async function rowsAndStates(p, to, hot) {
    await setState(p, "window.orca.state.grouping.value = 'flat'; window.orca.state.arrowsOn.value = false; window.orca.state.pathOn.value = false");
    const t = await threadOf(p, "worker-2");
    const wait = await p.evaluate(async (k) => {
        const o = window.orca.state;
        const all = await Promise.all(Array.from({ length: o.meta.value.threads.waits[k] }, (_, i) => o.source.value.wait(k, i)));
        return all.filter((x) => x.state === "blocked").sort((a, b) => b.end - b.start - (a.end - a.start))[0];
    }, t);
    same(wait.lock.class, hot ?? `object ${wait.lock.hash.toString(16).toUpperCase().padStart(8, "0")}`, "a file without classes names the object");
    holds(wait.stack.some((f) => f.class === "Showcase" && f.method === "hot"), `its stack: ${JSON.stringify(wait.stack)}`);
    await setState(p, `window.orca.state.focusRow.value = "t${t}"; window.orca.state.show({ from: ${wait.start}, to: ${wait.end} })`);
    const seen = new Set((await colours(p, `t${t}`, wait.start + (wait.end - wait.start) * 0.8)).map(([r, g, b]) => (r << 16) | (g << 8) | b));
    same([...seen].filter((c) => c !== 0xe8602c && c !== 0xa83c10), [], "colours of a block");
    const tag = await threadOf(p, to === "orca" ? HTML.replaceAll(";", "_") : HTML);
    await setState(p, `window.orca.state.focusRow.value = "t${tag}"`);
    same(await p.evaluate(() => [window.hacked ?? null, document.querySelectorAll("img").length]), [null, 0]);
}

export const tests = Object.fromEntries(Object.entries(FORMATS).flatMap(([to, { lacks, hot }]) => [
    [`${to}_has_the_numbers_of_the_report`, (w) => onBoth(w, to, "#tab=statistics&panel=600", numbers)],
    [`${to}_has_its_arrows`, (w) => onBoth(w, to, "#group=flat", (p, file) => arrows(p, file, lacks))],
    [`${to}_has_rows_and_states`, (w) => onBoth(w, to, "", (p) => rowsAndStates(p, to, hot))],
]));
