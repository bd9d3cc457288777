// run.mjs [GLOB] - every test of *.test.mjs; each file's `tests` is {name: async (world) => ...}.
//
// `world` is made once: the traces, recorded from real programs, and what is known of them.  A test of a
// file that has `sources` runs with each: the server, and the page on the disk; one whose `needs` says what
// is missing is skipped.
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, closeBrowser, compile, html, jdks, letIn, record, root, shots, view, withPages } from "./lib.mjs";

const pattern = new RegExp(`^${(process.argv[2] ?? "*").replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`);
const say = (line) => process.stdout.write(`${line}\n`);

if (!existsSync(process.env.CHROMIUM ?? "/usr/bin/chromium")) {
    say("ok browser/all # SKIP there is no /usr/bin/chromium");
    process.exit(0);
}
mkdirSync(build, { recursive: true });
// What each test took: tests/run lists the slowest.
const times = join(root, "build/tests/times/browser");
mkdirSync(join(root, "build/tests/times"), { recursive: true });
writeFileSync(times, "");
// All pictures are of one run.
if (pattern.test("shots.server.*"))
    rmSync(shots, { recursive: true, force: true });

const all = jdks();
const world = { jdks: all, jdk: all[0], newest: all[all.length - 1], made: new Map() };
world.classes = compile(all[0]);

/** A trace by its name, recorded when it is first asked for. */
world.trace = (name) => {
    if (!world.made.has(name))
        world.made.set(name, {
            showcase: () => record(world.jdk, "showcase", world.classes, "Showcase", [], ["-e", "all"]),
            virtual: () => record(world.newest, "virtual", world.classes, "Virtual", [], ["-e", "all"]),
            called: () => record(world.jdk, "called", world.classes, "Called", [], ["-m", "Called#hold blocks none+Called#tryIt tries none+Called#tick calls none"]),
            heap: () => join(root, "tests/golden/alloc/heap.otrace"),
            orderbook: () => record(world.jdk, "orderbook", join(root, "build/demo"), "orderbook.Main"),
            sampled: () => record(world.jdk, "sampled", join(root, "build/demo"), "orderbook.Main", ["--seconds", "3"],
                ["-e", "threads+monitors+waits+parks+sleeps+joins+gc+cpu+wall"]),
        }[name]());
    return world.made.get(name);
};

/** Tests wait for frames most of the time. */
const AT_ONCE = 2;
const LIMIT_S = 240;

let passed = 0;
let failed = 0;
async function limited(body) {
    let timer;
    const late = new Promise((_, failed) => { timer = setTimeout(() => failed(new Error(`it took more than ${LIMIT_S} seconds`)), LIMIT_S * 1000); });
    return Promise.race([body(), late]).finally(() => clearTimeout(timer));
}

async function one(name, body) {
    if (!pattern.test(name))
        return;
    const began = Date.now();
    try {
        await withPages(() => limited(body));
        passed++;
        say(`ok browser/${name}`);
    } catch (e) {
        failed++;
        say(`not ok browser/${name} - ${String(e.message ?? e).split("\n")[0].slice(0, 800)}`);
        for (const line of String(e.stack ?? e).split("\n").slice(0, 12))
            say(`# ${line}`);
    }
    appendFileSync(times, `${((Date.now() - began) / 1000).toFixed(2)} - browser/${name}\n`);
}

for (const file of readdirSync(join(root, "tests/browser")).filter((f) => f.endsWith(".test.mjs")).sort()) {
    const suite = await import(join(root, "tests/browser", file));
    const base = file.replace(".test.mjs", "");
    for (const kind of suite.sources ?? [null]) {
        const wanted = Object.keys(suite.tests).filter((t) => pattern.test(`${base}.${kind ? `${kind}.` : ""}${t}`));
        if (!wanted.length)
            continue;
        const lacks = suite.needs?.(world);
        if (lacks) {
            for (const name of wanted)
                say(`ok browser/${base}.${kind ? `${kind}.` : ""}${name} # SKIP ${lacks}`);
            continue;
        }
        let source = null;
        // Recording holds everything up: not while tests look at their clocks.
        for (const name of suite.traces ?? [])
            if (name !== "virtual" || world.newest.version >= 21)
                world.trace(name);
        try {
            source = !kind ? null : kind === "html" ? html(world.trace(suite.trace), `${base}-${suite.trace}`) : await view([world.trace(suite.trace)]);
        } catch (e) {
            failed++;
            say(`not ok browser/${base}.${kind} - ${String(e.message).split("\n")[0]}`);
            continue;
        }
        // The server's link is good once: what it has opened is for all tests of the source.
        const shared = { ...world, kind, source, options: {} };
        if (kind === "server") {
            shared.options = await letIn(source.url);
            shared.url = new URL("/", source.url).href;
        } else if (source) {
            shared.url = source.url;
        }
        const left = [...wanted];
        const some = async () => {
            for (let name = left.shift(); name; name = left.shift()) {
                const test = suite.tests[name];
                await one(`${base}.${kind ? `${kind}.` : ""}${name}`, () => test(shared));
            }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, some));
        await source?.stop();
    }
}
await closeBrowser();
process.exit(failed ? 1 : 0);
