// help_dialog.tsx - what "?" opens: the keys of a page, and other explanations.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import "./help.css";

const NAMES: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", Enter: "Enter", PageUp: "Page Up", PageDown: "Page Down" };

interface HelpProps {
    keys: readonly { keys: string[]; text: string }[];
    open: boolean;
    onClose: () => void;
    children: ComponentChildren;
}

export function HelpDialog({ keys, open, onClose, children }: HelpProps) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => {
        if (open && !dialog.current!.open)
            dialog.current!.showModal();
        else if (!open && dialog.current!.open)
            dialog.current!.close();
    }, [open]);
    return (
        <dialog class="help" ref={dialog} data-view="help" aria-label="help" onClose={onClose}>
            <h2>Keys</h2>
            <dl>{keys.map((k) => <div key={k.keys[0]}><dt>{k.keys.map((n) => <kbd key={n}>{NAMES[n] ?? n.toUpperCase()}</kbd>)}</dt><dd>{k.text}</dd></div>)}</dl>
            {children}
            <form method="dialog"><button data-test="help-close">Close</button></form>
        </dialog>
    );
}
