/** For what is shown of something that changes often: a thousand changes at once are one showing. */
import { bestEffort, type Report } from "@pi-subagents/core";

/** Lets `show` run once, a moment later, however often it is called until then. */
export interface Soon {
	(): void;
	/** A session that ends shows nothing any more. */
	cancel(): void;
}

export function soon(label: string, report: Report, show: () => void): Soon {
	let due: NodeJS.Immediate | undefined;
	const ask = () => {
		due ??= setImmediate(() => {
			due = undefined;
			void bestEffort(label, report, show);
		});
	};
	const cancel = () => {
		clearImmediate(due);
		due = undefined;
	};
	return Object.assign(ask, { cancel });
}
