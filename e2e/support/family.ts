/** Three levels of agents: a boss has a middle work, and that one two leaves, which wait at a gate. */
import {
	all,
	callTool,
	callTools,
	converse,
	createGate,
	type Gate,
	lastUserSays,
	offersTool,
	type Rule,
	say,
	systemPromptSays,
	when,
} from "@pi-subagents-dev/testkit";

const preset = (name: string, more = "") =>
	`---\nname: ${name}\ndescription: ${name} of the test\nmodel: fake/fake-1\ntools: read\n${more}---\nYou are the ${name}.\n`;

export const familyFiles = {
	".pi/subagents/boss.md": preset("boss", "subagents: '*'\n"),
	".pi/subagents/middle.md": preset("middle", "subagents: '*'\n"),
	".pi/subagents/leaf.md": preset("leaf"),
};

const agent = (subagent_type: string, description: string, prompt = "Go on.") =>
	callTool("Agent", { prompt, description, subagent_type });

export interface Family {
	rules: Rule[];
	/** The first leaf goes on when this is open. */
	first: Gate;
	/** The second. */
	second: Gate;
}

/** The user says "delegate"; in the end the session's model says "All is done." */
export function family(): Family {
	const [first, second] = [createGate(), createGate()];
	const leaf = (prompt: string, gate: Gate) =>
		converse(
			all(systemPromptSays("You are the leaf."), lastUserSays(prompt)),
			callTool("read", { path: "notes.txt" }),
			{
				...say("Leaf done."),
				gate,
			},
		);
	const rules = [
		converse(
			all(offersTool("start_subagent"), lastUserSays("delegate")),
			agent("boss", "split the task"),
			say("They are off."),
		),
		when(all(offersTool("start_subagent"), lastUserSays("<task-notification>")), say("All is done.")),
		converse(systemPromptSays("You are the boss."), agent("middle", "inspect the flow"), say("Boss done.")),
		converse(
			systemPromptSays("You are the middle."),
			callTools(agent("leaf", "trace the owner", "Trace it."), agent("leaf", "look for tests", "Look for them.")),
			say("Middle done."),
		),
		leaf("Trace it.", first),
		leaf("Look for them.", second),
	];
	return { rules, first, second };
}
