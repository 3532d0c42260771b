/** Signals to process groups, with or without their leader. */
import { codeOf } from "./error-code.ts";

/** Whether any process of the group is left. */
export function isGroupAlive(leader: number): boolean {
	try {
		process.kill(target(leader), 0);
		return true;
	} catch (error) {
		return codeOf(error) === "EPERM";
	}
}

/** A group that is gone needs no signal. */
export function signalGroup(leader: number, signal: "SIGTERM" | "SIGKILL"): void {
	try {
		process.kill(target(leader), signal);
	} catch (error) {
		if (codeOf(error) !== "ESRCH" && codeOf(error) !== "EPERM") throw error;
	}
}

/** Windows has no groups. */
function target(leader: number): number {
	return process.platform === "win32" ? leader : -leader;
}
