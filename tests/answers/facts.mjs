// facts.mjs - what a finding of `orca report --json` says, as facts: roles, names, methods, lines, numbers.  Its text is not read.
import {readFileSync} from 'node:fs';

export const glob = (pattern) => new RegExp(`^${pattern.split('*').map((s) => s.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`);
export const isAny = (patterns, word) => word !== undefined && word !== null && patterns.some((p) => glob(p).test(word));

export class Report {
    constructor(file) {
        this.json = JSON.parse(readFileSync(file, 'utf8'));
        this.threads = new Map((this.json.threads ?? []).map((t) => [t.id, t.name]));
        this.locks = new Map((this.json.queues ?? []).map((q) => [q.lock, q.class]));
        this.sites = new Map((this.json.sites ?? []).map((s) => [s.stack, s]));
    }

    get findings() {
        return this.json.findings ?? [];
    }

    threadsOf(finding) {
        return (finding.threads ?? []).map((id) => this.threads.get(id) ?? '');
    }

    // All that a finding names: what a resource is called, classes of locks, methods of stacks.
    names(finding) {
        const places = (finding.stacks ?? []).map((id) => this.sites.get(id)).filter(Boolean).flatMap((s) => [methodOf(s.at), methodOf(s.innermost)]);
        const holders = (finding.holders ?? []).flatMap((h) => [methodOf(h.at), methodOf(h.innermost), h.leaf, h.resource?.name, h.resource?.class]);
        const r = finding.resource;
        return [r?.name, r?.class, methodOf(finding.waiters?.at), ...(finding.locks ?? []).map((id) => this.locks.get(id)), ...places, ...holders].filter(Boolean);
    }

    // On a monitor: then somebody else had it, and the thread was not idle, whatever it is there for.
    isBlocked(finding) {
        const sites = (finding.stacks ?? []).map((id) => this.sites.get(id)).filter(Boolean);
        const classes = (finding.locks ?? []).map((id) => this.locks.get(id));
        const entries = (this.json.locks ?? []).filter((l) => classes.includes(l.class));
        return [...sites, ...entries].some((s) => s.blocked_ns > s.parked_ns + s.waited_ns);
    }

    // Lines of the program at which the threads of a finding wait.
    waitingAt(finding) {
        const sites = (finding.stacks ?? []).map((id) => this.sites.get(id)?.at);
        const circle = finding.rule === 'deadlock' ? (this.json.deadlocks ?? []).flatMap((d) => d.members.flatMap((m) => m.stack ?? [])) : [];
        return [finding.waiters?.at, ...sites, ...circle].filter(Boolean);
    }

    // Waiting that is nobody's harm is in it, too: a rule that knows nothing adds up what there is.
    longestWait() {
        const sums = new Map();
        for (const s of this.json.sites ?? []) {
            const method = methodOf(s.at) ?? '?';
            if (/^(java|javax|jdk|sun)\./.test(method)) continue; // no library's frame, nor the program's
            const ns = s.blocked_ns + s.waited_ns + s.parked_ns + (s.joined_ns ?? 0);
            sums.set(method, (sums.get(method) ?? 0) + ns);
        }
        return [...sums].sort((a, b) => b[1] - a[1])[0]?.[0];
    }
}

export const methodOf = (at) => (at ? `${at.class ? `${at.class}.` : ''}${at.method}` : undefined);

// A method is named by itself, a class's by its beginning: `fx.Journal` is in `fx.Journal.note`.
export const speaksOf = (names, patterns) => patterns.some((p) => names.some((n) => (p.includes('*') ? glob(p).test(n) : n.includes(p))));
