// ask_live.mjs COMMAND PID TRUTH FILES - asks Orca's commands that answer while a program runs, and keeps their answers for read_live.mjs:
// FILES.query.json, .top.json, .dump.json, .view.json.  TRUTH: what the program has said until now.
import {execFile, spawn} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {promisify} from 'node:util';

const [orca, pid, truth, files] = process.argv.slice(2);
const run = async (...words) => JSON.parse((await promisify(execFile)(orca, words, {maxBuffer: 1 << 30})).stdout);
const keep = (source, answer) => writeFileSync(`${files}.${source}.json`, JSON.stringify(answer));

async function query() {
    const names = new Set([...readFileSync(truth, 'utf8').matchAll(/^truth now-\S+ thread=(\S+)/gm)].map((m) => m[1]));
    const threads = [];
    for (const name of names) threads.push(...(await run('query', pid, 'thread', name, '--json')).threads);
    return {threads, locks: await run('query', pid, 'locks', '--json')};
}

async function dump() {
    await promisify(execFile)(orca, ['dump', pid, '-o', `${files}.dump.otrace`]);
    return run('report', '--json', `${files}.dump.otrace`);
}

// The server lets in who brings the token of the link that it prints; what it knows is there from the first generation on.
async function view() {
    const server = spawn(orca, ['view', '--no-open', pid], {stdio: ['ignore', 'pipe', 'ignore']});
    try {
        let said = '';
        for await (const part of server.stdout)
            if (/token=\w+\s/.test((said += part))) break;
        const [, base, token] = /(http:\/\/[^/]*)\/\?token=(\w+)/.exec(said);
        const enter = await fetch(`${base}/api/enter`, {method: 'POST', body: `token=${token}`,
                                                       headers: {Origin: base, 'Content-Type': 'application/x-www-form-urlencoded'}});
        const headers = {'Orca-Key': (await enter.json()).key};
        for (;;) {
            const state = await (await fetch(`${base}/api/state`, {headers})).json();
            const trace = state.traces.find((t) => t.gen > 0 && t.phase !== 'loading');
            if (trace?.error) throw new Error(trace.error);
            const answer = trace && await fetch(`${base}/api/t${trace.trace}/g${trace.gen}/report`, {headers});
            if (answer?.ok) return await answer.json();
            await new Promise((done) => setTimeout(done, 50));
        }
    } finally {
        server.kill('SIGINT');
    }
}

keep('query', await query());
keep('top', await run('top', pid, '-n', '1', '--json'));
keep('dump', await dump());
keep('view', await view());
