// histogram.tsx - how durations are spread: a bar for each power of two, as the reports have them.
import { count, duration } from "../format.ts";

export type Log2 = readonly (readonly [number, number])[];

const WIDTH = 96;
const HEIGHT = 16;

const exponent = (ns: number) => (ns < 2 ? 0 : Math.floor(Math.log2(ns) + 1e-9));

/** [least, greatest] power of two over all rows, so that the bars of one column can be compared. */
export function log2Scale(lists: Iterable<Log2>): readonly number[] {
    let low = 64, high = -1;
    for (const list of lists)
        for (const [from] of list) {
            low = Math.min(low, exponent(from));
            high = Math.max(high, exponent(from));
        }
    return high < 0 ? [0, 0] : [low, high];
}

export function describe(list: Log2): string {
    return list.map(([from, n]) => `${count(n)} from ${duration(from)} to ${duration(from < 2 ? 2 : from * 2)}`).join("\n");
}

export function Histogram({ list, scale }: { list: Log2; scale: readonly number[] }) {
    if (list.length === 0)
        return null;
    const [low, high] = scale;
    const step = Math.min(WIDTH / (high - low + 1), 12);
    const most = Math.max(...list.map(([, n]) => n));
    const text = describe(list);
    return (
        <svg class="histogram" width={WIDTH} height={HEIGHT} role="img" aria-label={text}>
            <title>{text}</title>
            {list.map(([from, n]) => {
                const h = Math.max(1, (n / most) * (HEIGHT - 1));
                return <rect key={from} x={(exponent(from) - low) * step} y={HEIGHT - h} width={Math.max(step - 1, 1)} height={h} />;
            })}
        </svg>
    );
}
