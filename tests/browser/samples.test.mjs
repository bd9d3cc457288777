// samples.test.mjs - flame graphs of samples: their numbers against `orca report --hot --json`.
import { holds, open, report, same, settled } from "./lib.mjs";

export const trace = "sampled";
export const sources = ["server", "html"];

const start = async (w) => {
    const p = await open(`${w.url}#tab=flame&panel=600`, { viewport: { width: 1600, height: 1100 }, ...w.options });
    await settled(p);
    return p;
};

const flame = (p, of, by) => p.evaluate(async ([s, b]) => {
    const f = await window.orca.state.source.value.flame(s, null, b);
    const sum = (list) => list.reduce((x, y) => x + y, 0);
    return { ...f, sum_ns: sum(f.ns), sum_count: sum(f.count) };
}, [of, by]);

const threadsNamed = (p, start) => p.evaluate((name) => window.orca.state.meta.value.threads.name.map((n, k) => [n, k]).filter(([n]) => n.startsWith(name)).map(([, k]) => k), start);

const sum = (rows, key) => rows.reduce((n, r) => n + r[key], 0);

/** All four graphs of a part have the report's numbers. */
async function agrees(p, file, of, ...options) {
    const r = report(file, "--hot", ...options).samples;
    for (const kind of ["cpu", "wall"]) {
        const wanted = r[kind] ?? { count: 0, ns: 0, failed_count: 0, failed_ns: 0, owners: [], methods: [] };
        const f = await flame(p, of, kind);
        same([f.total_count, f.total_ns, f.failed_count, f.failed_ns], [wanted.count, wanted.ns, wanted.failed_count, wanted.failed_ns], `${kind} ${options}`);
        same([f.sum_count, f.sum_ns], [f.total_count, f.total_ns], `nodes of ${kind}`);
        const o = await flame(p, of, `owner-${kind}`);
        if (r[kind])
            same([o.total_count, o.total_ns, o.wanted_ns, o.owner_known_ns], [sum(wanted.owners, "count"), sum(wanted.owners, "ns"), sum(wanted.owners, "wanted_ns"), sum(wanted.owners, "owner_known_ns")], `owners by ${kind} ${options}`);
    }
    return r;
}

export const tests = {
    async the_graphs_have_the_numbers_of_the_report(w) {
        const p = await start(w);
        const r = await agrees(p, w.trace(trace), {});
        holds(r.cpu?.count > 0 && r.wall?.count > 0, "there are samples");
        same(p.faults, []);
    },

    async parts_have_the_numbers_of_the_report(w) {
        const p = await start(w), file = w.trace(trace);
        const matchers = await threadsNamed(p, "matcher-"), gateways = await threadsNamed(p, "gateway-");
        holds(matchers.length === 2 && gateways.length === 12, "the threads of the demo");
        const from = 500_000_000, to = 1_500_000_000, range = ["--from", "500ms", "--to", "1500ms"];
        await agrees(p, file, { from, to }, ...range);
        await agrees(p, file, { threads: matchers }, "--thread", "matcher-*");
        await agrees(p, file, { from, to, threads: gateways }, ...range, "--thread", "gateway-*"); // of owners: who waited
        same(p.faults, []);
    },

    async one_locks_owners(w) {
        const p = await start(w), file = w.trace(trace);
        const locks = report(file, "--hot").samples.cpu.owner_locks;
        for (const l of locks.slice(0, 3)) {
            const f = await flame(p, { lock: l.lock }, "owner-cpu");
            same([f.total_count, f.total_ns, f.wanted_ns], [l.count, l.ns, l.wanted_ns], `lock ${l.lock}`);
        }
    },

    async the_view_shows_samples(w) {
        const p = await start(w), cpu = report(w.trace(trace), "--hot").samples.cpu;
        holds(await p.isVisible("[data-test=flame-states]"), "waits have states");
        await p.click("[data-test=flame-by-cpu]");
        await settled(p);
        const total = p.locator("[data-test=flame-total]");
        same([await total.getAttribute("data-ns"), await total.getAttribute("data-count"), await total.getAttribute("data-failed")].map(Number), [cpu.ns, cpu.count, cpu.failed_count]);
        holds(/ in [\d, ]+ samples?/.test((await total.textContent()).replace(/\u00a0|\u202f/g, " ")), await total.textContent());
        holds(!(await p.isVisible("[data-test=flame-states]")), "samples have no states");
        holds((await p.textContent("[data-test=flame-executed]")).trim() !== "", "how frames were executed");
        await p.click("[data-test=flame-as-table]");
        await settled(p);
        holds((await p.textContent("[data-view=flame]")).includes("Samples"), "a column of samples");
        await p.click("[data-test=flame-by-owner-wall]");
        await settled(p);
        holds((await total.textContent()).includes("owners known"), await total.textContent());
        await p.waitForFunction(() => location.hash.includes("by=owner-wall")); // written a little later
        same(p.faults, []);
    },
};
