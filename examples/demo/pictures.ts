/** Draws the pictures of the READMEs from the real screen: `node examples/demo/pictures.ts` writes docs/images/. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
	all,
	callTool,
	callTools,
	converse,
	createGate,
	createPiEnv,
	lastUserSays,
	offersTool,
	picture,
	say,
	startModelServer,
	startTui,
	systemPromptSays,
} from "@pi-subagents-dev/testkit";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const images = join(root, "docs", "images");
const agent = (subagent_type: string, description: string) =>
	callTool("Agent", { prompt: "Go on.", description, subagent_type });
const preset = (name: string, more = "") =>
	`---\nname: ${name}\ndescription: ${name}\nmodel: fake/fake-1\ntools: read, grep\n${more}---\nYou are the ${name}.\n`;
const themes = {
	dark: { background: "#18181e", foreground: "#d4d4d4" },
	light: { background: "#ffffff", foreground: "#1f2328" },
};

const title = "The tree of agents above pi's editor, with what each is doing";

await mkdir(images, { recursive: true });
for (const [theme, colours] of Object.entries(themes)) {
	for (const cols of [40, 80, 120, 200]) {
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
			extensions: [join(root, "packages", "extension")],
			settings: { theme },
			files: {
				"src/store.ts": "export const store = new Map();\n",
				".pi/subagents/lead.md": preset("lead", "subagents: '*'\n"),
				".pi/subagents/critic.md": preset("critic"),
				".pi/subagents/finder.md": preset("finder"),
			},
		});
		const tui = await startTui({ env }, { cols, rows: 40 });
		tui.type("Is this ready to ship?");
		tui.press("enter");
		await tui.waitFor((lines) => lines.filter((line) => line.includes("Finished r")).length >= 3);
		const svg = await picture(tui.raw, { cols, rows: 40, ...colours, title, from: /Agents \d/ });
		await writeFile(join(images, `tree-${theme}-${cols}.svg`), svg.replaceAll(env.cwd, "~/project"));
		gate.open();
		await tui.close();
		await env.cleanup();
		await server.close();
	}
}
