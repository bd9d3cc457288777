// build.mjs FOLDER - bundles src/ into four pages, scripts and styles inline, nothing loaded from anywhere:
// view.html, start.html and heap.html ask the server of `orca view`; report.html has its data in it, where `<!--orca-pack-->` is.
//
// Each page carries its own content security policy, by the hashes of its script and its style, so that
// it holds from a server and from a disk alike; what a trace's names contain can never become code.
// ORCA_VIEWER_DEBUG=1 leaves the script readable, for profilers.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = process.argv[2] ?? "out";
const PAGES = { view: "src/view_page.tsx", start: "src/start_page.tsx", report: "src/report_page.tsx", heap: "src/heap_page.tsx" };

const hash = (s) => `'sha256-${createHash("sha256").update(s).digest("base64")}'`;

/** A thirtieth smaller than what esbuild makes alone.  Getters have effects: reading a signal subscribes to it. */
async function smaller(script) {
    const { code } = await minify(script, { module: true, ecma: 2020, compress: { passes: 3, ecma: 2020, unsafe_arrows: true } });
    return code;
}

/** The packages that something of is in the pages (THIRD-PARTY names them). */
const packages = new Set();
function note({ outputs }) {
    for (const { inputs } of Object.values(outputs))
        for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
            const name = path.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1];
            if (name && bytesInOutput > 0)
                packages.add(name);
        }
}

async function bundle(entry) {
    const result = await build({
        absWorkingDir: here,
        entryPoints: [entry],
        bundle: true,
        minify: !process.env.ORCA_VIEWER_DEBUG,
        write: false,
        outdir: "out",
        format: "esm",
        target: "es2022",
        charset: "utf8",
        legalComments: "none",
        jsx: "automatic",
        jsxImportSource: "preact",
        define: { "process.env.NODE_ENV": '"production"' },
        logLevel: "warning",
        metafile: true,
    });
    note(result.metafile);
    const text = (suffix) => result.outputFiles.find((f) => f.path.endsWith(suffix))?.text.trim() ?? "";
    const script = process.env.ORCA_VIEWER_DEBUG ? text(".js") : await smaller(text(".js"));
    // "</script" must not occur in an inline script; inside a string literal "<\/script" means the same.
    return { script: script.replaceAll("</script", "<\\/script"), style: text(".css") };
}

function page({ script, style }) {
    const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ].join("; ");
    return readFileSync(`${here}/src/page.html`, "utf8")
        .replace("<!--policy-->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace("<!--style-->", () => `<style>${style}</style>`)
        .replace("<!--script-->", () => `<script type="module">${script}</script>`);
}

mkdirSync(out, { recursive: true });
for (const [name, entry] of Object.entries(PAGES)) {
    const html = page(await bundle(entry));
    writeFileSync(join(out, `${name}.html`), html);
    console.log(`  ${name}.html ${html.length} bytes, ${gzipSync(html, { level: 9 }).length} gzipped`);
}
writeFileSync(join(out, "bundled"), [...packages].sort().join("\n") + "\n");
