// start_page.tsx - the page of `orca view` without a trace: JVMs to attach to, recent traces.
import { begin, put } from "./page.tsx";
import { StartPage } from "./views/start.tsx";
import "./app.css";

begin(async () => put(<StartPage />));
