// view.mjs large|frames|memory TRACE | page HTML - what a user of the viewer waits for, in a real browser.
//
// One line of "KEY NUMBER KEY NUMBER ..." goes to the standard output:
//   large     ms from the command: its address, the first picture, all analysed, all drawn
//   frames    ms of a frame while 64 rows of 2,000 pixels are panned: drawing, and from frame to frame, at 4 zooms
//   memory    MB of the server: after the first picture, after a thousand tiles of threads, of that anonymous
//   page      ms from opening a page from the disk: the first picture, all drawn
import { readFileSync } from "node:fs";
import { closeBrowser, open, page, ready, view } from "../browser/lib.mjs";

const PATIENCE_MS = 300_000;
const [what, file] = process.argv.slice(2);
const put = (figures) => console.log(Object.entries(figures).map(([k, v]) => `${k} ${v.toFixed(1)}`).join(" "));
const middle = (v, part) => v.sort((a, b) => a - b)[Math.floor((v.length - 1) * part)];

/** Notes when the first bars are on their way to the screen. */
function watchFirst(p) {
    return p.addInitScript(() => {
        const put = CanvasRenderingContext2D.prototype.putImageData;
        CanvasRenderingContext2D.prototype.putImageData = function (...all) {
            if (this.canvas.classList.contains("base"))
                window.firstPicture ??= performance.now();
            return put.apply(this, all);
        };
    });
}

async function quiet(p) {
    await p.waitForFunction(() => window.orca.pending() === 0, null, { timeout: PATIENCE_MS });
    await ready(p);
}

async function large() {
    const began = performance.now(), since = () => performance.now() - began;
    const v = await view([file]), address = since();
    try {
        const p = await page({ viewport: { width: 1920, height: 1080 } });
        await watchFirst(p);
        await p.goto(v.url);
        await p.waitForFunction(() => window.firstPicture, null, { timeout: PATIENCE_MS });
        const first = since();
        await p.waitForFunction(() => window.orca.state.meta.value && !window.orca.state.meta.value.partial, null, { timeout: PATIENCE_MS });
        const analysed = since();
        await quiet(p);
        put({ address, first, analysed, drawn: since() });
    } finally {
        await v.stop();
    }
}

/** Frames of one zoom: ms of drawing, ms between them. */
function pan(p, part) {
    return p.evaluate(async (z) => {
        const o = window.orca.state, m = o.meta.value, length = (m.to - m.from) * z, from = m.from + (m.to - m.from) * 0.3 * (1 - z);
        o.show({ from, to: from + length });
        await new Promise((done) => setTimeout(done, 1500));
        const gaps = [];
        for (let k = 0, last = performance.now(); k < 100; k++) {
            const v = o.view.value, d = (v.to - v.from) * (k < 50 ? 0.002 : -0.002);
            o.show({ from: v.from + d, to: v.to + d });
            await new Promise(requestAnimationFrame);
            gaps.push(performance.now() - last);
            last = performance.now();
        }
        return { draw: window.orca.frameTimes().slice(-100), gaps };
    }, part);
}

async function frames() {
    const v = await view([file]);
    try {
        const p = await open(`${v.url}#panel=60&group=flat`, { viewport: { width: 2230, height: 1344 } });
        const all = { draw: [], gaps: [] };
        for (const part of [1, 0.5, 0.1, 0.02]) {
            const one = await pan(p, part);
            all.draw.push(...one.draw);
            all.gaps.push(...one.gaps);
        }
        put({ draw: middle(all.draw, 0.5), draw95: middle(all.draw, 0.95), frame: middle(all.gaps, 0.5), frame95: middle(all.gaps, 0.95) });
    } finally {
        await v.stop();
    }
}

/** MB of a process. */
function memoryOf(pid, name) {
    return Number(new RegExp(`${name}:\\s*(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1000;
}

async function memory() {
    const v = await view([file]);
    try {
        const p = await open(v.url, { viewport: { width: 1920, height: 1080 } });
        const before = memoryOf(v.child.pid, "VmRSS");
        await p.evaluate(async () => {
            const o = window.orca.state, m = o.meta.value, top = Math.ceil(Math.log2((m.to - m.from) / 512)), rows = m.threads.id.slice(1, 65).map((_, k) => `t${k + 1}`);
            for (let k = 0; k < 1000; k++) {
                const level = Math.max(top - (k % 12), 0), tiles = Math.floor((m.to - m.from) / (512 * 2 ** level)) + 1;
                await o.source.value.tile(level, (k * 7919) % tiles, rows);
            }
        });
        put({ before, after: memoryOf(v.child.pid, "VmRSS"), anonymous: memoryOf(v.child.pid, "RssAnon") });
    } finally {
        await v.stop();
    }
}

async function pageOf() {
    const p = await page({ viewport: { width: 1920, height: 1080 } });
    await watchFirst(p);
    await p.goto(`file://${file}`, { waitUntil: "commit" });
    await p.waitForFunction(() => window.firstPicture, null, { timeout: PATIENCE_MS });
    const first = await p.evaluate(() => window.firstPicture);
    await quiet(p);
    put({ first, drawn: await p.evaluate(() => performance.now()) });
}

await page(); // the browser's own start is not measured
try {
    await { large, frames, memory, page: pageOf }[what]();
} finally {
    await closeBrowser();
}
