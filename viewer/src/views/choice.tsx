// choice.tsx - one of a few, chosen by a click or by the arrow keys.

export interface Option<T extends string> { value: T; text: string; hint?: string }

interface ChoiceProps<T extends string> {
    /** The data-test name; that of an option is NAME-VALUE. */
    name: string;
    label: string;
    options: readonly Option<T>[];
    value: T;
    onChange: (value: T) => void;
}

export function Choice<T extends string>({ name, label, options, value, onChange }: ChoiceProps<T>) {
    const keys = (e: KeyboardEvent) => {
        const step = e.key === "ArrowRight" || e.key === "ArrowDown" ? 1 : e.key === "ArrowLeft" || e.key === "ArrowUp" ? -1 : 0;
        if (!step)
            return;
        e.preventDefault();
        e.stopPropagation();
        const i = (options.findIndex((o) => o.value === value) + step + options.length) % options.length;
        onChange(options[i].value);
        ((e.currentTarget as HTMLElement).children[i] as HTMLElement).focus();
    };
    return (
        <span class="segments" role="radiogroup" aria-label={label} data-test={name} onKeyDown={keys}>
            {options.map((o) => (
                <button key={o.value} type="button" role="radio" aria-checked={o.value === value} tabIndex={o.value === value ? 0 : -1}
                    title={o.hint} data-test={`${name}-${o.value}`} onClick={() => onChange(o.value)}>{o.text}</button>))}
        </span>
    );
}
