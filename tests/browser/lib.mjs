// lib.mjs - what the browser tests stand on: traces of real programs, the real `orca view`, the real page
// of `orca html`, a real browser.
import { AsyncLocalStorage } from "node:async_hooks";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createRequire } from "node:module";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const build = join(root, "build/tests/browser");
export const shots = join(root, "build/shots");
export const orca = join(root, "build/release/orca");
const require = createRequire(join(root, "viewer/package.json"));
const { chromium } = require("playwright-core");

// --- waiting ------------------------------------------------------------------------------------

/** How many times slower than a quiet machine this one is now, at least 1: what a loop of known length takes. */
export function slowness() {
    const LOOPS = 50_000_000, QUIET_MS = 150; // on a slow machine
    const began = performance.now();
    let x = 1;
    for (let k = 0; k < LOOPS; k++) {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
    }
    return (x === 0 ? 1 : 0) + Math.max(1, Math.ceil((performance.now() - began) / QUIET_MS));
}

/** Ends a hang, and nothing else: this number of seconds, and as many more each time that the
 * machine is found to be slower. */
export const LIMIT_S = 60;

/** For a moment: between two looks at something. */
export const moment = () => new Promise((done) => setTimeout(done, 20));

/** Look until it is so; what the last look said. */
export async function until(look, what, between = moment) {
    let end = Date.now() + LIMIT_S * 1000;
    for (let extended = false; ; await between()) {
        const seen = await look();
        if (seen)
            return seen;
        if (Date.now() < end)
            continue;
        if (extended)
            throw new Error(`it never came to this: ${what}`);
        extended = true;
        end = Date.now() + LIMIT_S * 1000 * slowness();
    }
}

/** Two frames of the page: what was asked for before is drawn. */
export const drawn = (p) => p.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// --- programs -----------------------------------------------------------------------------------

/** The JDKs of this machine, oldest first: {home, version}. */
export function jdks() {
    const homes = new Set();
    for (const d of [process.env.JAVA_HOME, ...(existsSync("/usr/lib/jvm") ? readdirSync("/usr/lib/jvm").map((n) => `/usr/lib/jvm/${n}`) : [])])
        if (d && existsSync(`${d}/bin/javac`) && existsSync(`${d}/include/jvmti.h`))
            homes.add(realpathSync(d));
    return [...homes]
        .map((home) => ({ home, version: Number(/version "(\d+)/.exec(spawnSync(`${home}/bin/java`, ["-version"], { encoding: "utf8" }).stderr)?.[1] ?? 0) }))
        .filter((j) => j.version >= 17)
        .sort((a, b) => a.version - b.version);
}

export function run(command, args, options = {}) {
    const r = spawnSync(command, args, { encoding: "utf8", timeout: 300_000, maxBuffer: 1 << 28, ...options });
    if (r.status !== 0)
        throw new Error(`${command} ${args.join(" ")}: ${r.error ?? `exit status ${r.status}`}\n${r.stdout ?? ""}${r.stderr ?? ""}`);
    return r.stdout;
}

export function compile(jdk) {
    const out = join(build, "classes");
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    run(`${jdk.home}/bin/javac`, ["--release", "17", "-g", "-d", out, ...readdirSync(dirname(fileURLToPath(import.meta.url))).filter((f) => f.endsWith(".java")).map((f) => join(root, "tests/browser", f))]);
    return out;
}

/** Record a program; the trace's path. */
export async function record(jdk, name, classpath, program, args = [], options = []) {
    const file = join(build, `${name}.otrace`);
    rmSync(file, { force: true });
    const child = spawn(orca, ["record", "-o", file, ...options, "--", `${jdk.home}/bin/java`, "-cp", classpath, program, ...args], { stdio: ["ignore", "ignore", "pipe"], timeout: 300_000 });
    let said = "";
    child.stderr.on("data", (chunk) => { said += chunk; });
    const status = await new Promise((done) => child.on("close", done));
    if (status !== 0)
        throw new Error(`orca record of ${program}: exit status ${status}\n${said}`);
    return file;
}

export function report(file, ...args) {
    return JSON.parse(run(orca, ["report", "--json", ...args, file]));
}

// --- the server ----------------------------------------------------------------------------------

/** `orca view ARGS`: {url, child, stop()}. */
export async function view(args, options = {}) {
    const child = spawn(orca, ["view", "--no-open", ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, XDG_STATE_HOME: build }, ...options });
    let out = "";
    const url = await new Promise((done, failed) => {
        const timer = setTimeout(() => failed(new Error(`orca view said no address: ${out}`)), LIMIT_S * 1000 * slowness());
        const take = (chunk) => {
            out += chunk;
            const m = /(http:\/\/127\.0\.0\.1:\d+\/\?token=\S+)/.exec(out);
            if (m) {
                clearTimeout(timer);
                done(m[1]);
            }
        };
        child.stdout.on("data", take);
        child.stderr.on("data", take);
        child.on("close", (code) => { // what it has said is there then
            clearTimeout(timer);
            failed(new Error(`orca view ended with ${code}: ${out}`));
        });
    });
    return {
        url, child, said: () => out,
        stop: () => new Promise((done) => {
            if (child.exitCode !== null)
                return done(child.exitCode);
            child.on("exit", (code) => done(code));
            child.kill("SIGINT");
            setTimeout(() => child.kill("SIGKILL"), LIMIT_S * 1000).unref();
        }),
    };
}

/** The key of the server, as a page that was let in has it. */
export const keyOf = (p) => p.evaluate(() => localStorage.getItem("orca-key"));

/** Ask as the page does, with the key: [status, text]. */
export const ask = (p, path, init = {}) => p.evaluate(async ([to, how]) => {
    const r = await fetch(to.startsWith("//") ? location.origin + to : to, { ...how, headers: { ...how.headers, "Orca-Key": localStorage.getItem("orca-key") } });
    return [r.status, await r.text()];
}, [path, init]);

/** Open a server's link, so that other contexts may have what it opens: for the options of page(). */
export async function letIn(url) {
    return withPages(async () => {
        const p = await page();
        await p.goto(url);
        await p.waitForFunction(() => localStorage.getItem("orca-key"));
        return { storageState: await p.context().storageState() };
    });
}

const pages = new Map();

/** The page of `orca html`, written once. */
export function html(file, name, ...args) {
    const key = [file, name, ...args].join("\n");
    if (!pages.has(key))
        pages.set(key, written(file, name, args));
    return pages.get(key);
}

function written(file, name, args) {
    const out = join(build, `${name}.html`);
    rmSync(out, { force: true });
    run(orca, ["html", file, "-o", out, ...args]);
    return { url: pathToFileURL(out).href, file: out, stop: async () => {} };
}

// --- the browser ----------------------------------------------------------------------------------

/** The engine without the browser's own windows, which are pages, too, and cost as much as what is tested; else the whole. */
export const CHROMIUM = process.env.CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((f) => existsSync(f));
/** What the browser says of a refused question, and of a connection that the server has turned out before its first request (after
 *  10 s: on a busy machine one that the browser opened ahead). The page asks again, and says in words what it could not have. */
const NO_FAULT = /status of 4\d\d|net::ERR_(EMPTY_RESPONSE|CONNECTION_(RESET|CLOSED))/;
let browser = null;
/** As it was when the browser was started. */
let busy;
/** The contexts that a test has opened: those of one that runs beside it are not its own. */
const opened = new AsyncLocalStorage();

/** Run a test's body, then close its pages. */
export async function withPages(body) {
    const contexts = [];
    try {
        return await opened.run(contexts, body);
    } finally {
        await Promise.all(contexts.map((c) => c.close().catch(() => {})));
    }
}

export async function page(options = {}) {
    browser ??= chromium.launch({
        executablePath: CHROMIUM,
        args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb", "--disable-dev-shm-usage"],
    });
    const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark", ...options });
    opened.getStore().push(context);
    const p = await context.newPage();
    p.setDefaultTimeout(LIMIT_S * 1000 * (busy ??= slowness()));
    p.faults = [];
    p.on("pageerror", (e) => p.faults.push(`error: ${e.message}`));
    p.on("console", (m) => { if (m.type() === "error" && !NO_FAULT.test(m.text())) p.faults.push(`console: ${m.text()}`); });
    return p;
}

export async function closeBrowser() {
    await (await browser)?.close();
    browser = null;
}

/** Open a trace's page and wait until it is drawn. */
export async function open(url, options = {}) {
    const p = await page(options);
    await p.goto(url);
    await p.waitForFunction(() => document.querySelector("[data-view=timeline], #app.failed"));
    if (await p.$("#app.failed"))
        throw new Error(`the page says: ${await p.textContent("#app")}`);
    await ready(p);
    return p;
}

/** Until no question is under way and the frame is drawn. */
export async function ready(p) {
    await p.waitForFunction(() => window.orca && window.orca.state.meta.value && !window.orca.state.meta.value.phase);
    // Frame one draws and asks, two scrolls to a row, three draws that.
    let quiet = 0;
    await until(async () => (quiet = (await p.evaluate(() => window.orca.pending())) === 0 ? quiet + 1 : 0) > 2,
        "no question is under way", () => drawn(p));
}

/** ready, and no view is still asking. */
export async function settled(p) {
    await ready(p);
    await p.waitForFunction(() => !document.querySelector(".busy, [data-view][aria-busy=true]"));
}

/** Where on the page a time in a row is. */
export async function pointOf(p, row, time) {
    return p.evaluate(([key, t]) => {
        const name = document.querySelector(`[data-row="${key}"]`);
        const canvas = document.querySelector("[data-test=canvas]");
        if (!name)
            return null;
        const a = name.getBoundingClientRect();
        const b = canvas.getBoundingClientRect();
        const v = window.orca.state.view.value;
        return { x: b.left + ((t - v.from) / (v.to - v.from)) * b.width, y: a.top + a.height / 2 };
    }, [row, time]);
}

/** The colours of a bar at a time, from the top of the row to its bottom: [[r, g, b], ...]. */
export async function colours(p, row, time) {
    const at = await pointOf(p, row, time);
    if (!at)
        throw new Error(`no row ${row}`);
    return p.evaluate(({ x, y }) => {
        const base = document.querySelector("canvas.base");
        const box = base.getBoundingClientRect();
        const ratio = base.width / box.width;
        const d = base.getContext("2d").getImageData(Math.floor((x - box.left) * ratio + 0.001), Math.round((y - 8 - box.top) * ratio), 1, Math.round(16 * ratio)).data;
        return Array.from({ length: d.length / 4 }, (_, k) => [d[4 * k], d[4 * k + 1], d[4 * k + 2]]);
    }, at);
}

/** The thread of a name: its index, its waits as the analysis has them. */
export async function threadOf(p, name) {
    const t = await p.evaluate((n) => window.orca.state.meta.value.threads.name.indexOf(n), name);
    if (t <= 0)
        throw new Error(`no thread ${name}`);
    return t;
}

export async function setState(p, change) {
    await p.evaluate(change);
    await ready(p);
}

/** Move the view to and fro: what was moved and what was painted beside it is what the whole would be, painted anew. */
export async function panned(p) {
    for (const part of [1, 0.3, 0.01]) {
        await setState(p, `(() => { const o = window.orca.state, m = o.meta.value, l = (m.to - m.from) * ${part}; o.show({ from: m.from + l * 0.1, to: m.from + l * 1.1 }); })()`);
        const differ = await p.evaluate(async () => {
            const o = window.orca.state, c = document.querySelector("canvas.base"), pixels = () => c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
            const quiet = async () => { for (let n = 0; n < 3; n = window.orca.pending() ? 0 : n + 1) await new Promise(requestAnimationFrame); };
            for (const d of [0.03, 0.0103, 0.0207, -0.0091, 0.05, -0.0333]) {
                const { from, to } = o.view.value;
                o.show({ from: from + d * (to - from), to: to + d * (to - from) });
                await quiet();
            }
            const moved = pixels().slice();
            for (const theme of ["light", "dark"]) {
                o.theme.value = theme;
                await quiet();
            }
            return [...pixels()].flatMap((v, k) => v === moved[k] ? [] : [[(k >> 2) % c.width, Math.floor((k >> 2) / c.width)]]);
        });
        same([differ.length, differ[0] ?? null], [0, null], `at ${part} of the recording, colours and the first of them`);
    }
}

export async function shot(p, name) {
    mkdirSync(shots, { recursive: true });
    await p.mouse.move(2, 2);
    await p.screenshot({ path: join(shots, `${name}.png`) });
}

// --- assertions --------------------------------------------------------------------------------------

export function same(got, wanted, what = "") {
    const a = JSON.stringify(got);
    const b = JSON.stringify(wanted);
    if (a !== b)
        throw new Error(`${what ? `${what}: ` : ""}got ${a?.slice(0, 600)} instead of ${b?.slice(0, 600)}`);
}

export function holds(condition, what) {
    if (!condition)
        throw new Error(what);
}

export function near(got, wanted, part, what = "") {
    if (!(Math.abs(got - wanted) <= Math.abs(wanted) * part))
        throw new Error(`${what ? `${what}: ` : ""}got ${got} instead of about ${wanted}`);
}
