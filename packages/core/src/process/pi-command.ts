/** How to start the pi that runs us once more, as another process. Pure. */
import { basename } from "node:path";

export interface PiCommand {
	command: string;
	/** Come before all others. */
	args: readonly string[];
}

/** Of Node's `process`, what tells how it was started. */
export interface StartedProcess {
	readonly execPath: string;
	readonly argv: readonly string[];
}

export function piCommand({ execPath, argv }: StartedProcess, exists: (path: string) => boolean): PiCommand {
	const script = argv[1];
	// In a compiled program the script is a name inside it.
	if (script && !script.startsWith("/$bunfs/") && exists(script)) return { command: execPath, args: [script] };
	if (!/^(?:node|bun)(?:\.exe)?$/i.test(basename(execPath))) return { command: execPath, args: [] };
	return { command: "pi", args: [] };
}
