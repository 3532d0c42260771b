/** The processes of a storm: those whose command or environment names its directory. */
import { readdir } from "node:fs/promises";
import { textOf } from "../support/detached.ts";

export interface Named {
	pid: number;
	parent: number;
	command: string;
}

/** Only Linux can tell. */
export async function processesNaming(root: string): Promise<Named[]> {
	if (process.platform !== "linux") return [];
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const found = await Promise.all(
		pids.map(async (pid) => {
			const stat = (await textOf(`/proc/${pid}/stat`)) ?? "";
			const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
			if (stat === "" || /^[ZX]/.test(state)) return []; // it has ended, and its parent has not looked yet
			const command = (await textOf(`/proc/${pid}/cmdline`)) ?? "";
			const surroundings = (await textOf(`/proc/${pid}/environ`)) ?? "";
			const isOurs = command.includes(root) || surroundings.includes(root);
			return isOurs
				? [{ pid: Number(pid), parent: Number(parent), command: command.replaceAll("\0", " ").slice(0, 300) }]
				: [];
		}),
	);
	return found.flat();
}
