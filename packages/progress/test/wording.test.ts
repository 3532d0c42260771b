import { expect, test } from "vitest";
import { type DescribeOptions, describeAll } from "../src/index.ts";
import { call, failure, lineFor, result } from "./fixtures/events.ts";

test("phrases are laid over the default ones", () => {
	const options: DescribeOptions = {
		phrases: {
			deploy: { call: "Deploying {service|name} to {target}", failed: "Deploy of {service|name} failed" },
			read: { call: "Lecture de {path}" },
			grep: { done: "" },
			wait: { call: "Waiting {seconds}s" },
			"*": { call: "Appel de {tool}", done: "{tool} : terminé" },
		},
	};
	const deploy = { name: "api", target: "staging" };
	expect(
		describeAll(
			[
				call("deploy", deploy, "1"),
				failure("deploy", "1"),
				call("deploy", { target: "x" }, "2"),
				result("deploy", "2"),
				failure("deploy", "3"),
				call("read", { path: "a.ts" }, "4"),
				result("read", "4"),
				call("grep", { pattern: "x" }, "5"),
				result("grep", "5"),
				call("wait", { seconds: 5 }),
				call("other"),
			],
			options,
		),
	).toEqual([
		"Deploying api to staging",
		"Deploy of api failed",
		"Appel de deploy",
		"deploy : terminé",
		"deploy failed",
		"Lecture de a.ts",
		"Finished reading a.ts",
		"Searching code for x",
		"Waiting 5s",
		"Appel de other",
	]);
});

test("every other word can be replaced too", () => {
	const options: DescribeOptions = {
		notices: {
			compacting: "Kontext wird gekürzt",
			compacted: "Kontext gekürzt",
			compactionFailed: "Kürzen fehlgeschlagen",
			retrying: "Versuch {attempt}/{maxAttempts} in {seconds} s: {error}",
			modelError: "Modellfehler: {error}",
			modelStopped: "Antwort abgebrochen: {unknown}",
			noReason: "ohne Grund",
			unnamedTool: "Werkzeug",
		},
		phrases: { "*": { call: "{tool} läuft" } },
	};
	expect(
		describeAll(
			[
				{ type: "compacting" },
				{ type: "compacted", ok: true },
				{ type: "compacted", ok: false },
				{ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 4_000, error: "" },
				{ type: "assistant_text", text: "", stopReason: "error" },
				{ type: "assistant_text", text: "", stopReason: "aborted" },
				call(""),
			],
			options,
		),
	).toEqual([
		"Kontext wird gekürzt",
		"Kontext gekürzt",
		"Kürzen fehlgeschlagen",
		"Versuch 1/3 in 4 s: ohne Grund",
		"Modellfehler: ohne Grund",
		"Answer stopped: ohne Grund", // the user's template names something that is not there
		"Werkzeug läuft",
	]);
});

test("settings of the wrong shape are ignored", () => {
	const settings = JSON.parse(
		'{"phrases":{"read":"x","ls":null,"__proto__":{"call":"P"},"bash":{"call":7}},"notices":[],"maxLength":"9"}',
	);
	const lines = describeAll(
		[call("read", { path: "a" }), call("ls", { path: "b" }), call("__proto__"), call("bash", { command: "c" })],
		settings,
	);
	expect(lines).toEqual(["Reading a", "Listing b", "P", "c"]);
	expect(lineFor(call("read", { path: "a" }), null as unknown as DescribeOptions)).toBe("Reading a");
});
