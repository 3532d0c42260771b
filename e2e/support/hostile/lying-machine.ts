/** A machine that lies, as real pi meets it: an agent is sent there over what pi takes for ssh. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { callTool, type RequestView, say } from "@pi-subagents-dev/testkit";
import { parentSays, scene } from "../scene.ts";

/** What it does besides accepting every order. */
export interface Lie {
	/** Fields of the result that it sends at once. Without them it never sends one. */
	result?: { writtenBy?: string; outcome: object };
	/** Instead of accepting orders, it refuses them with this text. */
	refusal?: string;
	/** Its version, in a greeting of another protocol. */
	version?: string;
	/** It prints this on its standard error and ends. */
	complaint?: string;
	/** A piece of a run that it sends without end. */
	flood?: object;
	/** It answers no control message. */
	isSilent?: true;
}

/** `fields` are lines of the preset's frontmatter. `heard()`: what the session's model read as the result. */
export async function lyingMachine(lie: Lie, fields = "") {
	let heard = "";
	const launch = callTool("Agent", {
		prompt: "Try it.",
		description: "try things",
		subagent_type: "stranger",
		run_in_background: false,
		machine: "box",
	});
	const hears = ({ lastToolResults }: RequestView) => {
		heard = lastToolResults.map(({ text }) => text).join("\n");
		return say("Heard it.");
	};
	const it = await scene([parentSays(launch, hears)], {
		agentFiles: {
			"agents/stranger.md": `---\nname: stranger\ndescription: tries things\nmodel: fake/fake-1\ntools: read\n${fields}\n---\nYou are the stranger.\n`,
			"subagents.json": JSON.stringify({ machines: { box: { ssh: "me@box" } } }),
		},
		variables: { PATH: `${bin}:${process.env.PATH}`, LIE: JSON.stringify(lie) },
	});
	return Object.assign(it, { heard: () => heard });
}

/** Beside it is what pi takes for ssh. */
const bin = dirname(fileURLToPath(new URL("lying-ssh/worker.cjs", import.meta.url)));

/** Without the fences, and what is in them. */
export const outside = (text: string): string => text.replace(/<([a-z]+-[0-9a-f]{12})>[\s\S]*?<\/\1>/g, "…");
