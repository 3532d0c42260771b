/** The result of a doctor check. Types only. */

/** `hint`: agents work, but something may surprise the user. */
export type Level = "ok" | "hint" | "problem";

export interface Finding {
	level: Level;
	text: string;
	/** What to do about it. */
	fix?: string;
}

export interface Check {
	name: string;
	/** Errors thrown here become findings. */
	run(): Promise<Finding[]>;
}
