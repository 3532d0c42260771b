/** How an agent settled. A failure of the agent is a value; only a failed request is an error. */
import type {
	Aborted as AbortedRun,
	Completed as CompletedRun,
	Failed as FailedRun,
	Structured,
} from "@pi-subagents/progress";

export type Outcome<Data = unknown> = Completed<Data> | Failed | Aborted;

export interface Completed<Data = unknown> extends Omit<CompletedRun, "structured"> {
	/** The answer as data, if a schema was requested. The server has validated it. */
	structured?: Omit<Structured, "data"> & { data: Data };
}

export interface Failed extends FailedRun {}

export interface Aborted extends Omit<AbortedRun, "by"> {
	/** `user`, `parent`, `turns`, `timeout`, `idle`, `budget`, `shutdown`, `lost`, or `unknown`; newer servers may know more. */
	by: string;
}
