/**
 * Draws the pictures of the README and the guide from real pi: `npm run pictures` writes docs/images/. The film that
 * the README opens with is the demo, recorded while it runs; the other pictures are screens of it, and of a tree that
 * is held in place.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
	all,
	callTool,
	callTools,
	converse,
	createGate,
	createPiEnv,
	film,
	lastUserSays,
	type Mark,
	offersTool,
	type PictureOptions,
	picture,
	say,
	startModelServer,
	startTui,
	systemPromptSays,
	type Terminal,
} from "@pi-subagents-dev/testkit";
import { PROMPT, projectFiles, rules } from "./model.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const images = join(root, "docs", "images");
const extensions = [join(root, "packages", "extension")];
const themes = {
	dark: { background: "#18181e", foreground: "#d4d4d4" },
	light: { background: "#ffffff", foreground: "#1f2328" },
};
const DEMO = { cols: 100, rows: 34 };
/** Wide enough for the columns of the list. */
const LIST_COLS = 120;
/** Four frames a second show what happens; more would only show the spinner, and cost much. */
const FRAME_MS = 250;

await mkdir(images, { recursive: true });
for (const [theme, colours] of Object.entries(themes)) {
	await drawDemo(theme, colours);
	for (const cols of [40, 80, 120, 200]) await drawTree(theme, colours, cols);
}

type Colours = Pick<PictureOptions, "background" | "foreground">;

function save(name: string, svg: string): Promise<void> {
	return writeFile(join(images, name), svg);
}

/** The whole demo as a film, and its rows, a list and a viewer as pictures. */
async function drawDemo(theme: string, colours: Colours): Promise<void> {
	const server = await startModelServer({ rules: rules({ hasScreen: true }) });
	const env = await createPiEnv({
		server,
		models: [{ id: "offline-demo", name: "Offline demo" }],
		files: await projectFiles(),
		extensions,
		settings: { theme },
	});
	const replace = (line: string) => line.replace(env.cwd, "~/project".padEnd(env.cwd.length));
	const tui = await startTui({ env }, DEMO);
	const draw = async (name: string, title: string, part: Pick<PictureOptions, "from" | "until"> = {}) =>
		save(`${name}-${theme}.svg`, await picture(tui.raw, { ...DEMO, ...colours, title, replace, ...part }));
	const recording = record(tui);
	await typeSlowly(tui, PROMPT);
	tui.press("enter");
	await tui.waitForText("What do they leave out?"); // all three are in the middle of it
	await draw("rows", "Three agents side by side: a row for each, and the tree of agents above pi's editor");
	await tui.waitForText("Ctrl+D quits");
	await pause(2_500);
	tui.press("alt+a");
	await tui.waitForText(/→ ✓/);
	await pause(2_500);
	tui.press("enter");
	await tui.waitForText(/│ +(?:Two files:|All \d tests pass|Store\.move)/);
	await draw("viewer", "The conversation of one agent: what it was asked, what it did and what it answered");
	const marks = await recording.after(500);
	const title = "pi delegates to three agents, shows what each is doing, and sums up what they found";
	const poster = (lines: readonly string[]) => lines.some((line) => line.includes("Agents 3 running"));
	await save(
		`demo-${theme}.svg`,
		await film(tui.raw, marks, { ...DEMO, ...colours, title, replace, poster, lastMs: 4_000 }),
	);
	await tui.close();
	await env.cleanup();
	await server.close();
}

/** How much of the output was there when; `after` ends it that long from now. */
function record(tui: Terminal): { after(ms: number): Promise<Mark[]> } {
	const start = performance.now();
	const marks: Mark[] = [];
	const note = () => marks.push({ at: Math.round(performance.now() - start), length: lastFrame(tui.raw) });
	const timer = setInterval(note, FRAME_MS);
	return {
		async after(ms) {
			await pause(ms);
			clearInterval(timer);
			note();
			return marks;
		},
	};
}

/** Never the middle of a frame. */
function lastFrame(raw: string): number {
	const end = "\x1b[?2026l";
	return raw.lastIndexOf(end) + end.length;
}

async function typeSlowly(tui: Terminal, text: string): Promise<void> {
	for (const word of text.split(/(?<= )/)) {
		tui.type(word);
		await pause(120);
	}
}

function agent(subagent_type: string, description: string) {
	return callTool("Agent", { prompt: "Go on.", description, subagent_type });
}

function preset(name: string, more = ""): string {
	return `---\nname: ${name}\ndescription: ${name}\nmodel: fake/fake-1\ntools: read, grep\n${more}---\nYou are the ${name}.\n`;
}

/** Two agents, one of which has launched two more. */
async function drawTree(theme: string, colours: Colours, cols: number): Promise<void> {
	const gate = createGate();
	const server = await startModelServer({
		rules: [
			converse(
				all(offersTool("start_subagent"), lastUserSays("ready")),
				callTools(agent("lead", "split the release into parts"), agent("critic", "read the change as a stranger")),
				say("Two agents are on it."),
			),
			converse(
				systemPromptSays("You are the lead."),
				callTools(agent("finder", "find what talks to the store"), agent("finder", "look for missing tests")),
				say("Done."),
			),
			converse(systemPromptSays("You are"), callTool("read", { path: "src/store.ts" }), { ...say("Done."), gate }),
		],
	});
	const env = await createPiEnv({
		server,
		extensions,
		settings: { theme },
		files: {
			"src/store.ts": "export const store = new Map();\n",
			".pi/subagents/lead.md": preset("lead", "subagents: '*'\n"),
			".pi/subagents/critic.md": preset("critic"),
			".pi/subagents/finder.md": preset("finder"),
		},
	});
	const tui = await startTui({ env }, { cols, rows: 40 });
	tui.submit("Is this ready to ship?");
	await tui.waitFor((lines) => lines.filter((line) => line.includes("Finished r")).length >= 3);
	const title = "The tree of agents above pi's editor, with what each is doing";
	const replace = (line: string) => line.replace(env.cwd, "~/project".padEnd(env.cwd.length));
	const svg = await picture(tui.raw, {
		cols,
		rows: 40,
		...colours,
		title,
		replace,
		from: /Agents \d/,
		until: /^─{20}/,
	});
	await save(`tree-${theme}-${cols}.svg`, svg);
	if (cols === LIST_COLS) {
		tui.press("alt+a");
		await tui.waitForText(/→ \S+ lead/);
		const about = "The agents of a session as a list, parents above children, with the keys that act on them";
		await save(
			`list-${theme}.svg`,
			await picture(tui.raw, { cols, rows: 40, ...colours, title: about, replace, from: / Agents › / }),
		);
	}
	gate.open();
	await tui.close();
	await env.cleanup();
	await server.close();
}
