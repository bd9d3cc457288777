// sbom.mjs FOLDER - the bill of materials of the files in FOLDER, as CycloneDX 1.5, on stdout: what THIRD-PARTY lists, with the
// versions found here, and which file has what.  JAVA_HOME: the JDK that Orca was built with.
//
// The same files and packages make the same bytes: no time but SOURCE_DATE_EPOCH's, a serial number by content.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parts, top } from "./parts.mjs";

const FILES = ["orca", "liborca.so", "libasgct2.so"];
const folder = process.argv[2];
const field = (file, pattern) => readFileSync(file, "utf8").match(pattern)?.[1];
const quietly = (command, ...args) => {
    try {
        return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    } catch {
        return "";
    }
};
const distribution = field("/etc/os-release", /^ID="?([^"\n]*)/m) ?? "linux";

// Where a version is from -> [version, the package's address without it].
const SOURCES = {
    deb: (name) => [quietly("dpkg-query", "-W", "-f", "${Version}\n", name).split("\n")[0], `deb/${distribution}/${name}`],
    npm: (name) => [JSON.parse(readFileSync(`${top}viewer/node_modules/${name}/package.json`, "utf8")).version, `npm/${name.replace("@", "%40")}`],
    jdk: () => [field(`${process.env.JAVA_HOME}/release`, /^JAVA_RUNTIME_VERSION="?([^"\n]*)/m) ?? field(`${process.env.JAVA_HOME}/release`, /^JAVA_VERSION="?([^"\n]*)/m), "generic/openjdk"],
    node: () => [process.versions.node, "generic/node"],
};

function found(source) {
    const [kind, name] = source.split(":");
    const [version, address] = SOURCES[kind](name);
    if (!version)
        process.stderr.write(`sbom: the version of ${source} is not known here\n`);
    return { version: version || "unknown", purl: `pkg:${address}${version ? `@${encodeURIComponent(version)}` : ""}` };
}

const licences = (expression) => (/^[A-Za-z0-9.-]+$/.test(expression) && !expression.startsWith("LicenseRef-") ? [{ license: { id: expression } }] : [{ expression }]);

function component({ how, name, files, version: source, licence }) {
    const { version, purl } = found(source);
    return {
        type: how === "build" ? "application" : "library",
        "bom-ref": `${how}:${name}`,
        name,
        version,
        scope: how === "build" ? "excluded" : "required",
        licenses: licences(licence),
        purl,
        properties: [
            { name: "orca:how", value: how },
            { name: "orca:in", value: files.join(", ") },
        ],
    };
}

const version = field(`${top}src/base/version.h`, /ORCA_VERSION "(.*)"/);
const own = FILES.map((name) => ({
    type: name === "orca" ? "application" : "library",
    "bom-ref": `file:${name}`,
    name,
    version,
    hashes: [{ alg: "SHA-256", content: createHash("sha256").update(readFileSync(`${folder}/${name}`)).digest("hex") }],
    licenses: licences("Apache-2.0"),
}));
const orca = {
    type: "application",
    "bom-ref": "orca",
    name: "Orca",
    version,
    licenses: licences("Apache-2.0"),
    purl: `pkg:generic/orca@${version}`,
    components: own,
};
const shipped = (name) => parts.filter((p) => p.how !== "build" && p.files.includes(name)).map((p) => `${p.how}:${p.name}`);
const epoch = process.env.SOURCE_DATE_EPOCH;
const bom = {
    metadata: { ...(epoch ? { timestamp: new Date(epoch * 1000).toISOString() } : {}), component: orca },
    components: parts.map(component),
    dependencies: [{ ref: "orca", dependsOn: own.map((f) => f["bom-ref"]) }, ...FILES.map((name) => ({ ref: `file:${name}`, dependsOn: shipped(name) }))],
};
const hash = createHash("sha256").update(JSON.stringify(bom)).digest("hex");
const serial = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
console.log(JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", serialNumber: `urn:uuid:${serial}`, version: 1, ...bom }, null, 2));
