/** A launch in which everything is usual; each test changes what it is about. */
import {
	type AgentError,
	type Defaults,
	type Facts,
	type PresetFields,
	type ResolveInput,
	resolveSpec,
} from "../../src/index.ts";

export const preset: PresetFields = {
	name: "scout",
	prompt: "Look, do not touch.",
	promptMode: "append",
	enabled: true,
	path: "/project/.pi/subagents/scout.md",
	source: { kind: "project", flavour: "subagents", inProject: true },
};
export const ofUser: PresetFields = { ...preset, source: { kind: "global", flavour: "agents", inProject: false } };
export const facts: Facts = {
	models: [
		{ provider: "fake", id: "small", inScope: true },
		{ provider: "fake", id: "large", inScope: false },
	],
	tools: ["read", "bash", "edit", "write", "grep"].map((name) => ({ name, isActive: true })),
	cwd: { path: "/project", kind: "directory", isAsked: false },
	isProjectTrusted: false,
};
export const parent: ResolveInput["parent"] = { model: { provider: "fake", id: "large" }, thinking: "low" };

export type Change = {
	request?: Partial<ResolveInput["request"]>;
	preset?: Partial<PresetFields>;
	defaults?: Defaults;
	facts?: Partial<Facts>;
	parent?: ResolveInput["parent"];
};
export const resolve = (change: Change = {}, base = ofUser) =>
	resolveSpec({
		request: { task: "Find the auth flow.", ...change.request },
		preset: { ...base, ...change.preset },
		defaults: change.defaults ?? {},
		parent: change.parent ?? parent,
		facts: { ...facts, ...change.facts },
	});
export const errorOf = (change: Change, base = ofUser) => {
	try {
		return resolve(change, base);
	} catch (error) {
		const { code, message } = error as AgentError;
		return { code, message };
	}
};
