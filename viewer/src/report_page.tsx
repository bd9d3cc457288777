// report_page.tsx - the page that `orca html` writes: its data is in it.
import { begin } from "./page.tsx";
import { open } from "./trace_page.tsx";
import { InlineSource } from "./source/inline.ts";

begin(async () => {
    const pack = document.getElementById("orca-pack");
    if (!pack)
        throw new Error("this page has no data in it: write one with orca html");
    await open(await InlineSource.read(pack));
});
