/** What an extension is called in presets and settings, and which extensions no agent may load. */
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { SourceInfo } from "@earendil-works/pi-coding-agent";
import { codeOf } from "@pi-subagents/core/internal/base";
import { readPlainSync } from "@pi-subagents/core/internal/files";

/** The name of its package, if it has one, and that of its file. */
export function extensionNames(path: string, { baseDir, origin }: Pick<SourceInfo, "baseDir" | "origin">): string[] {
	const stem = basename(path, extname(path));
	const fileName = stem === "index" ? basename(dirname(path)) : stem;
	const outside = baseDir !== undefined && origin === "package" ? dirname(baseDir) : baseDir;
	const realDir = dirname(realpathSync(path)); // a link to our own entry is still ours
	const packageName = packageNameOf(realDir, outside === undefined ? undefined : realpathSync(outside));
	return packageName === undefined || packageName === fileName ? [fileName] : [packageName, fileName];
}

/** Whether a preset or a setting means this extension: by one of its names, or by its path. */
export function isCalled({ path, names }: { path: string; names: readonly string[] }, name: string): boolean {
	if (names.includes(name) || path === name) return true;
	const wanted = name.startsWith("~/") ? join(homedir(), name.slice(2)) : name;
	if (!wanted.startsWith("/") && !/^[A-Za-z]:[\\/]/.test(wanted)) return false;
	if (!existsSync(wanted) || !existsSync(path)) return resolve(wanted) === path;
	return realpathSync(wanted) === realpathSync(path);
}

/** Whether one of these names is ours. A child that loaded us would launch agents of its own, outside this manager. */
export function isOurs(names: readonly string[]): boolean {
	return names.some((name) => name === "pi-subagents" || name.startsWith("@pi-subagents/"));
}

/**
 * Whether the extension launches agents itself: by what packages of this kind are called, or by what their tools are
 * called. One that launches agents has `tool_call` handlers for its own tools, which guard nothing of ours.
 */
export function launchesAgents(names: readonly string[], tools: Iterable<string> = []): boolean {
	return names.some((name) => SUBAGENT_NAME.test(name)) || [...tools].some((tool) => SUBAGENT_TOOL.test(tool));
}

const SUBAGENT_NAME = /^(?:@[\w.-]+\/)?(?:pi-)?sub-?agent(?:s|ura)?$/i;
const SUBAGENT_TOOL = /^(?:Agent|(?:\w+_)?subagents?(?:_\w+)?|background_agent|spawn_agents?|SubagentWorkflow)$/;

/** The name of the nearest enclosing package, looking upwards until `outside`. */
function packageNameOf(dir: string, outside: string | undefined): string | undefined {
	if (dir === outside) return undefined;
	const file = join(dir, "package.json");
	if (existsSync(file)) return nameIn(file);
	const parent = dirname(dir);
	return parent === dir ? undefined : packageNameOf(parent, outside);
}

const MAX_MANIFEST_BYTES = 1024 * 1024;

function nameIn(file: string): string | undefined {
	try {
		const { name } = JSON.parse(readPlainSync(file, MAX_MANIFEST_BYTES, { followsLinks: true }).toString("utf8")) as {
			name?: unknown;
		};
		return typeof name === "string" ? name : undefined;
	} catch (error) {
		const isBroken = error instanceof SyntaxError || error instanceof TypeError;
		if (isBroken || ["EINVAL", "EFBIG"].includes(codeOf(error) ?? "")) return undefined; // so it has no name
		throw error;
	}
}
