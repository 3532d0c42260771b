/**
 * A pi that speaks just enough of RPC mode to be wrapped, and misbehaves as its first argument says. It notes its own
 * process and those it starts in the file `pids`, what it is told in `heard`, and the end of that in `closed`, all in the
 * directory of its run.
 */
import { spawn } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const runDir = process.env.PI_SUBAGENTS_RUN_DIR;
const note = (name, text) => appendFileSync(join(runDir, name), `${text}\n`);
const print = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, cost: { total: 0.01 } };
const message = (text, more = {}) => ({
	type: "message_end",
	message: {
		role: "assistant",
		content: [{ type: "text", text }],
		provider: "fake",
		model: "one",
		stopReason: "stop",
		usage,
		...more,
	},
});
const say = (text, more) => print(message(text, more));
const call = () => {
	say("", { content: [{ type: "toolCall", id: "t", name: "bash", arguments: {} }], stopReason: "toolUse" });
	print({ type: "tool_execution_start", toolCallId: "t", toolName: "bash", args: { command: "make" } });
};
const result = () =>
	print({ type: "tool_execution_end", toolCallId: "t", toolName: "bash", isError: false, result: {} });
const idle = () => print({ type: "agent_settled" });
const finish = (text) => {
	say(text);
	print({ type: "turn_end" });
	idle();
};
const later = (ms, work) => setTimeout(work, ms);
const stay = () => setInterval(() => {}, 1_000);

/** Another process, in this group or in one of its own, that does not end by itself. */
function breed({ detached = false, stdio = "ignore" } = {}) {
	const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')";
	const child = spawn(process.execPath, ["-e", script], { detached, stdio });
	note("pids", child.pid);
	child.unref();
	return child;
}

let dialogs = 0;
const waiting = new Map();
/** What our entry in a real pi would ask the wrapper. */
const ask = (request) =>
	new Promise((resolve) => {
		const id = `d${++dialogs}`;
		waiting.set(id, resolve);
		print({ type: "extension_ui_request", id, method: "input", title: `pi-subagents:${JSON.stringify(request)}` });
	});

/** Each turn uses a tool. Ends when it is told to wrap up, if it obeys. */
async function turn({ goesOn = true } = {}) {
	call();
	result();
	const word = await ask({ ask: "turn_end", goesOn, contextPercent: 12.5 });
	print({ type: "turn_end" });
	return word;
}

const scenarios = {
	answers() {
		process.stderr.write("Warning: something is deprecated.\n");
		finish("Done.");
	},
	/** Lets everybody read its conversation, and prints nothing but events. */
	careless() {
		process.umask(0);
		writeFileSync(join(runDir, "child-session.jsonl"), "{}\n");
		finish("Done.");
	},
	/** Says its last word, but never that it is idle, and does not end with its input. */
	lingers() {
		stay();
		say("Done.");
	},
	/** Does not end when asked to. */
	stubborn() {
		stay();
		process.on("SIGTERM", () => {});
		finish("Done.");
	},
	/** Leaves a process of its group behind that ignores the polite signal. */
	family() {
		const child = breed({ stdio: ["ignore", "pipe", "ignore"] });
		child.stdout.once("data", () => {
			child.stdout.destroy(); // or it would keep us
			finish("Done.");
		});
	},
	/** Its output stays open in a process that left its group. */
	leaks() {
		breed({ detached: true, stdio: "inherit" });
		finish("Done.");
	},
	messy() {
		const last = Buffer.from(`${JSON.stringify(message("Grüße 🎉\u2028und mehr"))}\n`);
		const middle = last.indexOf(Buffer.from("🎉")) + 2;
		process.stdout.write('null\n42\n"text"\n[1]\n{"type":\nnot json\n\n\r\n{"type":"message_end"}\n');
		process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x28, 0x0a]));
		process.stdout.write(`{"type":"message_end","padding":"${"x".repeat(50 * 1024 * 1024)}"}\n`);
		process.stdout.write(last.subarray(0, middle));
		later(20, () => {
			process.stdout.write(last.subarray(middle));
			idle();
			process.stdout.write('{"type":"message_end","message":{"role":"assista');
		});
	},
	dies() {
		process.stderr.write("\x1b[31mNo such model: fake/two\x1b[0m\n");
		process.exit(3);
	},
	/** What looks like its answer is not. */
	continues() {
		stay();
		say("Let me look.");
		later(50, () => {
			call();
			result();
			say("Really done.");
			process.stdout.write("npm notice: there is a new version\n");
		});
	},
	retries() {
		say("", { stopReason: "error", errorMessage: "overloaded" });
		print({ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 600, errorMessage: "overloaded" });
		later(600, () => finish("Recovered."));
	},
	retries_for_ever() {
		say("", { stopReason: "error", errorMessage: "overloaded" });
		print({ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 600_000, errorMessage: "overloaded" });
		stay();
	},
	compacts() {
		say("Done.");
		print({ type: "compaction_start" });
		later(600, () => {
			print({ type: "compaction_end", result: {} });
			idle();
		});
	},
	compacts_for_ever() {
		say("Done.");
		print({ type: "compaction_start" });
		stay();
	},
	fails() {
		say("So far so good.");
		say("", { stopReason: "error", errorMessage: "out of credit" });
		process.exitCode = 0;
		process.stdin.destroy();
	},
	/** A command of it runs in a group of its own, as pi's do. */
	killed() {
		const child = breed({ detached: true, stdio: ["ignore", "pipe", "ignore"] });
		call();
		child.stdout.once("data", () => process.kill(process.pid, "SIGKILL"));
	},
	/** Its model stops in the middle of its answer. */
	streams() {
		say("I look first.", { stopReason: "toolUse" });
		const grow = (type, delta) => print({ type: "message_update", usage, assistantMessageEvent: { type, delta } });
		grow("thinking_delta", "Hm. text_delta");
		grow("text_delta", "The launch code");
		grow("text_delta", " is helio");
		print({ type: "tool_execution_update", toolCallId: "t", toolName: "bash", partialResult: {} });
		stay();
	},
	/** Writes a long answer, piece by piece, when it is told to: a message of 1 KB for each of 600 pieces. */
	async writes() {
		const update = (assistantMessageEvent) => print({ type: "message_update", usage, assistantMessageEvent });
		update({ type: "thinking_delta", contentIndex: 0, delta: "Hm." });
		update({ type: "thinking_end", contentIndex: 0, content: "Hm." });
		await ask({ ask: "question", question: { question: "More?", timeoutMs: 60_000 } });
		for (let block = 1; block <= 600; block++) {
			update({ type: "text_delta", contentIndex: block, delta: "x".repeat(1_024) });
			update({ type: "text_end", contentIndex: block, content: "x".repeat(1_024) });
		}
		await ask({ ask: "question", question: { question: "Done?", timeoutMs: 60_000 } });
		finish("Done.");
	},
	/** Thinks, then runs a tool that prints, then writes, each for two seconds. */
	async keeps_on() {
		const often = async (line) => {
			for (let piece = 0; piece < 20; piece++) {
				print(line);
				await new Promise((resolve) => setTimeout(resolve, 100)); // real time: between two pieces
			}
		};
		const grow = (type) => ({ type: "message_update", usage, assistantMessageEvent: { type, delta: "x" } });
		print({ type: "agent_start" });
		await often(grow("thinking_delta"));
		call();
		await often({ type: "tool_execution_update", toolCallId: "t", toolName: "bash", partialResult: {} });
		await often(grow("text_delta"));
		finish("Done.");
	},
	/** Its model is silent. */
	hangs() {
		print({ type: "agent_start" });
		stay();
	},
	tool() {
		call();
		stay();
	},
	async works() {
		await ask({ ask: "begin" });
		const word = await turn();
		await ask({ ask: "turn_end", goesOn: false });
		finish(word === "wrap_up" ? "Wrapped up." : "Worked.");
	},
	async loops() {
		await ask({ ask: "begin" });
		for (;;) await turn();
	},
	async asks() {
		await ask({ ask: "begin" });
		const question = { question: "Which one?", defaultAnswer: "the first", timeoutMs: 60_000 };
		finish(`Answer: ${await ask({ ask: "question", question })}`);
	},
	async asks_briefly() {
		const question = { question: "Which one?", defaultAnswer: "the first", timeoutMs: 300 };
		finish(`Answer: ${await ask({ ask: "question", question })}`);
	},
	/** Its request fails, and before it is made again our entry asks. */
	async repeats() {
		say("", { stopReason: "error", errorMessage: "overloaded" });
		print({ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 1, errorMessage: "overloaded" });
		await ask({ ask: "loop" });
		finish("Recovered.");
	},
	/** The same, and the provider has said when it wants to be asked again. */
	async rests() {
		const message = `pi-subagents:${JSON.stringify({ retryAfterMs: 700 })}`;
		print({ type: "extension_ui_request", id: "word", method: "notify", message });
		say("", { stopReason: "error", errorMessage: "429" });
		print({ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 1, errorMessage: "429" });
		const began = performance.now();
		await ask({ ask: "loop" });
		print({ type: "agent_start" });
		finish(performance.now() - began >= 600 ? "Rested." : "Hurried.");
	},
	/** Another extension of it opens dialogs. */
	dialogs() {
		waiting.set("other", (value) => finish(`Other: ${value}`));
		print({ type: "extension_ui_request", id: "note", method: "notify", message: "hello" });
		print({ type: "extension_error", extensionPath: "/x.ts", event: "turn_end", error: "boom" });
		print({ type: "extension_ui_request", id: "other", method: "input", title: "Your name?" });
	},
};

const commands = {
	prompt({ id, message }) {
		note("heard", JSON.stringify(message));
		if (scenario === "refuses") {
			print({ type: "response", id, command: "prompt", success: false, error: "No API key found for fake." });
			return;
		}
		print({ type: "response", id, command: "prompt", success: true });
		if (prompts++ === 0) scenarios[scenario]();
		else finish(`Also: ${message}`);
	},
	steer({ id, message }) {
		note("heard", JSON.stringify(message));
		print({ type: "response", id, command: "steer", success: true });
	},
	set_model({ id }) {
		print({ type: "response", id, command: "set_model", success: true });
	},
	get_state({ id }) {
		// One that is about to print more does not know yet that it is idle.
		if (scenario !== "continues") print({ type: "response", id, command: "get_state", success: true, data: {} });
	},
	extension_ui_response: ({ id, value }) => waiting.get(id)?.(value),
};

const scenario = process.argv[2];
let prompts = 0;
note("pids", process.pid);
let input = "";
process.stdin.on("end", () => note("closed", "its input has ended"));
process.stdin.setEncoding("utf8").on("data", (text) => {
	const lines = (input + text).split("\n");
	input = lines.pop();
	for (const line of lines) {
		const command = JSON.parse(line);
		commands[command.type]?.(command);
	}
});
