/** Starts the user's own command for an alert: an argument list and JSON on its input, no shell. */
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { ALERT_VARIABLE, type Alert, type AlertRules } from "../alert/alert.ts";
import { parseJson } from "../base/json.ts";
import { untilSpawned, whyNotStarted } from "../base/spawn-error.ts";

const rulesSchema = Type.Object({
	on: Type.Array(Type.Union([Type.Literal("question"), Type.Literal("failed"), Type.Literal("done")])),
	minSeconds: Type.Number({ minimum: 0 }),
	via: Type.Union([Type.Literal("osc"), Type.Literal("bell"), Type.Literal("command")]),
	command: Type.Array(Type.String(), { minItems: 1 }),
});

/**
 * Resolves when the command has its input; it may run longer than this process. Rejects if it cannot be started. It
 * runs in the user's home directory: in the project, `./notify` would be a file of the project.
 */
export async function runAlertCommand(alert: Alert, [program = "", ...args]: readonly string[]): Promise<void> {
	const child = spawn(program, args, {
		cwd: homedir(),
		detached: true,
		windowsHide: true,
		stdio: ["pipe", "ignore", "ignore"],
	});
	child.stdin.on("error", () => undefined); // it does not read, or has ended
	await untilSpawned(child).catch((error) => {
		throw new Error(`The command for notifications could not be started: ${whyNotStarted(error)}`, { cause: error });
	});
	child.unref();
	await new Promise<void>((resolve) => {
		child.stdin.once("close", resolve);
		child.once("exit", () => resolve());
		child.stdin.end(`${JSON.stringify(alert)}\n`);
	});
}

/** Takes the rules out of the environment, so that no child inherits them. Undefined if there are none. */
export function takeAlertRules(env: Record<string, string | undefined>): AlertRules | undefined {
	const given = env[ALERT_VARIABLE];
	delete env[ALERT_VARIABLE];
	const rules = given === undefined ? undefined : parseJson(given);
	return Check(rulesSchema, rules) ? rules : undefined;
}
