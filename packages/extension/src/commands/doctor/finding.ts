/** What a check of the doctor finds. Types only. */

/** `hint`: agents work, but something may not be as the user thinks. */
export type Level = "ok" | "hint" | "problem";

export interface Finding {
	level: Level;
	text: string;
	/** What to do about it. */
	fix?: string;
}

export interface Check {
	name: string;
	/** What goes wrong inside may be thrown; it becomes a finding. */
	run(): Promise<Finding[]>;
}
