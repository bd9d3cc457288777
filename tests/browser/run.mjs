// run.mjs [GLOB] - every test of *.test.mjs; each file's `tests` is {name: async (world) => ...}.
//
// `world` is made once: the traces, recorded from real programs, and what is known of them; a file names those that it
// needs in `trace` or `traces`.  A test of a file that has `sources` runs with each: the server, and the page on the disk; one
// whose `needs` says what is missing is skipped.  Without GLOB and ORCA_TESTS=all: those tests that tests/plan leaves, where
// "alternate" means one of the sources.
import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { CHROMIUM, build, closeBrowser, compile, html, jdks, letIn, record, root, shots, slowness, view, withPages } from "./lib.mjs";

/** As the shell has it: * and @(ONE|OTHER). */
const glob = (text) => new RegExp(`^${text.replace(/[.+?^${}[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("@(", "(?:")}$`);
const pattern = glob(process.argv[2] ?? "*");
const say = (line) => process.stdout.write(`${line}\n`);

if (!CHROMIUM) {
    say("ok browser/all # SKIP there is no chromium-headless-shell and no chromium in /usr/bin");
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

const recordings = {
    showcase: () => record(world.jdk, "showcase", world.classes, "Showcase", [], ["-e", "all"]),
    virtual: () => record(world.newest, "virtual", world.classes, "Virtual", [], ["-e", "all"]),
    called: () => record(world.jdk, "called", world.classes, "Called", [], ["-m", "Called#hold blocks none+Called#tryIt tries none+Called#tick calls none"]),
    reads: () => record(world.jdk, "reads", world.classes, "Reads"),
    heap: () => join(root, "tests/golden/alloc/heap.otrace"),
    orderbook: () => record(world.jdk, "orderbook", join(root, "build/demo"), "orderbook.Main"),
    sampled: () => record(world.jdk, "sampled", join(root, "build/demo"), "orderbook.Main", ["--seconds", "3"],
        ["-e", "threads+monitors+waits+parks+sleeps+joins+gc+cpu+wall"]),
};

/** A trace by its name; those that the tests to come name are there. */
world.trace = (name) => {
    const file = world.made.get(name);
    if (!file)
        throw new Error(`the recording ${name} was not named by the file's trace or traces`);
    return file;
};

/** Tests wait for frames and answers some of the time. */
const AT_ONCE = availableParallelism() + 1;
const TEST_LIMIT_S = 90;
/** Once this number of tests did not end, the browser does not answer: the others do not wait for it, too. */
const MOST_LATE = 4;

let passed = 0;
let failed = 0;
let late = 0;
/** Ends a hang; on a busy machine later. */
async function limited(body) {
    let timer;
    if (late >= MOST_LATE)
        throw new Error(`not run: ${late} tests before it did not end`);
    const ended = new Promise((_, failed) => {
        const give_up = () => ++late && failed(new Error(`it did not end within ${TEST_LIMIT_S} seconds, nor in so many more for each time that the machine is slower`));
        timer = setTimeout(() => { timer = setTimeout(give_up, TEST_LIMIT_S * 1000 * slowness()); }, TEST_LIMIT_S * 1000);
    });
    return Promise.race([body(), ended]).finally(() => clearTimeout(timer));
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

const plan = process.argv[2] || process.env.ORCA_TESTS === "all" ? [] : readFileSync(join(root, "tests/plan"), "utf8").split("\n");
const planned = (when) => plan.map((line) => new RegExp(`^${when} +browser/(\\S+)`).exec(line)?.[1]).filter(Boolean).map(glob);
/** What tests/plan leaves to `./dev check`, by whole names, and what has one source each, by turns, by those without it. */
const later = planned("check");
const alternate = planned("alternate");
/** Whether the N-th test of a file runs now with the M-th of that number of sources. */
const now = (file, test, n, m, sources) => !alternate.some((a) => a.test(`${file}.${test}`)) || n % sources === m;

/** One entry for each file and source: {name, suite, kind, tests}. */
const groups = [];
for (const path of readdirSync(join(root, "tests/browser")).filter((f) => f.endsWith(".test.mjs")).sort()) {
    const suite = await import(join(root, "tests/browser", path));
    const file = path.replace(".test.mjs", ""), sources = suite.sources ?? [null];
    for (const [m, kind] of sources.entries()) {
        const name = `${file}.${kind ? `${kind}.` : ""}`;
        const tests = Object.keys(suite.tests).filter((t, n) => pattern.test(name + t) && !later.some((l) => l.test(name + t)) && now(file, t, n, m, sources.length));
        const lacks = tests.length ? suite.needs?.(world) : null;
        if (lacks)
            for (const t of tests)
                say(`ok browser/${name}${t} # SKIP ${lacks}`);
        else if (tests.length)
            groups.push({ name, suite, kind, tests });
    }
}

// All recordings that they need, at a time: their programs sleep more than they compute.
const needed = new Set(groups.flatMap((g) => [...(g.suite.traces ?? []), ...(g.suite.trace ? [g.suite.trace] : [])]));
await Promise.all([...needed].filter((name) => name !== "virtual" || world.newest.version >= 21)
    .map(async (name) => world.made.set(name, await recordings[name]())));

/** What the tests of a group have in common, made for the first of them and stopped after the last. */
async function begin({ name, suite, kind }) {
    const source = !kind ? null : kind === "html" ? html(world.trace(suite.trace), `${name}${suite.trace}`) : await view([world.trace(suite.trace)]);
    const shared = { ...world, kind, source, options: {} };
    // The server's link is good once: what it has opened is for all tests of the source.
    if (kind === "server") {
        shared.options = await letIn(source.url);
        shared.url = new URL("/", source.url).href;
    } else if (source) {
        shared.url = source.url;
    }
    return shared;
}

// The tests of all files are one queue, so that no processor waits for the last one of a file.
const queue = groups.flatMap((g) => {
    g.left = g.tests.length;
    return g.tests.map((t) => [g, t]);
});
const some = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
        const [g, t] = next;
        await one(`${g.name}${t}`, async () => g.suite.tests[t](await (g.shared ??= begin(g))));
        if (--g.left === 0)
            await g.shared.then((s) => s.source?.stop(), () => undefined);
    }
};
await Promise.all(Array.from({ length: AT_ONCE }, some));
await Promise.race([closeBrowser(), new Promise((done) => setTimeout(done, 30000))]);
process.exit(failed ? 1 : 0);
