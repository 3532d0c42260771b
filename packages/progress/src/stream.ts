/**
 * The command `pi-progress`: JSON lines in, readable lines out. The streams are passed in; it does not exit the process.
 * It reads only as fast as its output is consumed.
 */
import type { Readable, Writable } from "node:stream";
import { createDescriber } from "./describe.ts";
import { formatCount } from "./format.ts";
import { createLineSplitter, MAX_LINE_BYTES } from "./lines.ts";
import { normalize } from "./normalize.ts";
import { safeJson } from "./safe-json.ts";
import { sanitize } from "./sanitize.ts";
import type { ChildEvent } from "./schema/events.ts";

/** The process around the command. */
export interface Terminal {
	/** The arguments after the command's name. */
	args: readonly string[];
	stdin: Readable & { isTTY?: boolean };
	stdout: Writable;
	stderr: Writable;
	version: string;
	/** The longest line that is read, in bytes. */
	maxLineBytes?: number;
}

const USAGE = `Usage: pi --mode json -p "…" | pi-progress
       pi-progress < session.jsonl

Turns the JSON lines of pi on stdin, or a session file, into readable lines.

  --help     show this text
  --version  show the version
`;

/** Runs the command and returns its exit code. */
export async function run(terminal: Terminal): Promise<number> {
	const { args, stdin, stdout, stderr, version } = terminal;
	const unknown = args.find((arg) => !["--help", "-h", "--version", "-v"].includes(arg));
	if (unknown !== undefined) {
		stderr.write(`pi-progress: unknown argument ${safeJson(unknown)}\n\n${USAGE}`);
		return 2;
	}
	if (args.length > 0) {
		stdout.write(args.includes("--help") || args.includes("-h") ? USAGE : `${version}\n`);
		return 0;
	}
	if (stdin.isTTY) {
		stderr.write(`pi-progress: nothing is piped in\n\n${USAGE}`);
		return 2;
	}
	return translate(terminal);
}

async function translate({ stdin, stdout, stderr, maxLineBytes = MAX_LINE_BYTES }: Terminal): Promise<number> {
	stdout.on("error", () => {}); // the failed write reports it; without a listener it would crash the process
	const skipped = { tooLong: 0, notJson: 0 };
	const seen = { lines: 0, fromPi: 0 };
	const describeNext = createDescriber();
	let ready = "";
	const splitter = createLineSplitter({
		maxBytes: maxLineBytes,
		onSkipped: () => skipped.tooLong++,
		onLine(text) {
			if (text.trim() !== "") seen.lines++;
			const parsed = parseJson(text);
			if (isPiLine(parsed)) seen.fromPi++;
			if (parsed === NOT_JSON) {
				if (text.trim() !== "") skipped.notJson++;
				return;
			}
			for (const event of [...normalize(parsed), ...fromSessionEntry(parsed)]) {
				const line = describeNext(event);
				if (line !== undefined) ready += `${line}\n`;
			}
		},
	});
	const flush = async () => {
		const text = ready;
		ready = "";
		if (text !== "") await write(stdout, text);
	};
	try {
		for await (const bytes of stdin) {
			splitter.push(bytes);
			await flush();
		}
		splitter.end();
		await flush();
	} catch (error) {
		if (isClosedPipe(error)) return 0; // the reader is done, as in `pi-progress | head`
		stderr.write(`pi-progress: ${sanitize(error instanceof Error ? error.message : String(error))}\n`);
		return 1;
	}
	if (seen.lines + skipped.tooLong > 0 && seen.fromPi === 0) {
		stderr.write("pi-progress: none of these lines comes from pi: pipe in `pi --mode json`, or a session file\n");
		return 1;
	}
	const report = skippedText(skipped, maxLineBytes);
	if (report !== "") stderr.write(`pi-progress: skipped ${report}\n`);
	return 0;
}

/**
 * The events that one line of a session file stands for. It has whole messages instead of events: tool calls are in the
 * assistant's message, and their results are messages.
 */
function fromSessionEntry(entry: unknown): ChildEvent[] {
	if (!isRecord(entry)) return [];
	if (entry.type === "compaction") return normalize({ type: "compaction_end", result: entry });
	const { message } = entry;
	if (entry.type !== "message" || !isRecord(message)) return [];
	if (message.role === "toolResult") return normalize({ ...message, type: "tool_execution_end" });
	const calls = Array.isArray(message.content) ? message.content.filter(isRecord) : [];
	return [
		...normalize({ type: "message_end", message }),
		...calls
			.filter(({ type }) => type === "toolCall")
			.flatMap(({ id, name, arguments: args }) =>
				normalize({ type: "tool_execution_start", toolCallId: id, toolName: name, args }),
			),
	];
}

/** Types of lines that only pi writes, in its JSON and RPC modes and in session files. */
const PI_LINES =
	/^(?:session|message|compaction|(?:agent|turn|message|tool_execution|compaction|auto_retry|session|model|thinking_level|extension|custom|branch)_\w+|response|custom)$/;

/** Whether a parsed line can come from pi. */
function isPiLine(line: unknown): boolean {
	return isRecord(line) && typeof line.type === "string" && PI_LINES.test(line.type);
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Resolves when the text is written, so that reading slows down with the consumer of the output. */
function write(stream: Writable, text: string): Promise<void> {
	return new Promise((resolve, reject) => {
		stream.write(text, (error) => (error ? reject(error) : resolve()));
	});
}

const NOT_JSON = Symbol("not JSON");

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return NOT_JSON;
	}
}

function isClosedPipe(error: unknown): boolean {
	return error instanceof Error && "code" in error && error.code === "EPIPE";
}

function skippedText(skipped: { tooLong: number; notJson: number }, maxLineBytes: number): string {
	const { tooLong, notJson } = skipped;
	const texts = [];
	if (tooLong > 0) texts.push(`${formatCount(tooLong, "line")} over ${bytesText(maxLineBytes)}`);
	if (notJson > 0) texts.push(`${formatCount(notJson, "line")} that ${notJson === 1 ? "was" : "were"} not JSON`);
	return texts.join(" and ");
}

function bytesText(bytes: number): string {
	return bytes % (1024 * 1024) === 0 ? `${bytes / 1024 / 1024} MB` : `${bytes} bytes`;
}
