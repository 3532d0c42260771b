/**
 * Runs one step of the set-up and says what it does, so that nobody stares at a silent terminal: what it is, a sign of
 * life every two seconds, and how long it took. A step that is over within a second is not worth a line.
 * Uses no dependency and no syntax newer than Node 18, since it runs before anything is installed.
 */
import { spawn } from "node:child_process";

const QUIET_MS = 1_000;
const BEAT_MS = 2_000;

/** Resolves with the exit code and everything that the program printed; it is not shown. Rejects if it cannot start. */
export function runStep(title, command, args, options = {}) {
	const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
	const line = startLine(title);
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
	return new Promise((resolve, reject) => {
		child.once("error", (error) => {
			line.end("✗");
			reject(error);
		});
		child.once("close", (code, signal) => {
			line.end(code === 0 ? "✓" : "✗");
			resolve({ status: code ?? (signal === "SIGINT" ? 130 : 1), output });
		});
	});
}

/** In a terminal one line that counts the seconds; elsewhere, such as in a log, a line for each sign of life. */
function startLine(title) {
	const start = Date.now();
	const seconds = () => `${Math.round((Date.now() - start) / 1_000)}s`;
	const isTerminal = process.stderr.isTTY === true;
	const print = (text) => process.stderr.write(isTerminal ? `\r\x1b[2K${text}` : `${text}\n`);
	let isShown = false;
	const beat = () => {
		print(isShown && !isTerminal ? `  … ${seconds()}` : `${title} … ${isTerminal ? seconds() : ""}`.trimEnd());
		isShown = true;
	};
	const first = setTimeout(beat, QUIET_MS);
	const later = setInterval(() => isShown && beat(), BEAT_MS);
	return {
		end(mark) {
			clearTimeout(first);
			clearInterval(later);
			if (isShown) print(`${mark} ${title} (${seconds()})${isTerminal ? "\n" : ""}`);
		},
	};
}
