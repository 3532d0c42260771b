/**
 * The conversation a run starts with: a later run gets a copy of the previous run's, and a first run, if its spec
 * says so, the launching agent's.
 */
import { stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { codeOf } from "../../base/error-code.ts";
import { readPlain } from "../../files/plain-file.ts";
import { type RunIdentity, type RunSpec, runIdOf } from "../../model/runner.ts";
import { RUN_FILES } from "../../runs/layout.ts";
import { parseJson } from "../../runs/read.ts";
import { goneMessage } from "../../session/history/conversation.ts";
import { sessionText } from "../../session/history/conversation-file.ts";
import { inheritedEntries } from "../../session/history/inherited.ts";

/** Including images. */
const MAX_CONVERSATION_BYTES = 512 * 1024 * 1024;

/** Throws if there was a conversation and it is gone: the child would not know its earlier task. */
export async function continueConversation(dir: string, spec: RunSpec & RunIdentity, clock: Clock): Promise<void> {
	const { agentId, run, cwd } = spec;
	if (run === 1 && spec.inheritsContext) {
		const begun = inheritedEntries(spec, { id: crypto.randomUUID(), at: clock.now() });
		return writeFile(join(dir, RUN_FILES.session), sessionText(begun), { flag: "wx", mode: 0o600 });
	}
	// A run that was stopped before its model answered has none; then the run before counts.
	for (let number = run - 1; number >= 1; number--) {
		const before = join(dirname(dir), runIdOf({ agentId, run: number }));
		const conversation = await readPlain(join(before, RUN_FILES.session), MAX_CONVERSATION_BYTES);
		if (conversation) {
			const copy = withCwd(conversation, cwd);
			if (!copy) throw new Error(goneMessage(agentId));
			return writeFile(join(dir, RUN_FILES.session), copy, { flag: "wx", mode: 0o600 });
		}
		if (!(await isThere(before))) throw new Error(goneMessage(agentId));
	}
}

/** Otherwise pi would work in the first run's directory. A truncated last line would merge with the next. */
function withCwd(conversation: Buffer, cwd: string): Buffer | undefined {
	const headerEnd = conversation.indexOf(LF);
	const header = parseJson(conversation.toString("utf8", 0, Math.max(0, headerEnd)));
	if (typeof header !== "object" || header === null) return undefined;
	const rest = conversation.subarray(headerEnd, conversation.lastIndexOf(LF) + 1);
	return Buffer.concat([Buffer.from(JSON.stringify({ ...header, cwd })), rest]);
}

async function isThere(path: string): Promise<boolean> {
	try {
		return (await stat(path)).isDirectory();
	} catch (error) {
		if (codeOf(error) === "ENOENT") return false;
		throw error;
	}
}

const LF = 0x0a;
