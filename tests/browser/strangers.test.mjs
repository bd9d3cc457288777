// strangers.test.mjs - who else is on this machine: a hostile server at another port of 127.0.0.1 with its page in the
// user's own browser, other users who read command lines, and connections that never end.
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LIMIT_S, ask, build, holds, keyOf, letIn, open, orca, page, ready, same, slowness, until, view } from "./lib.mjs";

export const traces = ["showcase"];

async function withView(w, body) {
    const server = await view([w.trace("showcase")]);
    try {
        await body(server, new URL("/", server.url).href);
    } finally {
        await server.stop();
    }
}

// --- the hostile server ---------------------------------------------------------------------------

/** It keeps everything that it receives, and gives its visitors cookies with our names. */
async function hostile(port, body) {
    const heard = [];
    const server = createServer((request, response) => {
        let text = "";
        request.on("data", (part) => { text += part; });
        request.on("end", () => {
            heard.push(JSON.stringify([request.url, request.rawHeaders, text]));
            const cookies = [`orca-${port}=0123456789abcdef0123456789abcdef; Path=/`, "orca-key=0123456789abcdef0123456789abcdef; Path=/"];
            response.writeHead(200, { "Content-Type": "text/html", "Set-Cookie": cookies, "Access-Control-Allow-Origin": "*" }).end("<!doctype html><title>hostile</title>");
        });
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    try {
        await body({ heard, port: server.address().port });
    } finally {
        server.closeAllConnections();
        server.close();
    }
}

/** What its page tries, in the user's browser: whatever it could read. */
async function tries(to, folder, limitMs) {
    const got = [];
    const note = (what, text) => got.push([what, String(text ?? "").slice(0, 20_000)]);
    // The browser says of each how it ended; the limit is for one that hangs.
    const unsaid = () => note("limit", "loaded? It did not say so");
    const wait = (make) => new Promise((done) => {
        const limit = setTimeout(() => { unsaid(); done(); }, limitMs);
        make(() => { clearTimeout(limit); done(); });
    });
    const guess = "0123456789abcdef0123456789abcdef";
    note("its own cookies", document.cookie);
    note("its own storage", JSON.stringify({ ...localStorage }));
    // Asking outright, in every mode, with whatever header.
    for (const path of ["", "api/state", "api/t1/meta", "api/live", "api/start"])
        for (const init of [{}, { credentials: "include" }, { mode: "no-cors", credentials: "include" }, { headers: { "Orca-Key": guess } }, { mode: "no-cors", cache: "force-cache", credentials: "include" }])
            await fetch(to + path, { ...init, signal: AbortSignal.timeout(3000) }).then(async (r) => note(`fetch ${path}`, await r.text()), () => undefined);
    // Changing something: what needs no permission of ours to be sent.
    const save = JSON.stringify({ trace: 1, to: `${folder}/stolen.otrace` });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json"])
        for (const path of ["api/save", "api/stop", "api/enter", "enter"])
            await fetch(to + path, { method: "POST", mode: type === "application/json" ? "cors" : "no-cors", credentials: "include", headers: { "Content-Type": type }, body: path.endsWith("enter") ? `token=${guess}` : save })
                .then(async (r) => note(`post ${path}`, await r.text()), () => undefined);
    navigator.sendBeacon(`${to}api/save`, new Blob([save], { type: "text/plain" }));
    // Frames, forms into frames, windows.
    for (const path of ["", "api/state", "start", "heap"])
        await wait((done) => {
            const f = document.createElement("iframe");
            f.onload = () => { try { note(`frame ${path}`, f.contentDocument.body.innerHTML); } catch { /* closed, as it should be */ } done(); };
            f.src = to + path;
            document.body.append(f);
        });
    for (const [path, encoding] of [["api/save", "text/plain"], ["enter", "application/x-www-form-urlencoded"]])
        await wait((done) => {
            const f = document.createElement("iframe");
            const form = document.createElement("form");
            f.name = `into-${path}`;
            document.body.append(f, form);
            f.onload = () => { try { note(`form ${path}`, f.contentDocument.body.innerHTML); } catch { /* closed */ } done(); }; // not of the empty page before
            Object.assign(form, { method: "post", action: to + path, enctype: encoding, target: f.name });
            const field = Object.assign(document.createElement("input"), path === "enter" ? { name: "token", value: guess } : { name: `${save.slice(0, -1)},"x":"`, value: '"}' });
            form.append(field);
            form.submit();
        });
    const opened = window.open(to);
    const isThere = () => { try { return opened.location.href !== "about:blank"; } catch { return true; /* another origin's */ } };
    for (const end = Date.now() + limitMs; !isThere() && Date.now() < end;)
        await new Promise((done) => setTimeout(done, 20));
    if (!isThere())
        unsaid();
    for (const read of [() => opened.document.body.innerHTML, () => opened.localStorage.getItem("orca-key"), () => opened.orca, () => opened.location.href])
        try { note("window", read()); } catch { /* another origin's */ }
    opened?.close();
    // Other ways to have something loaded.
    for (const tag of ["script", "img", "link", "object"])
        await wait((done) => {
            const e = document.createElement(tag);
            e.onload = () => { note(tag, "loaded"); done(); };
            e.onerror = () => done();
            Object.assign(e, tag === "link" ? { rel: "stylesheet", href: `${to}api/state` } : tag === "object" ? { data: `${to}api/state` } : { src: `${to}api/state` });
            document.body.append(e);
        });
    await import(`${to}api/state`).then(() => note("import", "loaded"), () => undefined);
    await wait((done) => {
        const s = new EventSource(`${to}api/live`, { withCredentials: true });
        s.onopen = () => note("events", "open");
        s.onmessage = (e) => note("events", e.data);
        s.onerror = () => { s.close(); done(); };
    });
    await wait((done) => {
        const s = new WebSocket(`${to.replace("http", "ws")}api/live`);
        s.onopen = () => { note("socket", "open"); done(); };
        s.onmessage = (e) => note("socket", e.data);
        s.onerror = () => done();
    });
    return got;
}

/** What nobody but the owner may see: the trace's names, and that anything was loaded at all. */
const leaks = (text, secrets) => /showcase|orca-view-1|"gen"|loaded|^open$/.test(text) || secrets.some((s) => text.includes(s));

/** Use what was heard as a program would, which sends whatever headers it wants. */
async function replay(base, heard) {
    const words = [...new Set(heard.flatMap((h) => h.match(/[0-9a-f]{32}/g) ?? []))];
    const cookies = [...new Set(heard.flatMap((h) => JSON.parse(h)[1].filter((_, k, all) => /^cookie$/i.test(all[k - 1] ?? ""))))];
    const origin = base.slice(0, -1);
    const all = [...cookies.map((cookie) => ({ cookie })), ...words.flatMap((w) => [{ "Orca-Key": w }, { cookie: `orca-${new URL(base).port}=${w}` }])];
    for (const headers of all)
        same((await fetch(`${base}api/state`, { headers: { ...headers, origin } })).status, 403, `with ${JSON.stringify(headers)}`);
    for (const token of words)
        same((await fetch(`${base}api/enter`, { method: "POST", headers: { origin }, body: new URLSearchParams({ token }) })).status, 403, `with the token ${token}`);
    return all.length;
}

// --- slow connections -----------------------------------------------------------------------------

/** So many, each of which says a little at a time for ever, and comes again when it is turned out: run in a process of their own. */
function come(connect, port, n) {
    const here = new Set();
    const one = (k) => new Promise((done) => {
        const s = connect(port, "127.0.0.1");
        here.add(s);
        s.on("connect", () => { s.write(k % 3 ? `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX: ` : ""); done(); });
        s.on("error", done);
        s.on("close", () => {
            here.delete(s);
            done();
            setTimeout(() => void one(k), 20);
        });
    });
    setInterval(() => { for (const s of here) if (s.writable && s.bytesWritten) s.write("x"); }, 500);
    void Promise.all(Array.from({ length: n }, (_, k) => one(k))).then(() => console.log("here"));
}

/** They are another user's where this one may become nobody: of one's own connections any may have to make room for the others.  The
 *  result ends them. */
async function slow(port, n) {
    const code = `(${come})(require("node:net").connect, ${port}, ${n})`;
    const as = process.getuid() === 0 ? ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] : [];
    const [command, ...args] = [...as, process.execPath, "-e", code];
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (chunk) => { said += chunk; });
    await until(() => said || child.exitCode !== null, "the slow ones have come");
    same(child.exitCode, null, "the slow ones");
    return () => child.kill("SIGKILL");
}

export const tests = {
    async a_hostile_server_at_another_port_learns_and_changes_nothing(w) {
        const folder = join(build, "hostile");
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
        await withView(w, (server, base) => hostile(new URL(base).port, async ({ heard, port }) => {
            const p = await open(server.url);
            const secrets = [await keyOf(p), new URL(server.url).searchParams.get("token")].filter(Boolean);
            // Both are one site, and one host, to a browser and its cookie jar.
            for (const name of ["127.0.0.1", "localhost"]) {
                const q = await p.context().newPage();
                await q.goto(`http://${name}:${port}/`);
                await q.reload();
                for (const [what, text] of await q.evaluate(([code, to, at, limit]) => new Function(`return (${code})`)()(to, at, limit), [tries.toString(), base, folder, LIMIT_S * 1000 * slowness()]))
                    holds(!leaks(text, secrets), `${name}: by "${what}": ${text.slice(0, 300)}`);
                await q.close();
            }
            holds(heard.length >= 4, `the hostile server heard ${heard.length} requests`);
            for (const h of heard)
                holds(!leaks(h, secrets), `it heard ${h.slice(0, 600)}`);
            holds(await replay(base, heard) > 2, "something to be replayed");
            same(readdirSync(folder), [], "files");
            // The owner has noticed nothing.
            await p.reload();
            await ready(p);
            same((await ask(p, "/api/state"))[0], 200);
            same(p.faults, []);
        }));
    },

    async cookies_of_others_are_not_in_the_way(w) {
        await withView(w, (server, base) => hostile(new URL(base).port, async ({ port }) => {
            const p = await open(server.url);
            const q = await p.context().newPage();
            await q.goto(`http://127.0.0.1:${port}/`);
            await q.evaluate(() => { for (let k = 0; k < 40; k++) document.cookie = `c${k}=${"x".repeat(3000)}; path=/`; });
            // What is open goes on, as it sends none.
            await p.evaluate(() => window.orca.state.show({ from: 1e8, to: 2e8 }));
            await ready(p);
            same(p.faults, []);
            // The page itself receives the reason.
            const answer = await q.goto(base);
            same(answer.status(), 431);
            holds(/Cookies of other servers on 127\.0\.0\.1/.test(await answer.text()), await answer.text());
            await p.context().clearCookies();
            await p.reload();
            await ready(p);
        }));
    },

    async the_browser_is_started_with_a_file(w) {
        // Where another user, too, may be in: nobody's browser is started by root.
        const folder = join(tmpdir(), `orca-browser-test-${process.pid}`);
        const home = join(folder, "home");
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(home, { recursive: true });
        mkdirSync(join(folder, "bin"));
        const trace = join(folder, "showcase.otrace");
        copyFileSync(w.trace("showcase"), trace);
        writeFileSync(join(folder, "bin/xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$@" >${home}/said.new && mv ${home}/said.new ${home}/said\n`);
        chmodSync(join(folder, "bin/xdg-open"), 0o755);
        for (const f of [folder, home])
            chmodSync(f, 0o755);
        chmodSync(trace, 0o644);
        const root = process.getuid() === 0;
        if (root)
            await new Promise((done) => spawn("chown", ["-R", "nobody", home]).on("exit", done));
        const command = [...(root ? ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] : []), orca, "view", trace];
        const child = spawn(command[0], command.slice(1), { stdio: "ignore", env: { ...process.env, HOME: home, XDG_STATE_HOME: home, DISPLAY: ":7", PATH: `${join(folder, "bin")}:${process.env.PATH}` } });
        try {
            await until(() => existsSync(join(home, "said")) || child.exitCode !== null, "a browser is started");
            same(child.exitCode, null);
            const url = readFileSync(join(home, "said"), "utf8").trim();
            const file = decodeURI(new URL(url).pathname);
            same(statSync(file).mode & 0o777, 0o600);
            const token = /value="([0-9a-f]{32})"/.exec(readFileSync(file, "utf8"))[1];
            const p = await page();
            const asked = [];
            p.on("request", async (r) => asked.push(`${r.url()} ${(await r.allHeaders()).referer ?? ""}`));
            await p.goto(url).catch(() => undefined); // it leads on at once
            await p.waitForFunction(() => location.protocol === "http:" && window.orca?.state?.meta.value);
            await ready(p);
            const base = /^http:\/\/127\.0\.0\.1:\d+\/$/;
            holds(base.test(p.url()), p.url());
            // It comes back after a reload, without a question, in other windows, and stays when there is nothing to go back to.
            await p.reload();
            await ready(p);
            const q = await p.context().newPage();
            await q.goto(p.url());
            await ready(q);
            await p.goBack();
            holds(!p.url().startsWith("file:"), `back leads to ${p.url()}`);
            for (const line of asked)
                holds(!line.includes(token) && !/ ./.test(line), `asked for ${line}`);
            same(await q.context().cookies(), []);
            await until(() => !existsSync(file), "the file is gone");
            same(q.faults ?? [], []);
            same(p.faults, []);
        } finally {
            child.kill("SIGINT");
            await new Promise((done) => (child.exitCode === null ? child.on("exit", done) : done()));
            rmSync(folder, { recursive: true, force: true });
        }
    },

    async a_question_whose_connection_is_turned_out_is_asked_again(w) {
        await withView(w, async (server, base) => {
            const p = await open(base, await letIn(server.url));
            const asked = new Map();
            await p.route("**/api/t1/**", (route) => {
                const url = route.request().url(), n = (asked.get(url) ?? 0) + 1;
                asked.set(url, n);
                return n < 3 ? route.abort("connectionreset") : route.continue();
            });
            await p.reload();
            await ready(p);
            holds(asked.size > 2, `asked ${JSON.stringify([...asked])}`);
            await until(() => [...asked.values()].every((n) => n >= 3), "each was asked until it was let in");
            same(p.faults.filter((f) => !f.includes("net::ERR_CONNECTION_RESET")), []);
        });
    },

    async a_thousand_slow_connections_keep_nobody_out(w) {
        await withView(w, async (server, base) => {
            const { port } = new URL(base);
            const end = await slow(Number(port), 1000);
            try {
                const entered = await letIn(server.url);
                const p = await open(base, entered);
                for (let k = 0; k < 3; k++) {
                    await p.reload();
                    await ready(p);
                    for (let i = 0; i < 20; i++)
                        same((await ask(p, `/api/state?n=${i}`))[0], 200);
                }
                await p.click("[data-test=tab-statistics]");
                await ready(p);
                same(p.faults, []);
            } finally {
                end();
            }
        });
    },
};
