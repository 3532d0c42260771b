/** What the tools cost in every request of a session, in characters: beside what they may cost, and beside rivals'. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "@pi-subagents/core/internal/base";
import type { Benchmark, Subject } from "../measure.ts";
import { RIVALS, rivalDir } from "../rivals.ts";
import { type Added, addedBy } from "../worlds/prompt.ts";

type Count = (added: Added) => number;

const all: Count = ({ tools, systemPrompt }) => tools + systemPrompt;
const ofTools: Count = ({ tools }) => tools;
const ofSystemPrompt: Count = ({ systemPrompt }) => systemPrompt;

/** A row that holds it fails: there is nothing to compare with. */
const NOTHING: Added = { tools: Number.NaN, systemPrompt: Number.NaN };

const extension = dirname(fileURLToPath(import.meta.resolve("@pi-subagents/extension/package.json")));
const ours = subjectOf("ours", () => addedBy(extension));
const rivals = await Promise.all(
	RIVALS.map(async (rival, index) => {
		const name = `rival ${index + 1}`;
		try {
			const dir = await rivalDir(rival);
			return subjectOf(name, () => addedBy(dir));
		} catch (error) {
			return subjectOf(`${name} cannot be had (${messageOf(error)})`, async () => NOTHING);
		}
	}),
);

export const prompt: Benchmark[] = [
	row("all characters added to a request", 1, all, { name: "allowed", once: () => 7_000 }),
	...rivals.flatMap((rival) => [
		row("characters of tool definitions", 0.5, ofTools, rival(ofTools)),
		row("characters in the system prompt", 0.5, ofSystemPrompt, rival(ofSystemPrompt)),
	]),
];

function row(what: string, target: number, count: Count, against: Subject): Benchmark {
	const name = `prompt: ${what}, 60 models and 100 presets`;
	return { name, target, unit: "", rounds: 1, ours: ours(count), against }; // the same every time: one round tells
}

/** Looked at once, whatever is counted of it. */
function subjectOf(name: string, look: () => Promise<Added>): (count: Count) => Subject {
	let added: Promise<Added> | undefined;
	return (count) => ({
		name,
		async once() {
			added ??= look();
			return count(await added);
		},
	});
}
