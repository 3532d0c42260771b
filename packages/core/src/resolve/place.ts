/** Where an agent runs: on which machine, inside which program, in which directory. Pure. */
import { AgentError, quoted, quotedPath } from "../base/error.ts";
import type { RunSpec } from "../model/runner.ts";
import type { CwdFact, ReplacedTools, ResolveInput } from "./input.ts";
import type { Layers } from "./layers.ts";

/** A worker on this machine, over a pipe: it needs no definition. */
const LOCAL = "local";

/** Undefined: it runs on this machine, without a worker. */
export function resolveMachine(
	wanted: string | undefined,
	runner: RunSpec["runner"],
	known: readonly string[],
): string | undefined {
	const name = wanted?.trim() || (runner === "remote" ? LOCAL : "here");
	if (name === "here") return undefined;
	if (name === LOCAL || known.includes(name)) return name;
	const others = ["here", LOCAL, ...known].map(quoted).join(", ");
	throw new AgentError(
		"bad_request",
		`There is no machine ${quoted(name)}. There is ${others}. Machines are defined in your own settings (\`machines\`).`,
	);
}

/** Agents of other machines work in a checkout of their own, so what a lost one did counts for nothing. */
export function resolveRetry(machine: string | undefined, { pick, origins, warnings }: Layers): RunSpec["retry"] {
	if (pick("retry") !== "lost") return undefined;
	if (machine !== undefined) return "lost";
	if (origins.retry === "call")
		warnings.push("`retry: lost` is for agents on other machines; this one runs here, so it was not used.");
	return undefined;
}

/**
 * Undefined: it runs inside no other program. One that cannot be had as asked is an error: without it the agent could do
 * more than the preset's author allowed.
 */
export function resolveLauncher(
	{ preset, defaults, facts }: ResolveInput,
	machine: string | undefined,
	{ note }: Layers,
): string | undefined {
	const own = defaults.override?.launcher;
	const name = own ?? preset.launcher;
	if (name === undefined) return undefined;
	const wants = `Preset "${preset.name}" runs inside the launcher ${quoted(name)}`;
	// Another launcher than the user had in mind may allow more, or carry credentials.
	if (own === undefined && preset.source.inProject && !facts.isProjectTrusted)
		throw new AgentError(
			"bad_request",
			`${wants}, and a preset of a project may choose one only if you trust the project. Trust it, or set \`launcher\` for the preset in your own settings (\`agentOverrides\`).`,
		);
	const known = facts.launchers ?? [];
	if (!known.includes(name))
		throw new AgentError(
			"bad_request",
			`${wants}, which your settings do not define. There is ${known.map(quoted).join(", ") || "none"}. Launchers are defined in your own settings (\`launchers\`).`,
		);
	if (machine !== undefined)
		throw new AgentError(
			"bad_request",
			`${wants}, which is for agents on this machine, and it is to run on ${quoted(machine)}. Leave one of them out.`,
		);
	note("launcher", own === undefined ? "preset" : "settings");
	return name;
}

/**
 * An agent inside this process would use a tool that a guard replaces in the directory of this process. One that works
 * elsewhere gets its own.
 */
export function resolveRunner(
	chosen: RunSpec["runner"],
	{ cwd, isolation, tools }: Pick<RunSpec, "cwd" | "isolation" | "tools">,
	replaced: ReplacedTools | undefined,
	{ warnings }: Layers,
): RunSpec["runner"] {
	if (chosen !== "session" || !replaced || (cwd === replaced.worksIn && !isolation)) return chosen;
	const [guard] =
		Object.entries(replaced.byGuard).find(([, names]) => names.some((name) => tools.includes(name))) ?? [];
	if (guard === undefined) return chosen;
	warnings.push(
		`The agent runs in its own process: ${guard} guards it and replaces a built-in tool, which works only in the directory of its process.`,
	);
	return "process";
}

export function resolveCwd({ path, kind, isAsked }: CwdFact, layers: Layers): string {
	layers.note("cwd", isAsked ? "call" : "parent");
	if (kind === "directory") return path;
	throw new AgentError("bad_cwd", `The working directory ${quotedPath(path)} ${BAD_CWD[kind]}.`);
}

const BAD_CWD = {
	missing: "does not exist",
	other: "is not a directory",
	outside: "lies outside this session's directory; give an absolute path if that is what you mean",
};
