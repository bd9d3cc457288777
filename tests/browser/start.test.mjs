// start.test.mjs - the page of `orca view` without a file: it attaches, says what is wrong, watches, saves, stops, opens.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ask, build, holds, page, ready, report, run, same, shot, view } from "./lib.mjs";

let folders = 0;

/** Runs a body with an idle JVM and a start page that sees it. */
async function withJvm(w, body) {
    const folder = join(build, `start-${++folders}`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const jvm = spawn(`${w.jdk.home}/bin/java`, ["-cp", w.classes, "Idle"], { stdio: ["pipe", "pipe", "ignore"], cwd: folder });
    await new Promise((done) => jvm.stdout.once("data", done));
    const server = await view([], { cwd: folder, env: { ...process.env, XDG_STATE_HOME: folder } });
    try {
        const p = await page();
        await p.goto(server.url);
        await p.waitForSelector(`[data-test="jvm-${jvm.pid}"]`);
        await body(p, jvm.pid, folder, new URL("/", server.url).href);
    } finally {
        await server.stop();
        jvm.stdin.end();
        await new Promise((done) => (jvm.exitCode === null ? jvm.on("exit", done) : done()));
    }
}

async function attach(p, pid) {
    await p.click(`[data-test="attach-${pid}"]`);
    await p.click('[data-test="attach-do"]');
    await p.waitForSelector("[data-view=timeline]");
    await ready(p);
}

export const tests = {
    async a_wrong_field_is_shown_and_nothing_is_attached(w) {
        await withJvm(w, async (p, pid) => {
            await p.click(`[data-test="attach-${pid}"]`);
            await p.fill('[data-test="attach-seconds"]', "soon");
            await p.click('[data-test="attach-do"]');
            await p.waitForSelector('[data-test="attach-error"]');
            same(await p.getAttribute('[data-test="attach-seconds"]', "aria-invalid"), "true");
            same(await p.evaluate(() => document.activeElement.dataset.test), "attach-seconds", "focus");
            await p.keyboard.press("Escape");
            await p.waitForSelector('dialog[data-view="attach"]', { state: "detached" });
            holds(await p.isVisible(`[data-test="attach-${pid}"]`), "still to be attached to");
            same(p.faults, []);
        });
    },

    async heap_dumps_are_listed_and_opened(w) {
        await withJvm(w, async (p, pid, folder, home) => {
            run(`${w.jdk.home}/bin/jcmd`, [String(pid), "GC.heap_dump", join(folder, "idle.hprof")]);
            run(`${w.jdk.home}/bin/jcmd`, [String(pid), "GC.heap_dump", "-gz=1", join(folder, "idle.hprof.gz")]);
            const numbers = new Set();
            for (const name of ["idle.hprof", "idle.hprof.gz"]) {
                await p.goto(`${home}start`);
                const row = p.locator("[data-test=start-recent] tr", { has: p.locator(`button[title="${join(folder, name)}"]`) });
                holds(/heap dump/.test(await row.textContent()), `${name} is called what it is`);
                await shot(p, "start-heap");
                await row.locator("button").click();
                await p.waitForFunction(() => window.orca?.heap?.stage.value === "ready");
                same(await p.evaluate(() => window.orca.heap.overview.value.name), name);
                numbers.add(new URL(p.url()).search);
            }
            same([...numbers], ["?dump=1", "?dump=2"], "both are open");
            // What was opened stays, and keeps its number.
            await p.goto(`${home}start`);
            await p.click(`button[title="${join(folder, "idle.hprof")}"]`);
            await p.waitForFunction(() => window.orca?.heap?.overview.value?.name === "idle.hprof");
            same(new URL(p.url()).search, "?dump=1");
            same((await ask(p, "/api/h3"))[0], 404);
            same(p.faults, []);
        });
    },

    async a_jvm_is_attached_to_watched_saved_and_stopped(w) {
        await withJvm(w, async (p, pid, folder, home) => {
            await attach(p, pid);
            holds((await p.evaluate(() => window.orca.state.meta.value.live?.pid)) === pid, "it is live");
            holds((await p.evaluate(() => window.orca.state.meta.value.threads.name.indexOf("ticker"))) > 0, "its threads are there");
            await p.goto(home);
            await p.waitForSelector(`[data-test="save-${pid}"]`);
            await p.click(`[data-test="save-${pid}"]`);
            await p.fill(`[data-test="save-to-${pid}"]`, "saved.otrace");
            await p.click(`[data-test="save-do-${pid}"]`);
            await p.waitForFunction(() => document.querySelector("[data-test=start-said]")?.textContent.startsWith("Saved"));
            holds(existsSync(join(folder, "saved.otrace")), "the file is there");
            holds(report(join(folder, "saved.otrace")).threads.some((t) => t.name === "ticker" && t.waited_count > 0), "and has the waits");
            await p.click(`[data-test="stop-${pid}"]`);
            await p.waitForFunction(() => document.querySelector("[data-test=start-said]")?.textContent.startsWith("Stopped"));
            await p.waitForSelector(`[data-test="attach-${pid}"]`);
            same(p.faults, []);
        });
    },
};
