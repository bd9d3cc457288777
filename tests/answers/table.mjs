// table.mjs FILE... - the table of docs/quality/answers.md from the verdicts of judge.mjs (*.verdict) and jfr.mjs (*.jfr-verdict).
// Exit status 1 when a first finding was not strictly right, or a finding was false.
import {existsSync, readFileSync} from 'node:fs';

const files = process.argv.slice(2).filter((f) => existsSync(f));
const read = (ending) => files.filter((f) => f.endsWith(ending)).map((f) => JSON.parse(readFileSync(f, 'utf8')));
const all = read('.verdict'), jfr = read('.jfr-verdict');
const kept = all.filter((v) => v.kept), causes = kept.filter((v) => !v.healthy);
const out = (line = '') => process.stdout.write(`${line}\n`);
const row = (cells) => out(`| ${cells.join(' | ')} |`);
const programs = (list) => new Set(list.map((v) => v.name)).size;
const PARTS = ['rule', 'threads', 'resource', 'waiter', 'holder', 'does', 'share', 'peer'];

// Wilson's interval of 95 % for n of m.
function wilson(n, m) {
    if (m === 0) return '';
    const z = 1.96, p = n / m, d = 1 + (z * z) / m;
    const middle = (p + (z * z) / (2 * m)) / d, half = (z * Math.sqrt((p * (1 - p)) / m + (z * z) / (4 * m * m))) / d;
    return `${(100 * Math.max(0, middle - half)).toFixed(0)} to ${(100 * Math.min(1, middle + half)).toFixed(0)} %`;
}

const rate = (title, list, is) => row([title, list.length ? `${list.filter(is).length} of ${list.length}` : '', wilson(list.filter(is).length, list.length), programs(list)]);

function summary() {
    row(['', 'right', '95 %', 'programs']);
    row(['---', '---:', '---:', '---:']);
    rate('first finding: all right', causes, (v) => v.strict);
    rate('one of the first three: all right', causes, (v) => v.strict3);
    for (const part of PARTS) {
        const asked = causes.filter((v) => part in v.parts);
        if (asked.length) rate(`first finding: ${part}`, asked, (v) => v.parts[part]);
    }
    rate('no false finding', kept, (v) => v.false.length === 0);
    out();
    const runs = 2 * kept.length, lies = kept.flatMap((v) => v.false);
    if (runs) out(`False findings: ${lies.length} in ${runs} runs (${(lies.length / runs).toFixed(2)} a run): ${counts(lies.map((f) => `${f.why}, ${f.variant}`))}.`);
    const graveOnes = kept.reduce((n, v) => n + v.control.length, 0);
    if (kept.length) out(`Warnings and problems about repaired programs, true or not: ${graveOnes} (${(graveOnes / kept.length).toFixed(1)} a run).`);
    out(`Thrown out, because the repaired program was not better by 20 %: ${all.length - kept.length} of ${all.length} cases${all.length > kept.length ? ` (${all.filter((v) => !v.kept).map(key).join(', ')})` : ''}.`);
    out();
}

function counts(words) {
    const n = new Map();
    words.forEach((w) => n.set(w, (n.get(w) ?? 0) + 1));
    return [...n].map(([w, c]) => `${c} ${w}`).join('; ') || 'none';
}

const key = (v) => `${v.jdk}/${v.name}/${v.how}/${v.strength}`;
const times = (x) => (x >= 100 || !Number.isFinite(x ?? Infinity) ? '> 100' : x.toFixed(1));

function perProgram() {
    row(['program', 'cases', 'all right', 'in three', ...PARTS, 'false', 'repaired is better', 'dumb rule: resource, line']);
    row(['---', ...Array(PARTS.length + 6).fill('---:')]);
    for (const name of [...new Set(kept.map((v) => v.name))]) {
        const list = kept.filter((v) => v.name === name);
        const of = (is) => `${list.filter(is).length}`;
        const part = (p) => (p in list[0].parts ? of((v) => v.parts[p]) : '');
        const gains = list.map((v) => Math.max(v.gain.throughput ?? Infinity, v.gain.p99 ?? Infinity)).sort((a, b) => a - b);
        const strict = list[0].healthy ? ['', ''] : [of((v) => v.strict), of((v) => v.strict3)];
        row([name, list.length, ...strict, ...PARTS.map(part), list.flatMap((v) => v.false).length,
            list[0].healthy ? '' : `${times(gains[0])} to ${times(gains.at(-1))} times`, list[0].healthy ? '' : `${of((v) => v.dumb.resource)}, ${of((v) => v.dumb.holder)}`]);
    }
    out();
}

// What another tool has on top: of cases that ask for a resource or a holder's line, how many it names.
function others() {
    const asked = causes.filter((v) => 'resource' in v.parts);
    row(['tool', 'resource', 'holder\'s line', 'programs']);
    row(['---', '---:', '---:', '---:']);
    const line = (title, list, resource, holder) => row([title, `${list.filter(resource).length} of ${list.length}`, `${list.filter(holder).length} of ${list.length}`, programs(list)]);
    line('Orca, first finding', asked, (v) => v.parts.resource, (v) => v.parts.holder);
    line('Orca, first finding, asked as little as the others', asked, (v) => v.named?.resource || v.parts.resource, (v) => v.named?.holder || v.parts.holder);
    line('a dumb rule: most time waited, by innermost frame outside the JDK', asked, (v) => v.dumb.resource, (v) => v.dumb.holder);
    const views = jfr.filter((v) => asked.some((a) => a.name === v.name));
    if (views.length) line('`jfr view`: the top row of any of its views of waits', views, (v) => v.view.resource, (v) => v.view.holder);
    if (views.length) line('JDK Mission Control: any of its first three rules', views, (v) => v.jmc.resource, (v) => v.jmc.holder);
    out();
}

function words() {
    out('The first finding of each program, recorded from the start at full strength on the newest JDK:');
    out();
    for (const name of [...new Set(all.map((v) => v.name))]) {
        const v = all.filter((x) => x.name === name && x.how === 'record' && x.strength === 'full').at(-1);
        if (v) out(`- ${name}: ${v.first ? `(${v.first.rule}) ${v.first.text.replaceAll('|', '\\|')}` : 'nothing'}`);
    }
    out();
}

if (all.length) {
    summary();
    perProgram();
    others();
    words();
}
for (const v of kept) for (const f of v.false) process.stderr.write(`false (${f.why}) ${key(v)}, ${f.variant}: ${f.text}\n`);
process.exitCode = all.length && kept.every((v) => (v.strict || v.healthy) && v.false.length === 0) ? 0 : 1;
