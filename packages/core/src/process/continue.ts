/**
 * What a run begins with: a later run of an agent with the conversation of the run before it, of which it gets a copy,
 * and the first, where its spec says so, with that of whoever launched it.
 */
import { stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../clock.ts";
import { type RunIdentity, type RunSpec, runIdOf } from "../runner.ts";
import { goneMessage } from "../session/conversation.ts";
import { sessionText } from "../session/conversation-file.ts";
import { inheritedEntries } from "../session/inherited.ts";
import { codeOf } from "./code-of.ts";
import { RUN_FILES } from "./layout.ts";
import { readPlain } from "./plain-file.ts";
import { parseJson } from "./read.ts";

/** With all its pictures. */
const MAX_CONVERSATION_BYTES = 512 * 1024 * 1024;

/** Throws if there was a conversation and it is gone: the child would not know what it was asked before. */
export async function continueConversation(dir: string, spec: RunSpec & RunIdentity, clock: Clock): Promise<void> {
	const { agentId, run, cwd } = spec;
	if (run === 1 && spec.inheritsContext) {
		const begun = inheritedEntries(spec, { id: crypto.randomUUID(), at: clock.now() });
		return writeFile(join(dir, RUN_FILES.session), sessionText(begun), { flag: "wx", mode: 0o600 });
	}
	// A run that was stopped before its model answered has none; then the one before it counts.
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

/** pi would work where the first run did. A last line that was cut off would run into the next. */
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
