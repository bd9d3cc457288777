// leaf.mjs count TOOL TRUTH OUTPUT COMMAND - of one run of Paths.java: for each path and function a line of numbers, between tabs:
// path, function, samples, right methods, right lines, samples without a Java frame, frames marked as near, of these right
// methods and right lines.  COMMAND: orca, or the JDK's jfr.
// leaf.mjs table COUNTS - the tables of docs/quality/truth.md from these, with JDK, compilers and tool in front.
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';

const SOURCE = new URL('Paths.java', import.meta.url);
const MARKED = new Set(readFileSync(SOURCE, 'utf8').split('\n').flatMap((line, i) => (line.endsWith('//!') ? [i + 1] : [])));

const run = (...command) => execFileSync(command[0], command.slice(1), {encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore']});

// {tool, thread, method, line, near} of each sample: its innermost Java frame; without one method is undefined.
function* orcaSamples(command, file) {
    let sample;
    for (const line of run(command, 'events', '-s', '-k', 'cpu_sample', file).split('\n')) {
        const [, thread] = /^[\d.]+ (\S+) cpu_sample /.exec(line) ?? [];
        // of C: library!function or library+0x12, of the JVM's own code: [name]; a hidden class is Name+0x12.method
        const frame = /^ {4}at ([^[!]+)(?<!\+0x[0-9a-f]+)\((?:[^:]*:)?(\S+)\)$/.exec(line);
        if (thread) {
            if (sample) yield sample;
            sample = {thread, near: false};
        } else if (sample && /^ {4}/.test(line)) {
            if (/ flags=/.test(line)) sample.near = (Number(/ flags=(\d+)/.exec(line)[1]) & 1) === 1;
            if (frame && !sample.method) Object.assign(sample, {method: frame[1], line: Number(frame[2])});
        }
    }
    if (sample) yield sample;
}

function* jfrSamples(command, file) {
    for (const {values} of JSON.parse(run(command, 'print', '--json', '--stack-depth', '32', '--events', 'jdk.ExecutionSample', file)).recording.events) {
        const frame = values.stackTrace?.frames.find((f) => !/^(Native|Kernel|C\+\+)$/.test(f.type));
        yield {thread: values.sampledThread.javaName, line: frame?.lineNumber, method: frame && `${frame.method.type.name}.${frame.method.name}`};
    }
}

function* agentSamples(file) {
    for (const text of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
        const [, tool, method, line, ...thread] = text.split(' ');
        yield {tool, thread: thread.join(' '), line: Number(line), method: method === '?' ? undefined : method};
    }
}

const pattern = (words) => new RegExp(`^(${words.map((w) => w.replace(/[.$]/g, '\\$&').replace(/\*/g, '.*')).join('|')})$`);

function count(tool, truthFile, output, command) {
    const samples = tool.startsWith('orca') ? orcaSamples(command, output) : tool.startsWith('agct') ? agentSamples(output) : jfrSamples(command, output);
    const truth = new Map(readFileSync(truthFile, 'utf8').split('\n').filter((l) => l.startsWith('leaf ')).map((l) => l.split(' '))
        .map(([, path, ...leaves]) => [path, pattern(leaves)]));
    const sums = new Map();
    for (const s of samples) {
        const path = /^ForkJoinPool-1-worker-/.test(s.thread) ? 'virtual' : s.thread; // whose only virtual thread that is
        if (!truth.has(path)) continue;
        const key = `${path}\t${s.tool ?? tool}`, method = s.method?.replaceAll('/', '.');
        const right = method !== undefined && truth.get(path).test(method);
        const line = right && (!method.startsWith('Paths') || MARKED.has(s.line));
        const sum = sums.get(key) ?? sums.set(key, Array(7).fill(0)).get(key);
        [true, right, line, method === undefined, s.near, s.near && right, s.near && line].forEach((x, i) => { sum[i] += x ? 1 : 0; });
    }
    for (const [key, sum] of sums) console.log([key, ...sum].join('\t'));
}

const FROM_START = {orca: 'Orca', 'agct-places:asgct2': 'AsyncGetCallTrace2', 'agct-places:agct': 'AsyncGetCallTrace', async: 'async-profiler'};
const LATE = {'orca-late': 'Orca', 'agct:asgct2': 'AsyncGetCallTrace2', agct: 'AsyncGetCallTrace', 'async-late': 'async-profiler'};
const COMPILERS = {tiered: 'C1 and C2', c1: 'C1', c2: 'C2'};

function table(file) {
    const rows = readFileSync(file, 'utf8').split('\n').filter(Boolean).map((l) => l.split('\t')).map(([jdk, compilers, run, path, tool, ...sums]) =>
        ({jdk, compilers, path, tool: run === tool ? tool : `${run}:${tool}`, sums: sums.map(Number)}));
    const sum = (select) => rows.filter(select).reduce((a, r) => a.map((x, i) => x + r.sums[i]), Array(7).fill(0));
    const percent = (n, of) => (of ? (n === of ? '100' : Math.min(99.9, (100 * n) / of).toFixed(1)) : '');
    const out = (cells, rule) => console.log(`| ${cells.join(' | ')} |${rule ? `\n| --- |${' ---: |'.repeat(cells.length - 1)}` : ''}`);
    const jdks = [...new Set(rows.map((r) => r.jdk))];
    const settings = jdks.flatMap((jdk) => Object.keys(COMPILERS).map((c) => [`JDK ${jdk}, ${COMPILERS[c]}`, (r) => r.jdk === jdk && r.compilers === c]));
    settings.push(['all', () => true]);
    for (const [title, all] of [['recorded from the start', FROM_START], ['attached to when it was compiled', LATE]]) {
        const tools = Object.keys(all).filter((t) => rows.some((r) => r.tool === t));
        const cell = (select, t) => {
            const [n, method, line, none] = sum((r) => r.tool === t && select(r));
            return n ? `${percent(method, n)} / ${percent(line, n)} / ${percent(none, n)} (${n})` : '';
        };
        console.log(`### Leaves, ${title}: method / method and line / no Java frame, % (samples)\n`);
        out(['code', ...tools.map((t) => all[t])], true);
        for (const [name, select] of settings) out([name, ...tools.map((t) => cell(select, t))]);
        console.log();
        out(['path: right methods, %', ...tools.map((t) => all[t])], true);
        for (const path of [...new Set(rows.map((r) => r.path))])
            out([path, ...tools.map((t) => sum((r) => r.tool === t && r.path === path)).map(([n, method]) => percent(method, n))]);
        console.log();
    }
    console.log('### Leaves that Orca, attached, marks as approximate\n');
    out(['code', 'samples', 'marked, %', 'of these right methods, %', 'right lines, %'], true);
    for (const [name, select] of settings) {
        const [n, , , , near, method, line] = sum((r) => r.tool === 'orca-late' && select(r));
        if (n) out([name, n, percent(near, n), percent(method, near), percent(line, near)]);
    }
}

const [verb, ...args] = process.argv.slice(2);
({count, table})[verb](...args);
