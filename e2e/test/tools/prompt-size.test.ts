/** What our tools add to every request of a session: bounded, whatever the user has, and nothing of tools that are off. */
import { gateCases, otherwise, runJson, type ServedRequest, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { scene } from "../../support/scene.ts";

const MAX_CHARACTERS = 6_500;
const MAX_WORKFLOW_CHARACTERS = 600;
const TOOLSETS = {
	agents: ["Agent", "get_subagent_result", "steer_subagent", "stop_subagent", "reply_subagent", "list_models"],
	presets: ["subagent", "background_agent", "background_agent_status"],
	roles: ["start_subagent", "stop_subagent", "reply_subagent"],
};
const OTHERS = { workflows: ["workflow"] };

interface World {
	models?: number;
	presets?: number;
	machines?: number;
	toolsets?: readonly (keyof typeof TOOLSETS | keyof typeof OTHERS)[];
}

/** What pi sends to the model first. */
async function firstRequest(
	{ models = 60, presets = 100, machines = 0, toolsets }: World,
	extensions?: readonly string[],
) {
	const files = Object.fromEntries(Array.from({ length: presets }, (_, index) => [presetPath(index), preset(index)]));
	const names = Array.from({ length: machines }, (_, index) => `machine-${index}`);
	const named = Object.fromEntries(names.map((name) => [name, { ssh: `me@${name}` }]));
	await using it = await scene([otherwise(say("Hello."))], {
		models: Array.from({ length: models }, (_, index) => ({ id: `model-${index}` })),
		agentFiles: { ...files, "subagents.json": JSON.stringify({ ...(toolsets && { toolsets }), machines: named }) },
		...(extensions ? { extensions } : {}),
	});
	const { code, stderr } = await runJson({ env: it.env, args: ["--no-session"] }, "Hello?");
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	return it.server.requests[0] as ServedRequest;
}

const presetPath = (index: number) => `agents/preset-${index}.md`;

const preset = (index: number) =>
	`---\ndescription: Knows part ${index} of the "project", how it works, what it needs and who depends on it\n---\nLook.\n`;

async function added(world: World) {
	const [ours, plain] = [await firstRequest(world), await firstRequest(world, [])];
	const own = ours.tools.filter(({ name }) => !plain.tools.some((tool) => tool.name === name));
	const lines = new Set(plain.systemPrompt.replaceAll(/\/pi-env-[^/]+/g, "").split("\n"));
	const news = ours.systemPrompt.replaceAll(/\/pi-env-[^/]+/g, "").split("\n");
	return {
		tools: own.map(({ name }) => name),
		characters: JSON.stringify(ours.raw).length - JSON.stringify(plain.raw).length,
		text: [JSON.stringify(own), ...news.filter((line) => !lines.has(line))].join("\n"),
	};
}

describe("the tools cost at most 6,500 characters of a request", () => {
	const worlds: readonly World[] = [
		{ models: 60, presets: 1_000, machines: 3 }, // which adds parameters
		{ models: 12, presets: 100 }, // few enough to be named
	];
	test.each(gateCases(worlds, 0))("with $models models and $presets presets", async (world) => {
		const { tools, characters } = await added(world);
		expect(new Set(tools)).toEqual(new Set(Object.values(TOOLSETS).flat()));
		expect(characters).toBeLessThanOrEqual(MAX_CHARACTERS);
	});
});

test("the tool of workflows, which is off by default, costs at most 600", async () => {
	const { tools, text } = await added({ toolsets: ["workflows"] });
	expect(tools).toEqual(OTHERS.workflows);
	expect(text.length).toBeLessThanOrEqual(MAX_WORKFLOW_CHARACTERS);
});

describe("a session that is offered only some toolsets", () => {
	test.each(gateCases(["agents", "presets", "roles"] as const, 1))(
		"reads nothing of tools outside of %s",
		async (toolset) => {
			const { tools, text } = await added({ toolsets: [toolset] });
			expect(new Set(tools)).toEqual(new Set(TOOLSETS[toolset]));
			const others = Object.values(TOOLSETS)
				.flat()
				.filter((name) => !tools.includes(name));
			expect(others.filter((name) => new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
			expect(text).toContain("- preset-0: Knows part 0"); // and it can choose
		},
	);
});
