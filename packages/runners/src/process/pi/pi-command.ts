/** How to start another process of the pi that runs us. Pure. */
import { basename } from "node:path";

export interface PiCommand {
	command: string;
	/** Come first. */
	args: readonly string[];
}

/** The parts of Node's `process` that tell how it was started. */
export interface StartedProcess {
	readonly execPath: string;
	readonly argv: readonly string[];
}

export function piCommand({ execPath, argv }: StartedProcess, exists: (path: string) => boolean): PiCommand {
	const script = argv[1];
	// In a compiled program the script is a virtual path.
	if (script && !script.startsWith("/$bunfs/") && exists(script)) return { command: execPath, args: [script] };
	if (!/^(?:node|bun)(?:\.exe)?$/i.test(basename(execPath))) return { command: execPath, args: [] };
	return { command: "pi", args: [] };
}
