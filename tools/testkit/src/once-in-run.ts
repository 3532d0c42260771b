/** Something costly that several test files of one run share: the first that asks makes it, the others wait for it. */
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const FAILED = "failed";
const FINISHED = "finished";

/** `dir` belongs to this run of the tests alone; `make` fills it. Whoever waited for a `make` that failed fails too. */
export async function onceInRun(dir: string, make: (dir: string) => Promise<unknown>): Promise<void> {
	if (await isMadeHere(dir)) return fill(dir, make);
	while (!(await exists(join(dir, FINISHED)))) {
		if (await exists(join(dir, FAILED))) throw new Error(`another test file could not fill ${dir}`);
		await pause(50); // real time: between two looks, for as long as the other needs
	}
}

async function fill(dir: string, make: (dir: string) => Promise<unknown>): Promise<void> {
	try {
		await make(dir);
		await writeFile(join(dir, FINISHED), "");
	} catch (error) {
		await writeFile(join(dir, FAILED), "");
		throw error;
	}
}

/** Only one process can make a directory. */
function isMadeHere(dir: string): Promise<boolean> {
	return mkdir(join(dir, "started")).then(
		() => true,
		(error: NodeJS.ErrnoException) => {
			if (error.code === "EEXIST") return false;
			throw error;
		},
	);
}

function exists(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false,
	);
}
