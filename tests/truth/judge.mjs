// judge.mjs TOOL MODE TRUTH OUTPUT COMMAND [LIVE] - what a tool says of one run of a program, beside what the program knows.
//
// Prints a line for each question: right, wrong or not-said, then the question, what it was about, what was expected and
// the answer, between tabs.  LIVE: the files of ask_live.mjs.  docs/quality/truth.md says what these words mean.
import {readFileSync} from 'node:fs';
import {QUESTIONS, claims, isOrca} from './questions.mjs';
import {readLive} from './read_live.mjs';
import {readJfr} from './read_jfr.mjs';
import {readOrca} from './read_orca.mjs';

// Clocks differ a little, and a tool's event is not the program's reading of its clock.
const SLACK_NS = 20_000, SLACK = 0.001;

const [tool, mode, truthFile, output, command, live] = process.argv.slice(2);

function parse(line) {
    const [, question, ...pairs] = line.split(' ');
    const about = Object.fromEntries(pairs.map((p) => [p.slice(0, p.indexOf('=')), p.slice(p.indexOf('=') + 1)]));
    const {is, from, to, ...subject} = about;
    return {question, subject, is, from: Number(from), to: Number(to)};
}

// In .orca a lock has no class: of a thread's waits none is known to be for one of a class, but when there is one only.
const NO_CLASSES = tool === 'orca-text';

const isName = (pattern, name) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

const isOf = (row, thread) => (row.threads ? row.threads.includes(thread) : row.thread !== undefined && isName(thread, row.thread));

// Some questions are about the one wait between two moments.
const isIn = (row, {called, entered}) => called === undefined || (row.from >= BigInt(called) && row.until <= BigInt(entered));

// The rows that a question is about; undefined: the tool has some of them without saying whose they are.
function about(rows, kind, subject) {
    const isOn = (r) => subject.on === undefined || r.on === subject.on || (NO_CLASSES && r.on === undefined);
    const fit = rows.filter((r) => r.kind === kind && isOn(r) && isIn(r, subject));
    const mine = subject.thread === undefined ? fit : fit.filter((r) => isOf(r, subject.thread));
    if (NO_CLASSES && subject.on !== undefined && mine.length > 1) return undefined;
    if (subject.thread === undefined) return fit;
    return mine.length === 0 && fit.some((r) => !r.threads && r.thread === undefined) ? undefined : mine;
}

function fits(truth, said) {
    if (truth.is !== undefined) return truth.is.split('|').includes(String(said));
    const slack = truth.question.endsWith('-ns') ? SLACK_NS + truth.to * SLACK : 0;
    return said >= truth.from - slack && said <= truth.to + slack;
}

function judge(rows, truth) {
    const q = QUESTIONS[truth.question];
    if (!q) throw new Error(`no such question: ${truth.question}`);
    if (!claims(tool, q, truth.subject, mode)) return ['not-said', '(does not claim to say it)'];
    if (q.unless && about(rows, q.unless, truth.subject)?.length) return ['not-said', '(not known)'];
    const mine = about(q.from ? q.from(rows) : rows, q.kind, truth.subject);
    const said = mine && q.answer(mine);
    if (said === undefined || (said === q.silent && truth.is !== said)) return ['not-said', '(nothing)'];
    return [fits(truth, said) ? 'right' : 'wrong', said];
}

const rows = isOrca(tool) ? readOrca(command, output) : readJfr(command, output);
const answers = live ? readLive(live) : {};

function say(rows, truth) {
    const [verdict, said] = judge(rows, truth);
    const subject = Object.entries(truth.subject).map(([k, v]) => `${k}=${v}`).join(' ');
    const expected = truth.is ?? `${truth.from} to ${truth.to}`;
    process.stdout.write(`${[verdict, truth.question, subject, expected, said].join('\t')}\n`);
}

for (const line of readFileSync(truthFile, 'utf8').split('\n').filter((l) => l.startsWith('truth '))) {
    const truth = parse(line);
    if (!truth.question.startsWith('now-')) say(rows, truth);
    else
        for (const source of Object.keys(answers))
            if (QUESTIONS[`${source}:${truth.question}`]) say(answers[source], {...truth, question: `${source}:${truth.question}`});
}
