// shots.test.mjs - a picture of every view, in two sizes and both themes, into build/shots; nothing in them overflows,
// is cut off or empty.
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build, holds, html, open, page, pointOf, ready, same, setState, shot, shots, threadOf, view } from "./lib.mjs";

export const traces = ["orderbook", "showcase", "virtual"];

const LOOKS = [
    { name: "1280-dark", size: [1280, 800], scheme: "dark", ratio: 1 },
    { name: "1280-light", size: [1280, 800], scheme: "light", ratio: 1 },
    { name: "3840-dark", size: [3840, 2160], scheme: "dark", ratio: 1 },
    { name: "3840-light", size: [3840, 2160], scheme: "light", ratio: 1 },
    { name: "1920x2-dark", size: [1920, 1080], scheme: "dark", ratio: 2 },
];

const options = (look) => ({ viewport: { width: look.size[0], height: look.size[1] }, colorScheme: look.scheme, deviceScaleFactor: look.ratio });

/** What does not fit: the page itself, words of controls, the titles of tables. */
const misfits = (p) => p.evaluate(() => {
    const out = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth || document.body.scrollWidth > document.body.clientWidth)
        out.push(`the page is ${root.scrollWidth} wide, ${root.clientWidth} are there`);
    const inDialog = document.querySelector("dialog[open]");
    for (const e of (inDialog ?? document).querySelectorAll("button, summary, h1, h2, h3, label, th, .choice, .segments, [role=tab]")) {
        const box = e.getBoundingClientRect();
        if (!box.width || e.closest(".visually-hidden, .hidden, .names, .table-rows, [hidden]") || getComputedStyle(e).visibility === "hidden")
            continue;
        const name = `${e.tagName.toLowerCase()} "${(e.textContent || e.getAttribute("aria-label") || "").trim().slice(0, 50)}"`;
        if (e.scrollWidth > Math.ceil(box.width) + 1 && getComputedStyle(e).display !== "inline")
            out.push(`${name} is cut off: ${e.scrollWidth} of ${box.width}`);
        if (box.right > innerWidth + 1 || box.left < -1)
            out.push(`${name} is beside the page: ${box.left} to ${box.right}`);
    }
    return out;
});

/** The panel of a view has something in it. */
const fill = (p) => p.evaluate(() => {
    const v = document.querySelector(".panelbody [data-view]");
    return v ? { text: v.innerText.trim().length, height: v.getBoundingClientRect().height } : null;
});

async function settle(p) {
    await ready(p);
    await p.waitForFunction(() => !document.querySelector("[data-view][aria-busy=true]") && [...document.querySelectorAll("[data-test=scope-busy]")].every((e) => !e.textContent));
    await ready(p);
}

async function take(p, look, name, panel = true) {
    await settle(p);
    await shot(p, `${name}-${look.name}`);
    same(await misfits(p), [], `${name} ${look.name}`);
    if (!panel)
        return;
    const f = await fill(p);
    holds(f && f.text > 40 && f.height > 60, `${name} ${look.name}: the panel has ${JSON.stringify(f)}`);
}

/** The longest wait of the program's threads in a state. */
const longest = (p, state) => p.evaluate(async (s) => {
    const o = window.orca.state;
    const m = o.meta.value;
    let best = null;
    for (let t = 1; t < m.threads.id.length; t++)
        if (m.threads.flags[t] & 8 && m.threads.blocked_ns[t] > 0)
            for (let i = 0; i < Math.min(m.threads.waits[t], 60); i++) {
                const w = await o.source.value.wait(t, i);
                if (w.state === s && w.ended_by && w.cause && (!best || w.end - w.start > best.end - best.start))
                    best = w;
            }
    return best;
}, state);

const tabs = {
    findings: async () => {},
    statistics: async (p) => {
        await setState(p, "(() => { const o = window.orca.state; o.tab.value = 'statistics'; })()");
        await p.click("[data-test=statistics-classes] .table-rows [role=gridcell]");
    },
    flame: (p) => setState(p, "window.orca.state.tab.value = 'flame'"),
    legend: (p) => setState(p, "window.orca.state.tab.value = 'legend'"),
    locks: async (p) => {
        await setState(p, "window.orca.state.tab.value = 'locks'; window.orca.state.mode.value = 'locks'");
        await p.waitForSelector("[data-row^=l]");
    },
};

async function details(p, look) {
    const wait = await longest(p, "blocked");
    holds(wait, "no blocked wait has a cause");
    await setState(p, `(() => { const o = window.orca.state; o.focusRow.value = "t${wait.thread}"; o.show({ from: ${wait.start - (wait.end - wait.start)}, to: ${wait.end + (wait.end - wait.start)} }); o.choose({ wait: { thread: ${wait.thread}, index: ${wait.index} } }); })()`);
    await p.waitForSelector("[data-view=details] [data-test=details-stack]");
    await take(p, look, "details");
    // The same, closer, with arrows and path, and the words at the mouse.
    const at = await pointOf(p, `t${wait.thread}`, (wait.start + wait.end) / 2);
    await p.mouse.move(at.x, at.y - 3);
    await p.mouse.move(at.x + 1, at.y - 3);
    await p.waitForSelector("[data-test=tooltip]");
    await p.screenshot({ path: join(shots, `zoomed-${look.name}.png`) });
}

async function dialogs(p, look) {
    for (const [name, key] of [["filter", "t"], ["search", "/"], ["help", "?"]]) {
        await p.keyboard.press(key);
        await p.waitForSelector("dialog[open]");
        if (name === "search") {
            await p.fill("[data-test=search-text]", "o");
            await p.waitForSelector("#search-hits li");
        }
        await take(p, look, name, false);
        const box = await p.locator("dialog[open]").boundingBox();
        holds(box.x >= 0 && box.y >= 0 && box.x + box.width <= look.size[0] && box.y + box.height <= look.size[1], `${name} ${look.name}: the dialog is at ${JSON.stringify(box)}`);
        await p.keyboard.press("Escape");
        await p.waitForFunction(() => !document.querySelector("dialog[open]"));
    }
}

/** A test for each size and theme. */
const every = (name, body) => Object.fromEntries(LOOKS.map((look) => [`${name}_${look.name.replace("-", "_")}`, (w) => body(w, look)]));

export const tests = {
    ...every("every_panel", async (w, look) => {
        const source = html(w.trace("orderbook"), "shots-orderbook");
        const p = await open(source.url, options(look));
        // Two pixels for one only differ in what the canvas has: the timeline's two views.
        for (const [name, go] of Object.entries(tabs)) {
            if (look.ratio > 1 && name !== "findings" && name !== "locks")
                continue;
            await go(p);
            await take(p, look, name);
        }
        await setState(p, "window.orca.state.mode.value = 'threads'");
        await details(p, look);
        await setState(p, "window.orca.state.showAll(); window.orca.state.tab.value = 'findings'; window.orca.state.chooseOnly({})");
        if (look.ratio === 1)
            await dialogs(p, look);
        same(p.faults, []);
    }),

    ...every("a_deadlock", async (w, look) => {
        const p = await open(html(w.trace("showcase"), "shots-showcase").url, options(look));
        await threadOf(p, "dead-1");
        await take(p, look, "deadlock");
        await setState(p, "window.orca.state.showEvidence({ from: window.orca.state.meta.value.to - 2e8, to: window.orca.state.meta.value.to, threads: [], locks: [] }); window.orca.state.grouping.value = 'flat'");
        await take(p, look, "showcase");
        same(p.faults, []);
    }),

    ...every("virtual_threads", async (w, look) => {
        if (w.newest.version < 21)
            return;
        const p = await open(html(w.trace("virtual"), "shots-virtual").url, options(look));
        await setState(p, "window.orca.state.grouping.value = 'pool'");
        await take(p, look, "virtual");
        same(p.faults, []);
    }),

    ...every("the_start_page", async (w, look) => {
        const folder = join(build, `shots-${look.name}`);
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
        const jvm = spawn(`${w.jdk.home}/bin/java`, ["-cp", w.classes, "Idle"], { stdio: ["pipe", "pipe", "ignore"], cwd: folder });
        await new Promise((done) => jvm.stdout.once("data", done));
        const server = await view([], { cwd: build, env: { ...process.env, XDG_STATE_HOME: folder } });
        try {
            const p = await page(options(look));
            await p.goto(server.url);
            await p.waitForSelector(`[data-test="jvm-${jvm.pid}"]`);
            await shot(p, `start-${look.name}`);
            same(await misfits(p), [], `start ${look.name}`);
            await p.click(`[data-test="attach-${jvm.pid}"]`);
            await p.waitForSelector("dialog[open]");
            await shot(p, `attach-${look.name}`);
            same(await misfits(p), [], `attach ${look.name}`);
            same(p.faults, []);
        } finally {
            await server.stop();
            jvm.stdin.end();
        }
    }),

    a_live_recording: async (w) => {
        const folder = join(build, "shots");
        mkdirSync(folder, { recursive: true });
        const jvm = spawn(`${w.jdk.home}/bin/java`, ["-cp", w.classes, "Ticker", "3600"], { stdio: ["pipe", "pipe", "ignore"], cwd: folder });
        await new Promise((done) => jvm.stdout.once("data", done));
        const server = await view([String(jvm.pid)], { cwd: folder, env: { ...process.env, XDG_STATE_HOME: folder } });
        try {
            const p = await open(server.url, options(LOOKS[0]));
            await p.waitForFunction(() => window.orca.state.meta.value.threads.name.includes("right"));
            await take(p, LOOKS[0], "live");
            await p.click("[data-test=save]");
            await take(p, LOOKS[0], "live-save");
            same(p.faults, []);
        } finally {
            await server.stop();
            jvm.stdin.end();
        }
    },
};
