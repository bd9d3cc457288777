// parts.mjs FOLDER LABEL - THIRD-PARTY and the bill of materials against what the files in FOLDER are made of: what they load,
// what the linker took (its maps), which headers they include, which packages are in the pages.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { parts, texts, top } from "../../tools/parts.mjs";

const [folder, label] = process.argv.slice(2);
const FILES = ["orca", "liborca.so", "libasgct2.so"];
const run = (command, ...args) => execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });
const all = (text, pattern) => [...text.matchAll(pattern)].map((m) => m[1]);
const json = (file) => JSON.parse(readFileSync(file, "utf8"));
const npm = (name) => `${top}viewer/node_modules/${name}`;

/** Both ways: all that was found in a file is in a row, and all that a row says is found. */
function compare(how, found) {
    const rows = parts.filter((p) => p.how === how);
    const wrong = [];
    for (const file of FILES)
        for (const name of found[file])
            if (!rows.some((p) => p.files.includes(file) && p.seen.includes(name)))
                wrong.push(`${file} has ${name}, which no row of "${how}" names`);
    for (const row of rows) {
        for (const name of row.seen)
            if (!row.files.some((file) => found[file].includes(name)))
                wrong.push(`${row.name}: there is no ${name} in ${row.files.join(", ")}`);
        for (const file of row.files)
            if (!row.seen.some((name) => found[file].includes(name)))
                wrong.push(`${row.name}: ${file} has none of ${row.seen.join(", ")}`);
    }
    return wrong;
}

const in_each = (look) => Object.fromEntries(FILES.map((file) => [file, [...new Set(look(file))]]));

const loaded = () => compare("dynamic", in_each((file) => all(run("readelf", "-dW", `${folder}/${file}`), /NEEDED.*\[(.*)\]/g)));

/** Objects that the linker took by themselves, and archives of which it took a member. */
const linked = () =>
    compare("static", in_each((file) => {
        const map = readFileSync(`${folder}/${file}.map`, "utf8");
        return [...all(map, /^LOAD (\/\S+\.o)$/gm), ...all(map, /^(\/[^\s()]+\.a)\(/gm)].map((path) => basename(path));
    }));

function bundled() {
    const found = readFileSync(`${top}build/viewer/bundled`, "utf8").trim().split("\n");
    const wrong = compare("bundled", { orca: found, "liborca.so": [], "libasgct2.so": [] });
    for (const { name, licence } of parts.filter((p) => p.version.startsWith("npm:")))
        if (json(`${npm(name)}/package.json`).license !== licence)
            wrong.push(`${name} says that its licence is ${json(`${npm(name)}/package.json`).license}`);
    return wrong;
}

/** Whose headers are included: packages of the system, by the source that they were built of, so that zstd's are zstd's. */
function included() {
    const sources = (packages) => run("dpkg-query", "-W", "-f", "${source:Package}\n", ...packages).trim().split("\n");
    const known = new Set(sources(parts.map((p) => p.version).filter((v) => v.startsWith("deb:")).map((v) => v.slice(4))));
    const ours = parts.filter((p) => p.how === "header").flatMap((p) => p.seen);
    const code = readdirSync(`${top}src`, { recursive: true }).filter((f) => /\.[ch]$/.test(f)).map((f) => readFileSync(`${top}src/${f}`, "utf8")).join("\n");
    const places = ["/usr/include", "/usr/include/x86_64-linux-gnu", ...run("gcc", "-print-file-name=include").trim().split("\n")];
    const wrong = [];
    for (const header of new Set(all(code, /^#\s*include <([^>]+)>/gm))) {
        if (ours.includes(header))
            continue;
        const path = places.map((p) => `${p}/${header}`).find((p) => existsSync(p));
        const owner = path && run("dpkg-query", "-S", path).split(":")[0];
        if (!owner || !sources([owner]).some((s) => known.has(s)))
            wrong.push(`<${header}> is of ${owner ?? "nothing known"}, which no row names`);
    }
    return wrong;
}

function licensed() {
    const wrong = [];
    const names = new Set(parts.map((p) => p.name));
    for (const { names: of } of texts)
        wrong.push(...of.filter((name) => !names.has(name)).map((name) => `there is a text of ${name}, but no row`));
    for (const { how, name } of parts.filter((p) => p.how !== "build")) {
        const text = texts.filter((t) => t.names.includes(name)).map((t) => t.text).join("\n").trim();
        if (text === "")
            wrong.push(`THIRD-PARTY has no licence of ${name}`);
        else if (how === "bundled" && !text.includes(readFileSync(`${npm(name)}/LICENSE`, "utf8").trim()))
            wrong.push(`THIRD-PARTY has another licence of ${name} than the package`);
    }
    return wrong;
}

/** What the schema of CycloneDX 1.5 asks for, and what makes the list of use. */
function bill() {
    const bom = json(`${folder}/share/doc/orca/orca.cdx.json`);
    const wrong = [];
    const must = (is, what) => is || wrong.push(what);
    must(bom.bomFormat === "CycloneDX" && bom.specVersion === "1.5" && bom.version === 1, "no CycloneDX 1.5");
    must(/^urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(bom.serialNumber), `serial number ${bom.serialNumber}`);
    const own = bom.metadata.component.components;
    const everything = [bom.metadata.component, ...own, ...bom.components];
    const refs = everything.map((c) => c["bom-ref"]);
    must(new Set(refs).size === refs.length, "two components have one name");
    for (const c of everything) {
        must(["application", "library"].includes(c.type) && c.name && /\d/.test(c.version), `${c.name}: type ${c.type}, version ${c.version}`);
        must(c.licenses?.length === 1 && (c.licenses[0].license?.id || c.licenses[0].expression), `${c.name} has no licence`);
    }
    for (const c of bom.components) {
        must(/^pkg:(deb\/[a-z]+|npm|generic)\/[^@\s]+@[^@\s]+$/.test(c.purl), `${c.name}: purl ${c.purl}`);
        must(["required", "excluded"].includes(c.scope), `${c.name}: scope ${c.scope}`);
    }
    must(bom.components.length === parts.length && parts.length > 20, `${bom.components.length} components`);
    for (const d of bom.dependencies)
        for (const ref of [d.ref, ...d.dependsOn])
            must(refs.includes(ref), `nothing is called ${ref}`);
    for (const c of bom.components.filter((c) => c.scope === "required"))
        must(bom.dependencies.some((d) => d.dependsOn.includes(c["bom-ref"])), `nothing depends on ${c.name}`);
    for (const c of own)
        must(c.hashes[0].content === createHash("sha256").update(readFileSync(`${folder}/${c.name}`)).digest("hex"), `${c.name} is another file`);
    return wrong;
}

const here = folder === "build/release" ? [["bundled", bundled], ["licences", licensed], ["bill-of-materials", bill]] : [];
let failed = 0;
for (const [name, look] of [["loaded", loaded], ["linked", linked], ["headers", included], ...here]) {
    if (name === "headers" && !existsSync("/usr/bin/dpkg-query")) {
        console.log(`ok ${label}/${name} # SKIP no dpkg-query`);
        continue;
    }
    let wrong;
    try {
        wrong = look();
    } catch (e) {
        wrong = [String(e)];
    }
    failed += wrong.length;
    console.log(`${wrong.length ? "not ok" : "ok"} ${label}/${name}${wrong.length ? ` - ${wrong[0]}` : ""}`);
    wrong.slice(0, 40).forEach((line) => console.log(`#   ${line}`));
}
process.exit(failed ? 1 : 0);
