// tabs.tsx - the tabs above a panel: one is chosen by a click, by the arrow keys, and by the page's keys 1, 2, ...
import { useRef } from "preact/hooks";

interface TabsProps<T extends string> {
    label: string;
    tabs: readonly T[];
    titles: Readonly<Record<T, string>>;
    /** What stands behind a title. */
    note?: (tab: T) => string;
    value: T;
    onChange: (tab: T) => void;
}

/** A tab has the id tab-NAME and belongs to the element #panel. */
export function Tabs<T extends string>({ label, tabs, titles, note, value, onChange }: TabsProps<T>) {
    const box = useRef<HTMLDivElement>(null);
    const onKey = (e: KeyboardEvent): void => {
        const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
        if (!by)
            return;
        e.preventDefault();
        const k = (tabs.indexOf(value) + by + tabs.length) % tabs.length;
        onChange(tabs[k]);
        box.current!.querySelectorAll<HTMLElement>("[role=tab]")[k].focus();
    };
    return (
        <div class="tabs" role="tablist" aria-label={label} ref={box} onKeyDown={onKey}>
            {tabs.map((t, k) => (
                <button key={t} role="tab" id={`tab-${t}`} aria-controls="panel" aria-selected={value === t} tabIndex={value === t ? 0 : -1} data-test={`tab-${t}`}
                    title={`${titles[t]} (${k + 1})`} onClick={() => onChange(t)}>{titles[t]}{note?.(t) ?? ""}</button>))}
        </div>
    );
}
