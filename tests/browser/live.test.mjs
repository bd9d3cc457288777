// live.test.mjs - recordings that go on: the page grows, follows or stays, saves and stops; then the JVM ends.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build, holds, open, orca, ready, report, same, setState, threadOf, view } from "./lib.mjs";

let folders = 0;

/** Runs a body with Ticker, in a folder of its own; end() closes its input and waits. */
async function withTicker(w, body, command = () => []) {
    const folder = join(build, `live-${++folders}`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const all = [...command(folder), `${w.jdk.home}/bin/java`, "-cp", w.classes, "Ticker", "3600"];
    const child = spawn(all[0], all.slice(1), { stdio: ["pipe", "pipe", "ignore"], cwd: folder });
    const ended = new Promise((done) => child.on("exit", done));
    await new Promise((done) => child.stdout.once("data", done));
    const end = async () => {
        child.stdin.end();
        await ended;
    };
    try {
        await body(child.pid, { folder, where: { cwd: folder, env: { ...process.env, XDG_STATE_HOME: folder } }, end });
    } finally {
        await end();
    }
}

const state = (p) => p.evaluate(() => {
    const s = window.orca.state;
    return { to: s.meta.value.to, from: s.meta.value.from, gen: s.meta.value.gen, live: s.meta.value.live?.pid ?? null, view: { ...s.view.value }, following: s.following.value };
});

/** Until there is a newer generation that is longer; what is then. */
async function grown(p, before) {
    await p.waitForFunction(({ gen, to }) => window.orca.state.meta.value.gen > gen && window.orca.state.meta.value.to > to, before);
    await ready(p);
    return state(p);
}

const blocks = async (p, name) => p.evaluate(async (n) => (await window.orca.state.source.value.report(["threads"], {})).threads.find((t) => t.name === n), name);

async function growsFollowsAndStays(p) {
    let now = await state(p);
    holds(now.following, "a live recording is not followed");
    same(await p.getAttribute("[data-test=follow]", "aria-pressed"), "true");
    await p.waitForFunction(() => ["left", "right"].every((n) => window.orca.state.meta.value.threads.name.includes(n)));
    await ready(p);
    now = await state(p);
    const first = await blocks(p, "left");
    now = await grown(p, now);
    now = await grown(p, now);
    holds(now.view.to >= now.to && now.view.from <= now.from, "the whole of it is shown");
    const second = await blocks(p, "left");
    for (const key of ["blocked_count", "blocked_ns", "slept_count", "slept_ns"])
        holds(second[key] >= first[key] && second[key] > 0, `${key}: ${first[key]}, later ${second[key]}`);
    holds(second.slept_count > first.slept_count, "it grows");
    // What looks at a part of it stays there.
    await p.keyboard.press("w");
    await p.keyboard.press("w");
    await ready(p);
    const zoomed = await state(p);
    holds(!zoomed.following, "who zooms looks at something");
    now = await grown(p, zoomed);
    same(now.view, zoomed.view, "the view when the recording has grown");
    // L goes to the end and stays there.
    await p.keyboard.press("l");
    await ready(p);
    const followed = await state(p);
    same([followed.following, Math.round(followed.view.to)], [true, followed.to]);
    now = await grown(p, followed);
    same(Math.round(now.view.to - now.view.from), Math.round(followed.view.to - followed.view.from), "length of what is shown");
    same(Math.round(now.view.to), now.to, "the end is in sight");
    await p.click("[data-test=follow]");
    same((await state(p)).following, false);
    same(p.faults, []);
}

async function saves(p, folder) {
    const name = "saved.otrace";
    await p.click("[data-test=save]");
    same(await p.evaluate(() => document.activeElement.dataset.test), "save-to", "focus");
    await p.keyboard.type(name);
    await p.keyboard.press("Enter");
    await p.waitForFunction(() => document.querySelector("[data-test=recording-said]")?.textContent.startsWith("Saved as"));
    holds(existsSync(join(folder, name)), "the file is there");
    const saved = report(join(folder, name), "--threads").threads.find((t) => t.name === "left");
    holds(saved.blocked_count + saved.slept_count > 10, `it has the waits: ${JSON.stringify(saved)}`);
    await p.click("[data-test=save]");
    await p.fill("[data-test=save-to]", name);
    await p.click("[data-test=save-do]");
    await p.waitForSelector("[data-test=problem]");
    holds(/saved\.otrace: already exists: name another file/.test(await p.textContent("[data-test=problem]")), await p.textContent("[data-test=problem]"));
    await p.click("[data-test=problem] button");
    await p.focus("[data-test=save-to]");
    await p.keyboard.press("Escape");
    holds(await p.isVisible("[data-test=save]"), "to be saved again");
}

export const tests = {
    async a_process_is_watched_saved_and_stopped(w) {
        await withTicker(w, async (pid, { folder, where }) => {
            const server = await view([String(pid)], where);
            try {
                const p = await open(server.url);
                same((await state(p)).live, pid);
                await growsFollowsAndStays(p);
                await saves(p, folder);
                await p.click("[data-test=stop]");
                await p.waitForFunction(() => document.querySelector("[data-test=recording-said]")?.textContent.startsWith("Stopped"));
                await p.waitForSelector("[data-test=ended]");
                holds(!(await p.$("[data-test=follow]")) && !(await p.$("[data-test=stop]")), "nothing to follow or to stop");
                process.kill(pid, 0);
                same(p.faults, []);
            } finally {
                await server.stop();
            }
        });
    },

    async a_file_that_is_being_written_ends_in_good_order(w) {
        const name = "live.otrace";
        await withTicker(w, async (_, { folder, where, end }) => {
            const file = join(folder, name);
            const server = await view([file], where);
            try {
                const p = await open(server.url);
                holds((await state(p)).live > 0, "it is live");
                holds(!(await p.$("[data-test=stop]")), "orca view of a file stops nobody");
                await growsFollowsAndStays(p);
                await saves(p, folder);
                await end();
                await p.waitForSelector("[data-test=ended]");
                await ready(p);
                same(await p.evaluate(() => window.orca.state.meta.value.recording.state), "closed");
                const whole = report(file, "--threads").threads;
                const shown = (await p.evaluate(async () => (await window.orca.state.source.value.report(["threads"], {})).threads));
                same(shown, whole, "threads when it has ended");
                await threadOf(p, "right");
                same(p.faults, []);
            } finally {
                await server.stop();
            }
        }, (folder) => [orca, "record", "-o", join(folder, name), "--"]);
    },

    async a_jvm_that_is_killed_leaves_what_it_recorded(w) {
        await withTicker(w, async (pid, { where }) => {
            const server = await view([String(pid)], where);
            try {
                const p = await open(server.url);
                await grown(p, await state(p));
                process.kill(pid, "SIGKILL");
                await p.waitForFunction(() => document.querySelector("[data-test=ended], [data-test=gone]"));
                await setState(p, "window.orca.state.showAll()");
                holds((await blocks(p, "left")).slept_count > 10, "what was recorded is there");
                const said = await p.textContent("[data-view=findings]");
                holds(/The JVM was killed/.test(said) || (await p.$("[data-test=gone]")), said.slice(0, 300));
                same(p.faults, []);
            } finally {
                await server.stop();
            }
        });
    },
};
