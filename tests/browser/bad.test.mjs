// bad.test.mjs - what goes wrong around the viewer: strangers, absurd questions, a server or a file that is gone,
// damaged traces and pages, addresses full of nonsense.
import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ask, build, drawn, holds, html, keyOf, open, page, ready, report, same, setState, view } from "./lib.mjs";

export const traces = ["showcase", "orderbook"];

const folder = join(build, "bad");

/** A copy that a test may spoil. */
function copy(w, name, of = "showcase") {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, name);
    copyFileSync(w.trace(of), file);
    return file;
}

async function withView(args, body) {
    const server = await view(args);
    try {
        await body(server, new URL("/", server.url).href);
    } finally {
        await server.stop();
    }
}

/** What a page says, as the user sees it. */
const words = async (p) => (await p.evaluate(() => document.body.innerText)).trim();

/** Faults that are not just the browser's report of a refused connection. */
const real = (p) => p.faults.filter((f) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/.test(f));

async function flip(file, out, places) {
    const bytes = readFileSync(file);
    for (const part of places)
        bytes[Math.floor(bytes.length * part)] ^= 0x5a;
    writeFileSync(out, bytes);
    return out;
}

/** A page of orca html with its pack changed. */
function spoiled(text, name, change) {
    const begin = text.indexOf(">", text.indexOf('id="orca-pack"')) + 1;
    const end = text.indexOf("</script", begin);
    const out = join(folder, `${name}.html`);
    writeFileSync(out, text.slice(0, begin) + change(text.slice(begin, end)) + text.slice(end));
    return pathToFileURL(out).href;
}

const flipped = (part) => (pack) => {
    const at = Math.floor(pack.length * part);
    return `${pack.slice(0, at)}${pack[at] === "A" ? "BBBB" : "AAAA"}${pack.slice(at + 4)}`;
};

const ABSURD = [
    "tile/45/0?rows=t1", "tile/-1/0?rows=t1", "tile/0/9223372036854775807?rows=t1", "tile/0/99999999999999999999?rows=t1", "tile/20/0", "tile/20/0?rows=",
    [`tile/20/0?rows=${Array.from({ length: 257 }, (_, k) => `t${k}`).join(",")}`, 400], "tile/20/0?rows=t99999999999", "tile/20/0?rows=x1",
    "arrows/45/0", "path/99/0", "path/20/0?thread=-1&to=1", "overview?n=0", "overview?n=1000000000",
    "report?top=-1", "report?sections=nonsense", "report?from=1e999", "report?nonsense=1", "report?top=1&top=2",
    "wait?thread=99999&index=0", "wait?thread=1&index=4294967296", "at?row=t1&time=NaN", "at?row=../../etc/passwd&time=1",
    "flame?by=nobody", "flame?states=sleepy", "locks?top=99999999", "contexts?ids=1,x", "search?q=", `search?q=${"x".repeat(257)}`, "search?q=%00",
];

const PATHS = [
    "/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/..%2f..%2fetc/passwd", "/%2fetc%2fpasswd", "/api/../../etc/passwd", "/api/t1/../../../etc/passwd", "/view.html", "/favicon.ico",
    "/api/t2/meta", "/api/t0/meta", "/api/t-1/meta", "/api/t1/g1/tile/1/1/1", "/api", "/api/", "/api/start", "/etc/passwd", "/api/t99999999999999999999/meta",
];

const NONSENSE = [
    "#v=NaN,1e999&m=Infinity,-Infinity&only=1-99999999999&pin=<img src=x>,t1,t99999,l99999&y=-5&rows=zzz&group=&fold=g0,x9",
    "#v=5,1&m=9,9&only=&wait=99999.99999&at=t99999.12&focus=t88888&tab=nowhere&threads=0-9999999999&noise=-1&panel=-7&y=1e308",
    "#v=-1e300,1e300&at=l4.1e9&wait=1&states=,,,&by=all&of=%00%ff&class=<script>&hide=everything&live=1&theme=pink&mine=2&panel=4999",
    "#%%%&v&=&=v&&&?#%E0%A4%A&v=0x10,0x20&only=,,,-,5-1,1-&wait=1.0&pin=t0",
    `#rows=locks&class=${"x".repeat(5000)}&only=${"1,".repeat(2000)}&at=p999.5&focus=l999&tab=flame`,
];

export const tests = {
    async a_link_is_good_once(w) {
        await withView([w.trace("showcase")], async (server, base) => {
            const p = await open(`${server.url}#tab=statistics`);
            same(p.url(), `${base}#tab=statistics`, "the address without the token");
            const q = await page();
            const says = async (url) => {
                await q.goto(url);
                await q.waitForSelector("#app.failed");
                return words(q);
            };
            same(await says(server.url), "This link has been used. Run orca view again, or use the window that is open.");
            same(await says(`${base}?token=0123456789abcdef`), "This is not the link that orca view has printed: copy it whole.");
            same(await says(base), "Open the link that orca view has printed, with its token.");
            // The first window is not disturbed, comes back after a reload, and whoever has it may have more of them: by
            // its address, by one that was kept, and by the link, too.
            for (let k = 0; k < 2; k++) {
                await p.reload();
                await ready(p);
            }
            holds((await p.$$("[data-row]")).length > 5, "rows after a reload");
            for (const url of [p.url(), `${base}#tab=locks`, server.url]) {
                const r = await p.context().newPage();
                await r.goto(url);
                await ready(r);
                holds(!r.url().includes("token"), r.url());
                await r.close();
            }
            same(await p.context().cookies(), [], "cookies");
            same(p.faults, []);
        });
    },

    async nothing_is_served_that_is_not_the_viewers(w) {
        await withView([w.trace("showcase")], async (server) => {
            const p = await open(server.url);
            const asked = await Promise.all(PATHS.map(async (path) => [path, ...(await ask(p, path))]));
            for (const [path, status, text] of asked) {
                holds(status >= 400 && status < 500, `${path}: ${status}`);
                holds(!text.includes("root:"), `${path}: ${text.slice(0, 100)}`);
            }
            await ready(p);
            same(p.faults, []);
        });
    },

    async absurd_questions_are_refused_in_words(w) {
        await withView([w.trace("showcase")], async (server) => {
            const p = await open(server.url);
            const gen = await p.evaluate(() => window.orca.state.meta.value.gen);
            const asked = (await Promise.all(ABSURD.map((path) => ask(p, `/api/t1/g${gen}/${path}`)))).map(([status, text]) => [status, /^\{/.test(text) ? JSON.parse(text).error : null]);
            ABSURD.forEach((path, k) => {
                holds(asked[k][0] === 400 || asked[k][0] === 404, `${path.slice(0, 60)}: ${asked[k][0]}`);
                holds(asked[k][1]?.length > 10, `${path.slice(0, 60)}: no words but ${asked[k][1]}`);
            });
            // As many at once as the browser lets out: each is answered or refused, and then the page goes on.
            // A connection that was turned out is tried again, as the page does.
            const many = await p.evaluate(async (key) => {
                const g = window.orca.state.meta.value.gen;
                const once = (k) => fetch(`/api/t1/g${g}/tile/${k % 30}/${k}?rows=t1,t2,t${k % 20}`, { headers: { "Orca-Key": key } });
                const all = await Promise.all(Array.from({ length: 1000 }, (_, k) => once(k).catch(() => once(k)).catch(() => once(k)).then((r) => r.status, (e) => e.name)));
                return [...new Set(all)];
            }, await keyOf(p));
            same(many.filter((s) => ![200, 429, 503].includes(s)), [], "answers to 1,000 questions at once");
            await setState(p, "window.orca.state.show({ from: 1e8, to: 1.1e8 })");
            same(real(p).filter((f) => !/status of 503/.test(f)), []);
        });
    },

    async a_trace_that_vanishes_stays_in_the_page(w) {
        const file = copy(w, "vanishes.otrace");
        await withView([file], async (server) => {
            const p = await open(server.url);
            rmSync(file);
            await p.waitForSelector("[data-test=gone]");
            const text = await p.textContent("[data-test=gone]");
            holds(/vanishes\.otrace.*the file is gone; the page keeps what was read of it/.test(text), text);
            await setState(p, "window.orca.state.show({ from: 1e8, to: 1.5e8 })");
            await p.click("[data-test=tab-statistics]");
            await p.waitForSelector("[data-test=statistics-threads] .table-rows [role=row]");
            same(p.faults, []);
        });
    },

    async a_server_that_is_killed_is_missed(w) {
        const server = await view([w.trace("showcase")]);
        const p = await open(server.url);
        const rows = await p.$$eval("[data-row] .label", (all) => all.map((e) => e.textContent));
        server.child.kill("SIGKILL");
        await p.waitForSelector("[data-test=gone]");
        holds(/has stopped answering.*Run orca view again/.test(await p.textContent("[data-test=gone]")), await p.textContent("[data-test=gone]"));
        // The line takes some room.
        const left = await p.$$eval("[data-row] .label", (all) => all.map((e) => e.textContent));
        same(left, rows.slice(0, left.length), "what was there");
        holds(left.length > rows.length - 4, "rows that are left");
        await p.click("[data-test=tab-flame]");
        await p.waitForSelector("[data-view=flame]");
        await p.keyboard.press("w");
        await p.waitForSelector("[data-test=problem], [data-view=flame] [role=alert]");
        await p.waitForFunction(() => /the server does not answer/.test(document.body.innerText)); // words for what could not be asked
        await drawn(p);
        same(real(p), []);
    },

    async a_damaged_trace_shows_what_is_left(w) {
        const cut = copy(w, "cut.otrace", "orderbook"); // long enough to be of many chunks
        truncateSync(cut, Math.floor(readFileSync(cut).length * 0.6));
        const bytes = await flip(w.trace("orderbook"), join(folder, "flipped.otrace"), [0.5, 0.7]);
        for (const [file, said] of [[cut, /unfinished|cut|damaged/], [bytes, /parts? of the file (is|are) damaged and (was|were) left out/]])
            await withView([file], async (server) => {
                const p = await open(server.url);
                const text = await p.textContent("[data-view=findings]");
                holds(said.test(text), `${file}: ${text.slice(0, 400)}`);
                holds((await p.$$("[data-row]")).length > 2, `rows of ${file}`);
                same(p.faults, []);
            });
    },

    async no_trace_is_refused_before_anybody_can_ask(w) {
        mkdirSync(folder, { recursive: true });
        const files = { "notes.txt": "no trace at all\n", "empty.otrace": "", "zeros.otrace": Buffer.alloc(100_000), "page.html": "<html><body>no trace</body></html>" };
        for (const [name, content] of Object.entries(files)) {
            const file = join(folder, name);
            writeFileSync(file, content);
            const why = await view([file]).then(async (server) => { await server.stop(); return "it was opened"; }, (e) => e.message);
            holds(/ended with [12]: orca: /.test(why) && why.includes(name) && !why.includes("http://"), `${name}: ${why}`);
        }
        void w;
    },

    async a_damaged_page_says_so(w) {
        mkdirSync(folder, { recursive: true });
        const text = readFileSync(html(w.trace("showcase"), "bad-page").file, "utf8");
        const cases = {
            half: (pack) => pack.slice(0, Math.floor(pack.length / 2)), none: () => "", foreign: () => "bm8gcGFjaw==", no64: (pack) => `%%%${pack}`,
            begin: flipped(0.001), early: flipped(0.1), middle: flipped(0.5), late: flipped(0.9), end: (pack) => pack.slice(0, -16),
        };
        for (const [name, change] of Object.entries(cases)) {
            const p = await page();
            await p.goto(spoiled(text, name, change));
            await p.waitForSelector("#app.failed").catch((e) => { throw new Error(`${name}: ${e.message}`); });
            holds(/The data in this page is damaged \(.+\): make the page again with orca html/.test(await words(p)), `${name}: ${await words(p)}`);
            same(p.faults, [], name);
            await p.close();
        }
        // The file itself ends too early: its script is not there to say anything.
        const out = join(folder, "cut.html");
        writeFileSync(out, text.slice(0, Math.floor(text.length / 2)));
        const p = await page();
        await p.goto(pathToFileURL(out).href);
        await p.waitForFunction(() => getComputedStyle(document.querySelector(".loading")).visibility === "visible");
        holds(/the page is not complete.*get it again/.test(await words(p)), await words(p));
    },

    async a_page_on_the_disk_asks_for_nothing(w) {
        const source = html(w.trace("showcase"), "bad-quiet");
        const p = await page({ offline: true });
        const asked = [];
        await p.route("**/*", (route) => {
            asked.push(route.request().url());
            return route.request().url() === source.url ? route.continue() : route.abort();
        });
        await p.goto(source.url);
        await ready(p);
        for (const tab of ["details", "statistics", "flame", "locks", "legend", "findings"]) {
            await p.click(`[data-test=tab-${tab}]`);
            await ready(p);
        }
        await setState(p, "window.orca.state.mode.value = 'locks'; window.orca.state.show({ from: 1e8, to: 2e8 })");
        same(asked.filter((u) => !u.startsWith("data:")), [source.url], "requests");
        same(p.faults, []);
    },

    async an_address_full_of_nonsense_is_only_that(w) {
        const source = html(w.trace("showcase"), "bad-address");
        const names = report(w.trace("showcase"), "--threads").threads.length;
        await withView([w.trace("showcase")], async (server, base) => {
            const first = await open(server.url);
            for (const [url, context] of [[base, first.context()], [source.url, null]])
                for (const hash of NONSENSE) {
                    const p = context ? await context.newPage() : await page();
                    const faults = [];
                    p.on("pageerror", (e) => faults.push(e.message));
                    p.on("console", (m) => { if (m.type() === "error" && !/status of 4\d\d/.test(m.text())) faults.push(m.text()); });
                    await p.goto(url + hash);
                    await p.waitForSelector("[data-view=timeline]");
                    await ready(p);
                    const s = await p.evaluate(() => { const o = window.orca.state; return { v: o.view.value, m: o.meta.value, n: o.filter.value?.size ?? 0, imgs: document.querySelectorAll("img").length, panel: o.panelHeight.value }; });
                    holds(Number.isFinite(s.v.from) && s.v.to > s.v.from && s.v.to - s.v.from <= (s.m.to - s.m.from) * 1.21, `${hash.slice(0, 40)}: ${JSON.stringify(s.v)}`);
                    holds(s.n <= names + 1 && s.imgs === 0, `${hash.slice(0, 40)}: ${s.n} threads, ${s.imgs} images`);
                    holds((await p.locator("[data-view=timeline]").boundingBox()).height >= 100, `${hash.slice(0, 40)}: the timeline is gone`);
                    same(faults, [], hash.slice(0, 60));
                    await p.close();
                }
        });
    },
};
