// outside.mjs PROGRAM VARIANT STRENGTH HOW JDK_HOME CLASSES OUT - what is outside a program: starts it, is its clients and the slow
// server that it asks, records it, and ends it.
//
// VARIANT planted, repaired; STRENGTH full, half; HOW record (orca record, from its start), attach (orca attach, in the middle), jfr,
// plain.  Writes OUT.otrace or OUT.jfr, OUT.log, and OUT.json: {throughput, p99_ms, count, errors, peer, ...}.
//   ORCA   the command; build/release/orca when it is not said
// Clients are in this process, so that the program's JVM has the server alone: each asks, has its answer, rests REST_MS, asks again.
import {spawn, execFileSync} from 'node:child_process';
import {createWriteStream, createReadStream, existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import {tmpdir} from 'node:os';
import {readTruth} from './truth.mjs';

const REST_MS = 10, WARM_MS = 1000, MEASURE_MS = Number(process.env.MEASURE_MS ?? 3000), PATIENCE_MS = 20_000;
const [name, variant, strength, how, home, classes, out] = process.argv.slice(2);
const truth = readTruth(name);
const orca = process.env.ORCA ?? 'build/release/orca';
const pause = (ms) => new Promise((go) => { setTimeout(go, ms); });

// Answers each request after the time that it names.
async function slowPeer() {
    const server = http.createServer((request, response) => {
        const ms = Number(new URL(request.url, 'http://peer').searchParams.get('ms') ?? 0);
        setTimeout(() => response.end('done\n'), ms);
    });
    server.keepAliveTimeout = 60_000;
    await new Promise((go) => { server.listen(0, '127.0.0.1', go); });
    return server;
}

// Reads a pipe as slowly as the truth says.
function slowReader(folder) {
    if (!truth.pipe) return;
    const file = `${folder}/${truth.pipe.file}`;
    execFileSync('mkfifo', [file]);
    const stream = createReadStream(file, {highWaterMark: 4096});
    stream.on('data', () => {
        stream.pause();
        setTimeout(() => stream.resume(), truth.pipe.ms);
    });
    stream.on('error', () => {});
}

function ask(agent, port, path) {
    return new Promise((done) => {
        const request = http.get({agent, host: '127.0.0.1', port, path}, (response) => {
            response.resume();
            response.on('end', () => done(response.statusCode === 200));
            response.on('error', () => done(false));
        });
        request.on('error', () => done(false));
    });
}

// The clients of one load; what they saw while `state.measuring`.
async function clients({clients: n, path}, port, state) {
    const agent = new http.Agent({keepAlive: true, maxSockets: n[strength]});
    state.agents.push(agent);
    const seen = {took: [], errors: 0};
    const client = async () => {
        while (!state.over) {
            const start = performance.now();
            const fine = await ask(agent, port, path);
            if (state.over) return;
            if (!fine && state.measuring) seen.errors++;
            if (fine && state.measuring) seen.took.push(performance.now() - start);
            await pause(REST_MS);
        }
    };
    await Promise.all(Array.from({length: n[strength]}, client));
    return seen;
}

// The first of those that this process may use.
function pinned(command) {
    if (!truth.processors) return command;
    const all = execFileSync('taskset', ['-pc', String(process.pid)], {encoding: 'utf8'}).replace(/.*: /s, '').trim().split(',').flatMap((range) => {
        const [from, to] = range.split('-').map(Number);
        return Array.from({length: (to ?? from) - from + 1}, (_, i) => from + i);
    });
    return ['taskset', '-c', all.slice(0, truth.processors).join(','), ...command];
}

function command(java) {
    switch (how) {
    case 'record': return [orca, ['record', ...truth.record, '-o', `${out}.otrace`, '--', ...java]];
    case 'jfr': return [java[0], [`-XX:StartFlightRecording=filename=${out}.jfr,settings=profile,dumponexit=true`, '-Xlog:jfr*=off', ...java.slice(1)]];
    default: return [java[0], java.slice(1)];
    }
}

// Until the program says that it is ready: its port, 0 where it has none.
function readiness(child, log, text) {
    return new Promise((go, fail) => {
        const limit = setTimeout(() => fail(new Error('not ready in time')), PATIENCE_MS);
        child.stdout.on('data', (bytes) => {
            log.write(bytes);
            text.out += bytes;
            const found = /^ready ?(\d*)$/m.exec(text.out);
            if (found) { clearTimeout(limit); go(Number(found[1] || 0)); }
        });
        child.on('exit', (code, signal) => fail(new Error(`it ended early: ${signal ?? code}`)));
    });
}

const ended = (child) => new Promise((go) => { child.exitCode !== null || child.signalCode ? go() : child.on('exit', go); });

async function end(child) {
    child.kill('SIGTERM');
    const limit = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    await ended(child);
    clearTimeout(limit);
}

async function attach(pid, log) {
    const seconds = `${Math.max(1, Math.round(MEASURE_MS / 1000))}s`;
    const child = spawn(orca, ['attach', ...truth.record, '--for', seconds, '-o', `${out}.otrace`, String(pid)], {stdio: ['ignore', 'pipe', 'pipe']});
    child.stdout.pipe(log, {end: false});
    child.stderr.pipe(log, {end: false});
    await ended(child);
    if (child.exitCode !== 0) throw new Error(`orca attach ended with ${child.exitCode}`);
}

// What happens between the program's readiness and its end.
async function drive(child, port, log) {
    const state = {measuring: false, over: false, agents: []};
    const loads = truth.loads.map((l) => clients(l, port, state));
    await pause(WARM_MS);
    state.measuring = true;
    const start = performance.now();
    const attached = how === 'attach' ? attach(child.pid, log) : Promise.resolve();
    await pause(MEASURE_MS);
    const seconds = (performance.now() - start) / 1000;
    state.measuring = false;
    await attached;
    const counted = () => {
        state.over = true;
        state.agents.forEach((a) => a.destroy());
        return Promise.all(loads);
    };
    return {seconds, counted};
}

function figures(text, seen, seconds) {
    const own = /^measured ([\d.]+) ([\d.]+)$/m.exec(text);
    if (own) return {throughput: Number(own[1]), p99_ms: Number(own[2])};
    const took = (seen[0]?.took ?? []).sort((a, b) => a - b);
    // Nobody had an answer: the answer took longer than all of it.
    const p99 = took.length ? took[Math.floor(took.length * 0.99)] : seconds * 1000;
    return {throughput: took.length / seconds, p99_ms: p99, count: took.length, errors: seen.reduce((n, s) => n + s.errors, 0)};
}

const folder = mkdtempSync(`${tmpdir()}/orca-answers.`);
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
for (const key of ['JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', '_JAVA_OPTIONS']) delete process.env[key];
const peer = await slowPeer();
slowReader(folder);
rmSync(`${out}.otrace`, {force: true});
const java = [...pinned([`${home}/bin/java`]), '-Xmx256m', '-XX:+UseSerialGC', ...truth.jvm, '-cp', `${classes}:build/answers/lib/*`, truth.program,
    variant, strength, String(peer.address().port), folder];
const [program, args] = command(java);
const log = createWriteStream(`${out}.log`);
const child = spawn(program, args, {stdio: ['ignore', 'pipe', 'pipe']});
child.stderr.pipe(log, {end: false});
const text = {out: ''};
let failure = null, seconds = 0, seen = [], attachFailed = null;
try {
    const port = await readiness(child, log, text);
    const run = await drive(child, port, log).catch((e) => { attachFailed = e; return {seconds: 0, counted: () => []}; });
    seconds = run.seconds;
    // The server is asked to end while clients still wait, as servers are.
    await end(child);
    seen = await Promise.race([run.counted(), pause(2000).then(() => [])]);
} catch (e) {
    failure = e;
    await end(child);
}
failure ??= attachFailed;
const trace = how === 'jfr' ? `${out}.jfr` : `${out}.otrace`;
if (!failure && how !== 'plain' && !existsSync(trace)) failure = new Error(`there is no ${trace}`);
writeFileSync(`${out}.json`, `${JSON.stringify({...figures(text.out, seen, seconds), peer: peer.address().port, failure: failure?.message ?? null})}\n`);
if (failure) process.stderr.write(`answers: ${name} ${variant}: ${failure.message}; see ${out}.log\n`);
process.exit(failure ? 1 : 0);
