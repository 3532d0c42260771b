/**
 * Updating the extension while pi runs, as an installer does: its directory is replaced by that of another build. What
 * runs goes on, what would need a file of the other build is refused in one sentence, and the next pi takes everything up.
 */
import { cp, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	availablePis,
	callTool,
	converse,
	createGate,
	createTempDir,
	lastUserSays,
	otherwise,
	type PiRpc,
	say,
	startRpc,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { toldIn } from "../../support/detached.ts";
import { extensionDir, isSession, type Scene, scene } from "../../support/scene.ts";
import { fileOf } from "../../support/visits.ts";
import { script } from "../../support/workflows.ts";

const SENTENCE = "pi-subagents was updated from 0.1.0 to 0.2.0 while pi was running: restart pi.";

/** The packed extension, and the same as another build of a later version, which does not fit the first. */
async function twoBuilds(root: string): Promise<{ dir: string; update: () => Promise<void> }> {
	const [dir, next] = [join(root, "extension"), join(root, "next")];
	for (const place of [dir, next])
		await cp(extensionDir, place, { recursive: true, filter: (path) => !/node_modules|\.map$/.test(path) });
	const dist = join(next, "dist");
	for (const name of (await readdir(dist, { withFileTypes: true }))
		.filter((entry) => entry.isFile())
		.map((entry) => entry.name)) {
		const text = await readFile(join(dist, name), "utf8");
		await writeFile(
			join(dist, name),
			text.replaceAll(/0\.1\.0\+[0-9a-f]{8}/g, "0.2.0+fedcba98").replaceAll("subagentCommand", "anotherCommand"),
		);
	}
	const manifest = JSON.parse(await readFile(join(next, "package.json"), "utf8"));
	await writeFile(join(next, "package.json"), JSON.stringify({ ...manifest, version: "0.2.0" }));
	const update = async () => {
		await rename(dir, join(root, "before"));
		await rename(next, dir);
	};
	return { dir, update };
}

const said = (rpc: PiRpc, from = 0) => JSON.stringify(rpc.events.slice(from));

async function command(rpc: PiRpc, message: string): Promise<string> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message });
	return until(`${message} is answered`, async () => {
		const events = said(rpc, from);
		return events.includes("notify") || events.includes("extension_error") ? events : undefined;
	});
}

const scout = (more: object) => callTool("Agent", { subagent_type: "repo-scout", description: "dig", ...more });
const schema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };

const results = ({ server }: Scene) =>
	server.requests
		.filter(isSession)
		.at(-1)
		?.lastToolResults.map(({ text }) => text) ?? [];

test("every file that is loaded later, or runs elsewhere, begins with the name of its build", async () => {
	const dist = join(extensionDir, "dist");
	const names = (await readdir(dist)).filter((name) => /\.(?:cjs|js|css|ts)$/.test(name) && !name.endsWith(".d.ts"));
	const heads = await Promise.all(names.map(async (name) => (await readFile(join(dist, name), "utf8")).slice(0, 200)));
	const builds = heads.map((head) => /\/\* pi-subagents (\S+) \*\//.exec(head)?.[1]);
	expect(names.length).toBeGreaterThan(20);
	expect([...new Set(builds)]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+\+[0-9a-f]{8}$/)]);
});

describe.each(await availablePis())("pi $version", (pi) => {
	test("what runs goes on, launches and commands say it in one sentence, and the next pi takes everything up", async () => {
		await using temp = await createTempDir();
		const { dir, update } = await twoBuilds(temp.path);
		const [inside, beside, later] = [createGate(), createGate(), createGate()];
		const background = (preset: string, task: string) => callTool("background_agent", { preset, task });
		await using it = await scene(
			[
				when(lastUserSays("Dig inside."), { ...say('{"word": "heliotrope"}'), gate: inside }),
				when(lastUserSays("Dig beside."), { ...say("Found beside."), gate: beside }),
				when(lastUserSays("Dig later."), { ...say("Found later."), gate: later }),
				converse(
					lastUserSays("Launch inside"),
					scout({ prompt: "Dig inside.", output_schema: schema }),
					say("On its way."),
				),
				converse(lastUserSays("Launch beside"), background("repo-scout", "Dig beside."), say("On its way.")),
				converse(lastUserSays("Launch later"), background("repo-scout", "Dig later."), say("On its way.")),
				converse(lastUserSays("Launch one more"), background("repo-scout", "Dig more."), say("I see.")),
				converse(
					lastUserSays("Run it"),
					callTool("workflow", { script: script("return 1"), background: false }),
					say("I see."),
				),
				otherwise(say("Noted.")),
			],
			{
				extensions: [dir],
				agentFiles: { "subagents.json": JSON.stringify({ toolsets: ["agents", "presets", "workflows"] }) },
				files: {
					"again.ts":
						'export default (pi) => pi.registerCommand("again", { description: "", handler: (_args, ctx) => ctx.reload() });',
				},
			},
		);
		const session = await (async () => {
			await using rpc = startRpc({ env: it.env, pi, extensions: ["again.ts"] });
			for (const words of ["Launch inside", "Launch beside", "Launch later"]) await rpc.prompt(words);
			const file = await fileOf(rpc);
			const asked = () =>
				it.server.requests.filter(({ lastUserText }) => /^Dig (inside|beside|later)\./.test(lastUserText));
			await until("all agents are at work", async () => asked().length === 3 || undefined);
			await update();

			// What needs a file of the other build is refused, and says why.
			expect(await command(rpc, "/subagent list")).toContain(SENTENCE);
			expect(await command(rpc, "/agents")).toContain(SENTENCE);
			await rpc.prompt("Launch one more");
			expect(results(it)).toEqual([expect.stringContaining(SENTENCE)]);
			await rpc.prompt("Run it");
			expect(results(it)).toEqual([expect.stringContaining(SENTENCE)]);
			expect(said(rpc)).not.toContain("is not a function");

			// What runs ends as it would have: its answer is checked, and told.
			inside.open();
			beside.open();
			await until("both are told", async () => (await toldIn(file)).length >= 2 || undefined);
			expect(await toldIn(file)).toEqual(
				expect.arrayContaining([
					expect.objectContaining({ status: "completed", preview: expect.stringContaining("heliotrope") }),
					expect.objectContaining({ status: "completed", preview: "Found beside." }),
				]),
			);

			// A reload runs the same old code, and says so at once.
			const from = rpc.events.length;
			await rpc.send({ type: "prompt", message: "/again" });
			await until("the reload says it", async () => said(rpc, from).includes(SENTENCE) || undefined);
			return file;
		})();

		// The next pi runs the new build, and rejoins what the old one started.
		await using next = startRpc({ env: it.env, pi, args: ["--session", session] });
		await next.prompt("Hello");
		later.open();
		await until(
			"the last is told",
			async () => (await toldIn(session)).some(({ preview }) => preview === "Found later.") || undefined,
		);
		expect(said(next)).not.toContain(SENTENCE);
		await next.prompt("Launch one more");
		expect(results(it).join()).not.toContain("updated");
	});
});
