/** Other people's extensions beside ours in real pi: those that know the protocol, and those that use our client. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
	all,
	callTool,
	converse,
	gateCases,
	gatePis,
	lastUserSays,
	offersTool,
	otherwise,
	type PiRpc,
	patienceMs,
	say,
	startRpc,
	until,
	when,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../support/detached.ts";
import { consumers } from "../../support/extensions/rpc-consumers.ts";
import { extensionDir, type Scene, scene, unfenced } from "../../support/scene.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const documented = fieldsIn(readFileSync(join(root, "docs", "events.md"), "utf8"));
const files = {
	"waits.ts": consumers.waitsForReady,
	"pings.ts": consumers.pings,
	"listens.ts": consumers.listens([...documented.keys()]),
	"connects.ts": consumers.connects(join(root, "packages", "rpc", "dist", "index.js")),
};

const rules = [
	converse(
		all(offersTool("Agent"), lastUserSays("Pass it on.")),
		callTool("Agent", { prompt: "Dig.", description: "dig", subagent_type: "Explore" }),
		({ lastToolResults }) => say(`They say: ${unfenced(lastToolResults[0]?.text).split("\n")[0]}`),
	),
	when(lastUserSays("Dig."), say("Found gold.")),
	when(lastUserSays("Count."), say('{"doors": 2}')),
	otherwise(say("Noted.")),
];

/** Before us or after us. */
const orders = gateCases<["before" | "after"]>([["before"], ["after"]], 0);

const world = (order: "before" | "after", names: readonly (keyof typeof files)[]): Promise<Scene> =>
	scene(rules, {
		files,
		variables: { CONSUMER_PATIENCE_MS: String(patienceMs()) },
		extensions: order === "before" ? [...names, extensionDir] : [extensionDir, ...names],
	});

interface Note {
	who: string;
	[key: string]: unknown;
}

const notes = (it: Scene) => linesOf(join(it.env.cwd, "log.jsonl")) as Promise<Note[]>;

/** The notes of one of them, once there are so many. */
const notesOf = (it: Scene, who: string, count: number) =>
	until(`${count} notes of ${who}`, async () => {
		const own = (await notes(it)).filter((each) => each.who === who).map(({ who: _, ...rest }) => rest);
		return own.length >= count ? own : undefined;
	});

const command = (pi: PiRpc, name: string) => pi.send({ type: "prompt", message: `/${name}` });

/** The fields of each event, by its channel, as people read them. */
function fieldsIn(markdown: string): Map<string, { name: string; isOptional: boolean }[]> {
	const sections = markdown.split(/^## /m).slice(1);
	return new Map(
		sections.map((section) => {
			const rows = [...section.matchAll(/^\| `(\w+)`(\?)? \|/gm)];
			return [
				/^`(.*)`/.exec(section)?.[1] ?? "",
				rows.map(([, name = "", mark]) => ({ name, isOptional: mark !== undefined })),
			];
		}),
	);
}

describe.each(await gatePis())("pi $version", (pi) => {
	describe.each(orders)("with others loaded %s us", (order) => {
		test("consumers of version 2 work as they are, and are told of agents of agents", async () => {
			await using it = await world(order, ["waits.ts", "pings.ts", "listens.ts"]);
			await using rpc = startRpc({ env: it.env, pi });
			expect(await notesOf(it, "waits", 2)).toEqual([
				{ ready: true },
				{
					event: "completed",
					status: "completed",
					result: "They say: Found gold.",
					toolUses: 1,
					hasDuration: true,
					tokens: ["input", "output", "total"],
				},
			]);
			expect(await notesOf(it, "pings", 1)).toEqual([{ version: 2 }]);
			await command(rpc, "task");
			expect(await notesOf(it, "pings", 3)).toEqual([{ version: 2 }, { launched: true }, { result: "Found gold." }]);
			await rpc.prompt("What is new?");
			const asked = it.server.requests.filter(({ tools }) => tools.some(({ name }) => name === "subagent"));
			expect(asked, "nothing was told to the session, so only the user was answered").toHaveLength(1);

			const heard = (await notes(it)).filter(({ who }) => who === "listens") as unknown as Heard[];
			expect(heard.map(({ channel }) => channel)).toEqual(
				expect.arrayContaining(["ready", "settings_loaded", "created", "started", "completed"].map(channelOf)),
			);
			const nested = heard.filter(({ channel, payload }) => channel === channelOf("completed") && payload.depth === 2);
			expect(nested).toHaveLength(1);
			for (const { channel, payload } of heard) {
				const fields = documented.get(channel) ?? [];
				expect(
					fields.map(({ name }) => name),
					channel,
				).toEqual(expect.arrayContaining(Object.keys(payload)));
				for (const { name, isOptional } of fields) if (!isOptional) expect(payload, channel).toHaveProperty(name);
			}
		});

		test("the typed client gets an answer as data", async () => {
			await using it = await world(order, ["connects.ts"]);
			await using rpc = startRpc({ env: it.env, pi });
			await command(rpc, "count");
			expect(await notesOf(it, "connects", 1)).toEqual([
				{
					outcome: expect.objectContaining({
						status: "completed",
						structured: expect.objectContaining({ ok: true, data: { doors: 2 } }),
					}),
					agent: { type: "Explore", status: "completed", depth: 1 },
				},
			]);
		});
	});

	test("after a reload, and in a new session, everybody is ready again, and answers come once", async () => {
		await using it = await world("before", ["waits.ts", "pings.ts", "listens.ts"]);
		await using rpc = startRpc({ env: it.env, pi });
		await notesOf(it, "waits", 2);
		await command(rpc, "again");
		expect(await notesOf(it, "waits", 4)).toMatchObject([{}, {}, { ready: true }, { event: "completed" }]);
		await rpc.send({ type: "new_session" });
		expect(await notesOf(it, "waits", 6)).toMatchObject([{}, {}, {}, {}, { ready: true }, { event: "completed" }]);
		await command(rpc, "task");
		await until("the task is done", async () =>
			(await notes(it)).some(({ who, result }) => who === "pings" && result) ? true : undefined,
		);
		const heard = (await notes(it)).filter(({ who }) => who === "listens") as unknown as Heard[];
		const ends = heard.filter(({ channel }) => channel === channelOf("completed")).map(({ payload }) => payload.id);
		expect(new Set(ends).size, "each agent ends once").toBe(ends.length);
		expect(heard.filter(({ channel }) => channel === channelOf("ready"))).toHaveLength(3);
	});

	test("without us, requests fail in time with that reason", async () => {
		await using it = await scene(rules, {
			...{ files, extensions: ["pings.ts", "connects.ts"] },
			variables: { CONSUMER_PATIENCE_MS: "2000" },
		});
		await using _rpc = startRpc({ env: it.env, pi });
		expect(await notesOf(it, "pings", 1)).toEqual([{ error: "subagents:rpc:ping timed out" }]);
		expect(await notesOf(it, "connects", 1)).toEqual([
			{ error: expect.stringContaining("No sub-agent server answered on the bus within 2000 ms.") },
		]);
	});
});

interface Heard {
	channel: string;
	payload: Record<string, unknown>;
}

function channelOf(event: string): string {
	return `subagents:${event}`;
}
