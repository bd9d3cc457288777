// table.mjs VERDICTS - the tables of docs/quality/truth.md from the verdicts of tests/truth/run: per JDK and question how often each
// tool was right, wrong, and did not say; then each answer of Orca's that was wrong, and the sums.  Exit status 1 when there is one.
import {readFileSync} from 'node:fs';
import {QUESTIONS, TOOLS, isOrca} from './questions.mjs';

const KEYS = ['jdk', 'mode', 'tool', 'program', 'verdict', 'question', 'subject', 'expected', 'said'];
const verdicts = readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)
    .map((line) => Object.fromEntries(line.split('\t').map((v, i) => [KEYS[i], v])));
const tools = Object.keys(TOOLS).filter((t) => verdicts.some((v) => v.tool === t));
const modes = ['platform', 'mounted', 'unmounted'];
const out = (line = '') => process.stdout.write(`${line}\n`);

const of = (list, verdict) => list.filter((v) => v.verdict === verdict).length;
const cell = (list) => (list.length ? `${of(list, 'right')} / ${of(list, 'wrong')} / ${of(list, 'not-said')}` : '');
const row = (cells) => out(`| ${cells.join(' | ')} |`);

function table(title, names, select) {
    row([title, ...tools.map((t) => TOOLS[t])]);
    row(['---', ...tools.map(() => '---:')]);
    for (const [name, choose] of names) {
        const chosen = select.filter(choose);
        if (chosen.length) row([name, ...tools.map((t) => cell(chosen.filter((v) => v.tool === t)))]);
    }
    out();
}

const groupOf = (v) => QUESTIONS[v.question].group;

// Of virtual threads that unmount a tool may not have such an event at all: their counts and times are rows of their own.
function rowsOf(q, group) {
    if (!/^(blocked|wait|park)-(count|ns)$/.test(q)) return [[group, (v) => groupOf(v) === group]];
    return [[group, (v) => v.question === q && v.mode !== 'unmounted'], [`${group} (threads that unmount)`, (v) => v.question === q && v.mode === 'unmounted']];
}

const rate = (list) => {
    const said = of(list, 'right') + of(list, 'wrong');
    const percent = said ? ` (${((100 * of(list, 'right')) / said).toFixed(1)} % of what it said)` : '';
    return `right ${of(list, 'right')}${percent}, wrong ${of(list, 'wrong')}, not said ${of(list, 'not-said')}`;
};

for (const jdk of [...new Set(verdicts.map((v) => v.jdk))]) {
    const here = verdicts.filter((v) => v.jdk === jdk);
    out(`### JDK ${jdk}: right / wrong / not said`);
    out();
    table('threads', [...modes.map((m) => [m, (v) => v.mode === m]), ['all', () => true]], here);
    table('question', Object.entries(QUESTIONS).filter(([, {group}], i, all) => all.findIndex(([, x]) => x.group === group) === i).flatMap(([q, {group}]) => rowsOf(q, group)), here);
}
const wrong = verdicts.filter((v) => v.verdict === 'wrong' && isOrca(v.tool));
if (wrong.length) out('Where Orca was wrong:\n');
for (const v of wrong)
    out(`- ${TOOLS[v.tool]}, JDK ${v.jdk}, ${v.mode}, ${v.program}: ${v.question} of ${v.subject}: expected ${v.expected}, said ${v.said}`);
if (wrong.length) out();
for (const t of tools) out(`${TOOLS[t]}: ${rate(verdicts.filter((v) => v.tool === t))}`);
process.exitCode = wrong.length ? 1 : 0;
