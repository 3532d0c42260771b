/** Reads the lines of a file that another process is writing: existing ones, then each as it is completed. */
import { basename, dirname } from "node:path";
import { createLineSplitter } from "@pi-subagents/progress";
import { messageOf } from "../base/best-effort.ts";
import { defined } from "../base/values.ts";
import { BytesFollower, type FollowBytesOptions } from "./follow-bytes.ts";

export interface FollowOptions extends Pick<FollowBytesOptions, "clock" | "report" | "onQuiet" | "maxBytes"> {
	/** Names of sibling files whose changes also trigger a look. */
	beside?: readonly string[];
	/** Its writer truncates it from time to time and starts over; what was not read by then does not matter. */
	startsOver?: boolean;
}

export interface LineFollower {
	/** Resolves when all complete lines now in the file were delivered. */
	flush(): Promise<void>;
	/** Stops delivering lines. */
	close(): void;
}

const LF = Buffer.from("\n");

/** Lines end with LF. The file need not exist yet; lines over 8 MB are skipped and reported. */
export function followLines(path: string, onLine: (line: string) => void, options: FollowOptions): LineFollower {
	const { beside = [], startsOver = false, report, clock, onQuiet, maxBytes } = options;
	let isClosed = false;
	let wasShorter = false;
	const splitter = createLineSplitter({
		onLine(line) {
			if (isClosed) return;
			try {
				onLine(line);
			} catch (error) {
				report(`A line in ${path} could not be handled: ${messageOf(error)}`); // each line is delivered once
			}
		},
		onSkipped: (bytes) => report(`A line of ${bytes} bytes in ${path} is too long and was skipped.`),
	});
	const name = basename(path);
	const follower = new BytesFollower({
		dir: dirname(path),
		from: new Map([[name, 0]]),
		wakes: [name, ...beside],
		onBytes: (_name, _at, bytes) => splitter.push(bytes),
		/** New lines come after its present end, or its writer starts over; half a line is dropped. */
		onShorter(_name, size) {
			splitter.push(LF);
			if (startsOver) return 0;
			if (!wasShorter) report(`${path} was truncated: some of its lines may not have been read.`);
			wasShorter = true; // once: an agent could truncate its log again and again
			return size;
		},
		clock,
		report,
		...defined({ onQuiet, maxBytes }),
	});
	return {
		flush: () => follower.look(),
		close() {
			isClosed = true;
			follower.close();
		},
	};
}
