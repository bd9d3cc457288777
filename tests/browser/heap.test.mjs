// heap.test.mjs - the page of `orca view` with a heap dump, made by jcmd of a program whose heap is known (Shop.java).
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, build, holds, near, orca, page, run, same, shot, view } from "./lib.mjs";

const made = new Map();

/** The dump of a JDK, made when it is first asked for. */
function dump(w, jdk, zip, orders = 300) {
    const name = `shop-${orders}-${jdk.version}${zip ? ".hprof.gz" : ".hprof"}`;
    if (!made.has(name))
        made.set(name, makeDump(w, jdk, join(build, name), zip, orders));
    return made.get(name);
}

async function makeDump(w, jdk, file, zip, orders) {
    rmSync(file, { force: true });
    const jvm = spawn(`${jdk.home}/bin/java`, ["-Xmx256m", "-cp", w.classes, "Shop", String(orders)], { stdio: ["pipe", "pipe", "ignore"] });
    try {
        await new Promise((done) => jvm.stdout.once("data", done));
        run(`${jdk.home}/bin/jcmd`, [String(jvm.pid), "GC.heap_dump", ...(zip ? ["-gz=1"] : []), file]);
    } finally {
        jvm.stdin.end();
    }
    holds(existsSync(file), `jcmd made no ${file}`);
    return file;
}

/** Runs a body with the page of a dump that has been read to its end; with an earlier one in `args`. */
async function withHeap(file, body, options = {}, args = []) {
    const server = await view([...args, file]);
    try {
        const p = await page(options);
        await p.goto(server.url);
        await p.waitForFunction(() => window.orca?.heap?.stage.value === "ready");
        await settled(p);
        await body(p, server);
        same(p.faults, []);
    } finally {
        await server.stop();
    }
}

async function settled(p) {
    await p.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await p.waitForFunction(() => window.orca.pending() === 0);
    await p.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

const rows = (p, table) => p.$$eval(`[data-test=${table}] .table-rows [role=row]`, (all) => all.map((r) => [...r.querySelectorAll("[role=gridcell]")].map((c) => c.textContent)));

/** A number with its unit, as bytes. */
const size = (text) => parseFloat(text) * { B: 1, kB: 1024, MB: 1024 ** 2 }[text.split(" ")[1]];

async function chooseOrders(p) {
    await p.click("[data-test=tab-classes]");
    await p.fill("[data-test=classes-filter]", "Shop$Order");
    await p.waitForFunction(() => document.querySelectorAll("[data-test=classes] .table-rows [role=row]").length === 1);
    await p.click("[data-test=classes] .table-rows [role=row]");
    await p.waitForSelector("[data-test=instances] .table-rows [role=row]");
    await settled(p);
}

async function chooseBiggest(p) {
    await chooseOrders(p);
    await p.click("[data-test=instances] .table-rows [role=row]");
    await p.waitForSelector("[data-test=path]");
    await settled(p);
}

/** What of the page is wider than it. */
const isTooWide = (p) => p.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth || document.body.scrollWidth > document.body.clientWidth);

const field = (p, name) => p.textContent(`[data-test=fields] [data-field="${name}"] td:nth-child(3)`);

async function fromClassToRoot(p) {
    await chooseOrders(p);
    const [[name, objects, , , retained]] = await rows(p, "classes");
    same([name, objects], ["Shop$Order", "300"], "the class");
    near(size(retained), 300 * 301 / 2 * 1040, 0.05, "what all orders keep");
    await chooseBiggest(p);
    same(await p.textContent("[data-test=object-label]"), "Shop$Order");
    same(await field(p, "number"), "300");
    same(await field(p, "price"), "0.1");
    same(await field(p, "grade"), "'A' (65)");
    same(await field(p, "customer"), 'String "customer 300"');
    near(size((await p.textContent("[data-test=object-retained]")).split(",")[0]), 300 * 1040, 0.05, "what it keeps");
    const path = await p.$$eval("[data-test=path] li", (all) => all.map((e) => e.textContent.trim()));
    holds(path.some((t) => t.startsWith("static orders")) && path.at(-1) === "[299] this object", `the path is ${path.join(" / ")}`);
    const referrers = await p.$$eval("[data-test=referrers] tr", (all) => all.map((e) => e.textContent));
    holds(referrers.length === 2 && referrers.some((t) => t.includes(".referent weak")), `who refers to it: ${referrers.join(" / ")}`);
}

export const tests = {
    async from_a_class_to_the_root(w) {
        await withHeap(await dump(w, w.jdk, false), async (p) => {
            await fromClassToRoot(p);
            await shot(p, "heap-classes");
            holds(!(await isTooWide(p)), "the page is wider than it should be");
            // To an array, its elements, a String; and back.
            await p.click('[data-test=fields] [data-field="lines"] .heap-object');
            await p.waitForFunction(() => document.querySelector("[data-test=object-label]")?.textContent === "Shop$Line[300]");
            await p.click("[data-test=more-elements]");
            await p.waitForFunction(() => document.querySelectorAll("[data-test=elements] tr").length === 200);
            await p.goBack();
            await p.waitForFunction(() => document.querySelector("[data-test=object-label]")?.textContent === "Shop$Order");
            await p.click('[data-test=fields] [data-field="customer"] .heap-object');
            await p.waitForSelector("[data-test=string]");
            same(await p.textContent("[data-test=string]"), "customer 300");
            // All pages of the instances.
            await p.click("[data-test=more-instances]");
            await settled(p);
            await p.click("[data-test=more-instances]");
            await p.waitForSelector("[data-test=more-instances]", { state: "detached" });
            // Reloaded, it is the same object.
            await p.reload();
            await p.waitForSelector("[data-test=string]");
        });
    },

    async a_compressed_dump_and_statics(w) {
        await withHeap(await dump(w, w.newest, true), async (p) => {
            await fromClassToRoot(p);
            await p.fill("[data-test=classes-filter]", "");
            await p.evaluate(() => { window.orca.heap.chosenClass.value = null; });
            const path = await p.$$("[data-test=path] .heap-object");
            for (const step of path)
                if ((await step.textContent()) === "class Shop")
                    await step.click();
            await p.waitForSelector("[data-test=statics]");
            same(await p.textContent('[data-test=statics] [data-field="version"] td:nth-child(3)'), "42");
        });
    },

    async the_tree_by_keyboard(w) {
        await withHeap(await dump(w, w.jdk, false), async (p) => {
            await p.keyboard.press("3");
            await p.waitForSelector("[data-test=tree] [role=row]");
            await p.focus("[data-test=tree]");
            const names = () => p.$$eval("[data-test=tree] [role=row]", (all) => all.slice(0, 4).map((r) => r.querySelector(".heap-tree-name").innerText.trim()));
            // class Shop -> ArrayList -> Object[] -> orders, the largest first.
            for (let depth = 2; depth <= 4; depth++) {
                await p.keyboard.press("ArrowRight");
                await p.waitForSelector(`[data-test=tree] [aria-level="${depth}"]`);
                await p.keyboard.press("ArrowRight");
            }
            const seen = (await names()).map((n) => n.replace(/^[▾▸]\s*/, "").replace(/\d+/, "N"));
            same(seen, ["class Shop", "ArrayList", "Object[N]", "Shop$Order"], "the tree");
            same(await p.textContent("[data-test=tree-more]").then((t) => /200 others: show more/.test(t)), true, "what is folded");
            await p.keyboard.press("Enter");
            await p.waitForFunction(() => document.querySelector("[data-test=object-label]")?.textContent === "Shop$Order");
            await settled(p);
            await shot(p, "heap-tree");
            await p.click("[data-test=tree-more]");
            await p.waitForFunction(() => /100 others/.test(document.querySelector("[data-test=tree-more]")?.textContent));
            await p.focus("[data-test=tree]");
            await p.keyboard.press("Home");
            await p.keyboard.press("ArrowLeft");
            await p.waitForFunction(() => !document.querySelector('[data-test=tree] [aria-level="2"]'));
        });
    },

    async the_icicle_zooms(w) {
        await withHeap(await dump(w, w.jdk, false), async (p) => {
            await p.keyboard.press("4");
            await p.waitForSelector("[data-test=flame-canvas]");
            const box = await p.locator("[data-test=flame-canvas]").boundingBox();
            const over = async (row) => {
                await p.mouse.move(box.x + 40, box.y + 18 * row + 8);
                await p.mouse.move(box.x + 41, box.y + 18 * row + 9);
                return (await p.textContent("[data-test=flame-tip]"));
            };
            holds(/^class Shop\d.* MB, 9\d % of all/.test(await over(1)), `the tooltip says ${await over(1)}`);
            await p.mouse.click(box.x + 40, box.y + 18 * 3 + 8);
            await p.waitForFunction(() => /Object\[\]$/.test(document.querySelector("[data-test=icicle-crumbs]")?.innerText.trim()));
            await settled(p);
            holds(/^Object\[366\]|^java.lang.Object\[/.test(await p.textContent("[data-test=object-label]")), "what was clicked is in the inspector");
            await shot(p, "heap-icicle");
            // Down to the widest child by keyboard, and out again.
            await p.focus("[data-test=flame-canvas]");
            await p.keyboard.press("ArrowDown");
            await p.keyboard.press("Enter");
            await p.waitForFunction(() => document.querySelectorAll("[data-test=icicle-crumbs] button").length === 5);
            await settled(p);
            await p.focus("[data-test=flame-canvas]");
            for (const left of [4, 3, 2, 1]) {
                await p.keyboard.press("Escape");
                await p.waitForFunction((n) => document.querySelectorAll("[data-test=icicle-crumbs] button").length === n, left);
                await settled(p);
            }
            await p.click("[data-test=theme]");
            await settled(p);
            await shot(p, "heap-icicle-light");
        });
    },

    async suspects_come_first_and_lead_on(w) {
        await withHeap(await dump(w, w.newest, false), async (p) => {
            const [text] = await p.$$eval("[data-test=suspect-text]", (all) => all.map((e) => e.textContent));
            holds(/^java.lang.Object\[\d+\] \(0x[0-9a-f]+\) keeps \d+ MB: 9\d\.\d % of the live heap\. It is kept by class Shop .* 300 Shop\$Order/.test(text), `it says ${text}`);
            await shot(p, "heap-suspects");
            await p.click("[data-test=suspect-object]");
            await p.waitForFunction(() => /^java.lang.Object\[/.test(document.querySelector("[data-test=object-label]")?.textContent));
            await p.click("[data-test=suspect-tree]");
            await p.waitForSelector("[data-test=tree] [role=row]");
            await settled(p);
            same(await p.$$eval("[data-test=tree-crumbs] button", (all) => all.map((b) => b.textContent)), ["roots", "class Shop", "ArrayList", "Object[]"]);
            same(await p.$$eval("[data-test=tree] [role=row]", (all) => all[0].querySelector(".heap-tree-name").innerText.replace(/^[▾▸]\s*/, "")), "Shop$Order", "what stands on top of the tree");
            await p.click("[data-test=tree-crumbs] button");
            await p.waitForFunction(() => document.querySelector("[data-test=tree] .heap-tree-name")?.innerText.includes("class Shop"));
            await p.goBack();
            await p.waitForSelector("[data-test=tree-crumbs]");
            await p.goBack();
            await p.waitForSelector("[data-test=suspect-icicle]");
            await p.click("[data-test=suspect-icicle]");
            await p.waitForFunction(() => /Object\[\]$/.test(document.querySelector("[data-test=icicle-crumbs]")?.innerText.trim()));
        });
    },

    async what_is_wasted(w) {
        await withHeap(await dump(w, w.jdk, false), async (p) => {
            await p.keyboard.press("5");
            await p.fill("[data-test=strings-filter]", "as usual");
            await p.waitForFunction(() => document.querySelectorAll("[data-test=strings] .table-rows [role=row]").length === 1);
            const [[text, strings, length, , by]] = await rows(p, "strings");
            same([text, strings, length, by], ['"as usual"', "301", "8", "Shop$Order.remark and 1 more"], "those of the orders, and the constant");
            await p.click("[data-test=strings] .table-rows [role=row]");
            await p.waitForSelector("[data-test=string-detail]");
            await shot(p, "heap-strings");
            await p.click("[data-test=string-detail] .link");
            await p.waitForSelector("[data-test=instances]");
            same(await p.evaluate(() => window.orca.heap.tab.value), "classes", "the field leads to its class");
            await p.keyboard.press("6");
            await p.waitForSelector("[data-test=collections-sum]");
            await p.click("[data-test=collections-part-fields]");
            await p.fill("[data-test=collection-fields-filter]", "notes");
            await p.waitForFunction(() => document.querySelectorAll("[data-test=collection-fields] .table-rows [role=row]").length === 1);
            same((await rows(p, "collection-fields"))[0].slice(0, 3), ["Shop$Order.notes", "300", "300"], "all lists of notes are empty");
            await shot(p, "heap-collections");
            await p.click("[data-test=collections-part-arrays]");
            await p.waitForSelector("[data-test=empty-arrays] .table-rows [role=row]");
        });
    },

    async threads_and_their_frames(w) {
        await withHeap(await dump(w, w.newest, false), async (p) => {
            await p.keyboard.press("7");
            await p.fill("[data-test=threads-filter]", "main");
            await p.waitForFunction(() => document.querySelectorAll("[data-test=threads] .table-rows [role=row]").length === 1);
            await p.focus("[data-test=threads] .table-box");
            await p.keyboard.press("Enter");
            await p.waitForSelector("[data-test=stack] .heap-stack");
            const held = await p.$$eval("[data-test=stack] .heap-stack > li", (all) => all.map((e) => e.innerText).filter((t) => t.includes("Shop.main")));
            holds(held.length === 1 && /byte\[200000\]/.test(held[0]), `main holds ${held}`);
            await shot(p, "heap-threads");
            await p.click('[data-test=stack] .heap-object:has-text("byte[200000]")');
            await p.waitForFunction(() => document.querySelector("[data-test=object-label]")?.textContent === "byte[200000]");
            await p.reload();
            await p.waitForSelector("[data-test=stack] .heap-stack");
        });
    },

    async what_has_grown(w) {
        const earlier = await dump(w, w.jdk, true, 280);
        await withHeap(await dump(w, w.jdk, false), async (p) => {
            await p.keyboard.press("8");
            await p.fill("[data-test=growth-filter]", "Shop$");
            await p.waitForFunction(() => document.querySelectorAll("[data-test=growth] .table-rows [role=row]").length === 3);
            const all = await rows(p, "growth");
            same(all.map((r) => r[0]), ["Shop$Line", "Shop$Line[]", "Shop$Order"], "by growth, the most first");
            same(all.map((r) => r.slice(4)), [["+5,810", "39,340", "45,150"], ["+20", "280", "300"], ["+20", "280", "300"]], "objects");
            holds((await p.textContent("[data-test=growth-sum]")).startsWith("shop-280"), "the earlier dump is named");
            await p.click("[data-test=growth] [data-column=name]");
            await p.waitForFunction(() => document.querySelector('[data-test=growth] [data-column="name"]')?.getAttribute("aria-sort") === "ascending");
            await p.click("[data-test=growth] .table-rows [role=row]");
            await p.click("[data-test=growth-class]");
            await p.waitForSelector("[data-test=instances]");
            await p.goBack();
            await settled(p);
            await shot(p, "heap-growth");
        }, {}, ["--diff", earlier]);
        await withHeap(await dump(w, w.jdk, false), async (p) => {
            await p.keyboard.press("8");
            same(await p.$("[data-test=tab-diff]"), null, "without an earlier dump there is no growth");
            same(await p.evaluate(() => window.orca.heap.tab.value), "suspects");
        });
    },

    async a_dump_that_is_cut_short(w) {
        const whole = readFileSync(await dump(w, w.jdk, false));
        const file = join(build, "shop-cut.hprof");
        writeFileSync(file, whole.subarray(0, Math.floor(whole.length * 0.7)));
        await withHeap(file, async (p) => {
            const said = await p.textContent("[data-test=partial]");
            holds(/incomplete/.test(said) && /truncated at offset 0x/.test(said), "it says that something is missing, and where");
            holds(/shop-cut\.hprof/.test(said) && /orca heap dump PID/.test(said), "in which file, and what helps");
            for (const tab of ["suspects", "tree", "icicle"]) {
                await p.click(`[data-test=tab-${tab}]`);
                await p.waitForSelector("[data-test=not-known]");
                same(await p.$$("[data-test=suspect], [data-test=tree], .heap-icicle canvas"), [], `nothing is concluded in ${tab}`);
            }
            await shot(p, "heap-cut-tree");
            same(await p.$("[data-test=unreached]"), null, "nor that something is garbage");
            holds(/at least/.test(await p.textContent("[data-test=facts]")), "the sums are those of what was read");
            await p.click("[data-test=tab-threads]");
            await p.waitForSelector("[data-test=threads]");
            same(await p.$("[data-test=threads] [data-column=retained]"), null, "threads keep what nobody knows");
            await p.click("[data-test=tab-collections]");
            await p.waitForSelector("[data-test=collections-sum]");
            holds((await p.textContent("[data-test=collections-sum]")).startsWith("at least"), "collections that were read");
            await p.click("[data-test=tab-classes]");
            await p.waitForSelector("[data-test=classes] .table-rows [role=row]");
            holds((await rows(p, "classes")).length > 10, "and shows what is there");
            same(await p.$("[data-test=classes] [data-column=retained]"), null, "without retained sizes");
            await p.click("[data-test=classes] .table-rows [role=row]");
            await p.waitForSelector("[data-test=instances] .table-rows [role=row]");
            await p.click("[data-test=instances] .table-rows [role=row]");
            await p.waitForSelector("[data-test=object-retained]");
            await settled(p);
            same(await p.textContent("[data-test=object-retained]"), "unknown: the dump is incomplete");
            await p.fill("[data-test=find-id]", "0x10");
            await p.keyboard.press("Enter");
            await p.waitForSelector("[data-test=problem]");
            holds(/0x10: the dump has no object of this id/.test(await p.textContent("[data-test=problem]")), "an id that is none");
            await shot(p, "heap-cut");
        }, { viewport: { width: 800, height: 700 } });
    },

    async a_dump_as_xml(w) {
        const file = join(build, "shop.trcxml");
        rmSync(file, { force: true });
        const jvm = spawn(`${w.jdk.home}/bin/java`, ["-Xmx256m", "-cp", w.classes, "Shop", "50"], { stdio: ["pipe", "pipe", "ignore"] });
        try {
            await new Promise((done) => jvm.stdout.once("data", done));
            run(orca, ["heap", "dump", String(jvm.pid), "--to", "tptp", "-o", file]);
        } finally {
            jvm.stdin.end();
        }
        await withHeap(file, async (p) => {
            holds(/XML/.test(await p.textContent("[data-test=is-xml]")), "it says what it is");
            holds((await p.$$("[data-test=suspect]")).length > 0, "what keeps memory alive is known");
            await chooseBiggest(p);
            holds(/static orders/.test(await p.textContent("[data-test=path]")), "the way from the static field");
            holds(/lines/.test(await p.textContent("[data-test=fields]")), "references by the names of fields");
            await p.click("[data-test=tab-strings]");
            await p.waitForSelector("[data-test=no-contents]");
            await p.click("[data-test=tab-collections]");
            await p.waitForSelector("[data-test=no-contents]");
            await p.click("[data-test=tab-threads]");
            await p.waitForSelector("[data-test=threads] .table-rows [role=row]");
            holds((await rows(p, "threads")).some((r) => r[0] === "main"), "threads have names");
            await settled(p);
            await shot(p, "heap-xml");
        });
    },

    async nobody_else_may_ask(w) {
        await withHeap(await dump(w, w.jdk, false), async (p, server) => {
            const url = new URL("/api/h1", server.url).href;
            same((await fetch(url)).status, 403, "without the key");
            const [status, said] = await ask(p, "/api/h1/object?object=4000000000");
            same([status, JSON.parse(said).error.split(":")[0]], [404, "object=4000000000"]);
            same((await ask(p, "/api/h1/object?object=x"))[0], 400);
            same((await ask(p, "/api/h1", { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } }))[0], 405);
        });
    },
};
