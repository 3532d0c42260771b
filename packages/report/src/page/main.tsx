/** The page's script: shows the report that the page holds, and any later one that it is given. */
import { render } from "preact";
import type { Report } from "../model/types.ts";
import { App } from "./app.tsx";
import "./style.css";

const root = document.getElementById("app");
const data = document.getElementById("report")?.textContent;

function show(report: Report): void {
	if (root) render(<App report={report} />, root);
}

// A page that is fed live dispatches each new report; its state, such as the selected agent, stays.
addEventListener("pi-subagents:report", (event) => {
	if (event instanceof CustomEvent) show(event.detail);
});

if (data) {
	root?.replaceChildren();
	show(JSON.parse(data));
}
