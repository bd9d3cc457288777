// heap_page.tsx - the page of `orca view` with a heap dump.
import { begin, put } from "./page.tsx";
import { watchAddress } from "./heap/address.ts";
import { App } from "./heap/app.tsx";
import { pending } from "./heap/ask.ts";
import { watchKeys } from "./heap/keys.ts";
import { overview, watchOverview } from "./heap/source.ts";
import * as state from "./heap/state.ts";

begin(async () => {
    state.overview.value = await overview();
    document.title = `${state.overview.value.name} – Orca`;
    watchAddress();
    watchKeys();
    watchOverview((now) => { state.overview.value = now; }, (why) => { state.gone.value = why; });
    put(<App />);
});

/** What tests ask for; nothing of the page uses it. */
Object.assign(window, { orca: { heap: state, pending: () => pending.value } });
