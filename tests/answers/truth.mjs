// truth.mjs - reads what was written down of a program before it ran: programs/NAME.truth, and the marked lines of NAME.java.
//
// A truth is lines "KEY VALUE"; `A|B` where several words say the same, `*` for anything.
//     program     main class                          on         JDKs, 17, 21 and 25 when it is not said
//     load        full=CLIENTS half=CLIENTS PATH      the first is measured; without one the program measures itself
//     pipe        FILE MS: a pipe in the program's folder, of which 4 kB are read each MS
//     jvm         options of its JVM                  record     options of orca record and orca attach
//     processors  N: the program is limited to this number
//     control     yes: nothing is wrong with it; any finding that warns is false
//     rule        names of the finding's rule, where there is no resource
//     resource    role of what is waited for          name, class: what it is called
//     holder      method whose lines are marked "// holder" in the source
//     does        what the holder does in that time      peer yes: with the other server; FILE: in that file of its folder
//     share       of the time of those who wait: full, half; give or take 0.1
//     threads     who is part of it; waiter: the method whose lines are marked "// waiter", where there is no holder
//     removed     frames and classes that name the resource: once the cause is repaired, no finding may
//     distractor  what is harmless                    idle       threads that have nothing to do
import {readFileSync} from 'node:fs';

export const FOLDER = new URL('./programs/', import.meta.url).pathname;

const words = (s) => (s ?? '').split(/\s+/).filter(Boolean);
const choices = (s) => (s ? s.split('|').map((w) => w.trim()) : undefined);

function load(line) {
    const [full, half, path] = words(line);
    return {clients: {full: Number(full.slice(5)), half: Number(half.slice(5))}, path};
}

// The numbers of the lines that bear a mark.
export function marked(source, mark) {
    return source.split('\n').flatMap((line, i) => (line.includes(`// ${mark}`) ? [i + 1] : []));
}

export function readTruth(name) {
    const lines = readFileSync(`${FOLDER}${name}.truth`, 'utf8').split('\n').filter((l) => l && !l.startsWith('#'));
    const pairs = lines.map((l) => [l.split(/\s+/, 1)[0], l.replace(/^\S+\s+/, '')]);
    const of = (key) => pairs.find(([k]) => k === key)?.[1];
    const source = readFileSync(`${FOLDER}${name}.java`, 'utf8');
    const [full, half] = words(of('share')).map(Number);
    const [pipe, pipeMs] = words(of('pipe'));
    const truth = {
        name, program: of('program'), on: words(of('on') ?? '17 21 25'),
        loads: pairs.filter(([k]) => k === 'load').map(([, v]) => load(v)),
        pipe: pipe && {file: pipe, ms: Number(pipeMs)}, jvm: words(of('jvm')), record: words(of('record')), processors: Number(of('processors') ?? 0),
        rule: choices(of('rule')), role: choices(of('resource')), names: choices(of('name')), classes: words(of('class')),
        waiter: of('waiter'), waiterLines: marked(source, 'waiter'), holder: of('holder'), lines: marked(source, 'holder'), file: `${name}.java`, does: choices(of('does')),
        control: of('control') === 'yes', peer: of('peer'), share: of('share') && {full, half}, threads: words(of('threads')),
        removed: words(of('removed')), distractor: words(of('distractor')), idle: words(of('idle')),
    };
    if (truth.holder && truth.lines.length === 0) throw new Error(`${name}.java: no line is marked "// holder"`);
    return truth;
}
