// parts.mjs - reads THIRD-PARTY, the one list of what is in Orca's files, loaded by them, and used to build them.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const top = fileURLToPath(new URL("..", import.meta.url));
export const text = readFileSync(`${top}THIRD-PARTY`, "utf8");

const HOW = ["static", "header", "bundled", "dynamic", "build"];

/** A row of the table: how, name, the files it is in, the names it is seen by there, whose version, licence. */
export const parts = text
    .split("\n")
    .map((line) => line.split(" | ").map((cell) => cell.trim()))
    .filter((row) => row.length === 6 && HOW.includes(row[0]))
    .map(([how, name, files, seen, version, licence]) => ({ how, name, files: files.split(", "), seen: seen.split(" "), version, licence }));

/** The texts: names of parts -> what stands under their heading. */
export const texts = text
    .split(/^-+\n== /m)
    .slice(1)
    .map((section) => {
        const [heading, ...lines] = section.split("\n");
        return { names: heading.replace(/ \(.*/, "").split(", "), text: lines.join("\n") };
    });
