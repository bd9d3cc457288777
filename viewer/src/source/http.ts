// http.ts - the source that asks the server of `orca view` (docs/reference/view-protocol.md).
//
// Generation answers never change, so the browser's cache keeps them.  When a generation is gone (410)
// the question is asked again of the newest one.
import type { Source } from "../source.ts";
import { SourceError } from "../source.ts";
import type {
    Arrows, By, Context, Flame, Found, LockAt, LockRow, MarkDetail, Marks, Meta, Overview, PathTile, Rates, Report, RowId, Run, Selection, StateName,
    TileRow, Wait,
} from "../types.ts";
import { ranges } from "../ranges.ts";
import { ask, listen, wrong } from "./ask.ts";
import { decodeArrows, decodePath, decodeTile } from "./tile.ts";

type Parameter = string | number | undefined;

function query(parameters: Record<string, Parameter>): string {
    const q = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters))
        if (value !== undefined)
            q.set(name, String(value));
    const text = q.toString();
    return text ? `?${text}` : "";
}

function of(s: Selection): Record<string, Parameter> {
    return { from: s.from, to: s.to, threads: s.threads && ranges(s.threads), class: s.class, lock: s.lock };
}

export class HttpSource implements Source {
    private gen = 0;

    constructor(private readonly trace: number) {}

    async meta(): Promise<Meta> {
        const response = await ask(`/api/t${this.trace}/meta`);
        if (!response.ok)
            throw new SourceError(await wrong(response));
        const meta = (await response.json()) as Meta;
        this.gen = meta.gen;
        return meta;
    }

    watch(changed: (meta: Meta) => void, gone: (why: string) => void): void {
        let busy = false;
        let again = false;
        const look = async (): Promise<void> => {
            if (busy) {
                again = true;
                return;
            }
            busy = true;
            try {
                changed(await this.meta());
            } catch (e) {
                gone(e instanceof Error ? e.message : String(e));
            }
            busy = false;
            if (again) {
                again = false;
                void look();
            }
        };
        listen({
            gen: (data) => {
                if ((JSON.parse(data) as { trace: number }).trace === this.trace)
                    void look();
            },
            gone: (data) => {
                const { trace, error } = JSON.parse(data) as { trace: number; error: string };
                if (trace === this.trace)
                    gone(error);
            },
        }, gone);
    }

    private async get(path: string, parameters: Record<string, Parameter>): Promise<Response> {
        for (let tries = 0; ; tries++) {
            const response = await ask(`/api/t${this.trace}/g${this.gen}/${path}${query(parameters)}`);
            if (response.ok)
                return response;
            if (response.status !== 410 || tries > 2)
                throw new SourceError(await wrong(response));
            await this.meta();
        }
    }

    private async json<T>(path: string, parameters: Record<string, Parameter>): Promise<T> {
        return (await (await this.get(path, parameters)).json()) as T;
    }

    private async binary(path: string, parameters: Record<string, Parameter>): Promise<ArrayBuffer> {
        return (await this.get(path, parameters)).arrayBuffer();
    }

    async tile(level: number, i: number, rows: RowId[]): Promise<Map<RowId, TileRow>> {
        return decodeTile(await this.binary(`tile/${level}/${i}`, { rows: rows.join(",") }), rows);
    }
    async arrows(level: number, i: number): Promise<Arrows> {
        return decodeArrows(await this.binary(`arrows/${level}/${i}`, {}));
    }
    async path(level: number, i: number, to?: { thread: number; time: number }): Promise<PathTile> {
        return decodePath(await this.binary(`path/${level}/${i}`, { thread: to?.thread, to: to && Math.round(to.time) }));
    }
    overview(n: number): Promise<Overview> {
        return this.json("overview", { n });
    }
    report(sections: string[], s: Selection, top?: number): Promise<Report> {
        return this.json("report", { sections: sections.join(","), ...of(s), top });
    }
    locks(s: Selection, top: number, ids?: readonly number[]): Promise<{ n: number; locks: LockRow[] }> {
        return this.json("locks", { from: s.from, to: s.to, threads: s.threads && ranges(s.threads), top, ids: ids?.join(",") });
    }
    contexts(ids: number[]): Promise<Context[]> {
        return this.json("contexts", { ids: ids.join(",") });
    }
    wait(thread: number, index: number): Promise<Wait> {
        return this.json("wait", { thread, index });
    }
    at(row: RowId, time: number): Promise<Wait | Run | LockAt> {
        return this.json("at", { row, time: Math.round(time) });
    }
    flame(s: Selection, states: StateName[] | null, by: By): Promise<Flame> {
        return this.json("flame", {
            from: s.from, to: s.to, threads: s.threads && ranges(s.threads), lock: s.lock, states: states?.join(","), by,
        });
    }
    rates(s: Selection, n: number): Promise<Rates> {
        return this.json("rates", { from: s.from, to: s.to, threads: s.threads && ranges(s.threads), n });
    }
    search(q: string): Promise<Found> {
        return this.json("search", { q });
    }
    marks(s: Selection): Promise<Marks> {
        return this.json("marks", { from: s.from, to: s.to, threads: s.threads && ranges(s.threads) });
    }
    mark(thread: number, index: number): Promise<MarkDetail> {
        return this.json("mark", { thread, index });
    }
}
