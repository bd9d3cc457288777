// ranges.ts - lists of numbers as texts: "1,5-9".
/** "1,5-9" */
export function ranges(ids: readonly number[]): string {
    const parts: string[] = [];
    for (let i = 0; i < ids.length; i++) {
        const first = ids[i];
        while (i + 1 < ids.length && ids[i + 1] === ids[i] + 1)
            i++;
        parts.push(ids[i] === first ? `${first}` : `${first}-${ids[i]}`);
    }
    return parts.join(",");
}
