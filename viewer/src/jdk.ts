// jdk.ts - which classes are the JDK's: as the analyser has it (src/analyze/sites.c, sites_is_jdk).
const PREFIXES = /^(java|javax|jdk|sun)\./;

export function isJdk(name: string): boolean {
    return PREFIXES.test(name);
}
