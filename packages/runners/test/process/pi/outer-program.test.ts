import { homedir } from "node:os";
import { describe, expect, test } from "vitest";
import { type Launchers, outerProgram } from "../../../src/process/pi/outer-program.ts";

const run = (launchers: Launchers, launcher: string | undefined = "net") =>
	outerProgram(
		{ cwd: "/home/ann/my project", ...(launcher === "" ? {} : { launcher }) },
		{ launchers: () => launchers, agentDir: "/home/ann/.pi/agent", runDir: "/p/.pi/subagents/runs/a1" },
	);

describe("the program around a child", () => {
	test("has the places of the run filled in, each within its word", () => {
		const command = ["bwrap", "--bind", "{cwd}", "{cwd}", "{runsDir}:{runDir}", "{agentDir}/x", "{home}", "{{cwd}}"];
		expect(run({ net: { command, env: { A: "{cwd}" } } })).toEqual({
			command: [
				"bwrap",
				"--bind",
				"/home/ann/my project",
				"/home/ann/my project",
				"/p/.pi/subagents/runs:/p/.pi/subagents/runs/a1",
				"/home/ann/.pi/agent/x",
				homedir(),
				"{/home/ann/my project}",
			],
			env: { A: "{cwd}" },
		});
	});

	test("is left alone where braces belong to a shell", () => {
		const command = ["sh", "-c", `exec "\${0}" {a,b} {}`, "$HOME"];
		expect(run({ net: { command } })?.command).toEqual(command);
	});

	test("is none if the spec names none", () => {
		expect(run({ net: { command: ["false"] } }, "")).toBeUndefined();
	});

	test.each<[string, Launchers, string]>([
		["is not there", { other: { command: ["true"] } }, 'The launcher "net" is not in your settings (`launchers`).'],
		["has no command", { net: { command: [] } }, 'The launcher "net" is not in your settings (`launchers`).'],
		[
			"has a place that nobody knows",
			{ net: { command: ["bwrap", "--tmpfs", "{homedir}"] } },
			'The launcher "net" says "{homedir}"; there is {cwd}, {runDir}, {runsDir}, {agentDir}, {home}.',
		],
	])("that %s is an error", (_name, launchers, message) => {
		expect(() => run(launchers)).toThrow(message);
	});

	test("is not found among what every object has, nor where nobody gives launchers", () => {
		expect(() => run({}, "constructor")).toThrow("is not in your settings");
		expect(() => outerProgram({ cwd: "/", launcher: "net" }, { agentDir: "/a", runDir: "/r" })).toThrow(
			"is not in your settings",
		);
	});
});
