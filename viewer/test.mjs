// test.mjs [PATTERN] - bundles test/*.test.ts and runs them in node: what of the viewer needs no browser.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = `${here}../build/viewer/test`;
const names = readdirSync(`${here}test`).filter((f) => f.endsWith(".test.ts") && f.includes(process.argv[2] ?? ""));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({
    absWorkingDir: here,
    entryPoints: names.map((f) => `test/${f}`),
    bundle: true,
    outdir: out,
    outExtension: { ".js": ".mjs" },
    platform: "node",
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".css": "empty" },
    logLevel: "warning",
});
const run = spawnSync(process.execPath, ["--test", "--test-reporter=tap", ...names.map((f) => `${out}/${f.replace(/\.ts$/, ".mjs")}`)], { stdio: "inherit" });
process.exit(run.status ?? 1);
