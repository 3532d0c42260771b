/**
 * What the `schedule` of a call says: a time, and after semicolons how the job is kept. One string, because a model
 * fills in a string more reliably than a form, and the form would cost every request more than the whole feature. Pure.
 */
import { AgentError } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";

/** Where a job lives: with one session, or with the project, for whichever pi is open there. */
export type Scope = "session" | "project";

export interface ScheduleRequest {
	when: string;
	scope: Scope;
	/** A success is not announced. */
	quiet: boolean;
	overlap?: (typeof OVERLAPS)[number];
	missed?: (typeof MISSED)[number];
	timeZone?: string;
	maxRuns?: number;
}

const OVERLAPS = ["skip", "queue", "allow"] as const;
const MISSED = ["skip", "latest", "all"] as const;

/**
 * @example
 * ```ts
 * parseRequest("0 9 * * 1; project; quiet; zone=Europe/Berlin");
 * ```
 */
export function parseRequest(text: string): ScheduleRequest {
	const [when = "", ...options] = text.split(";").map((part) => part.trim());
	const request: ScheduleRequest = { when, scope: "session", quiet: false };
	for (const option of options) if (option !== "") Object.assign(request, parseOption(option));
	return request;
}

function parseOption(option: string): Partial<ScheduleRequest> {
	const [key = "", value = ""] = option.split("=", 2).map((part) => part.trim());
	const known = Object.hasOwn(OPTIONS, key.toLowerCase()) ? OPTIONS[key.toLowerCase()] : undefined;
	const read = known?.(value);
	if (read) return read;
	throw new AgentError(
		"bad_request",
		`In \`schedule\`, ${quoted(option)} cannot be used. After the time you can give, separated by semicolons: ${EXPECTED}.`,
	);
}

const EXPECTED =
	"project (instead of session), quiet, zone=Europe/Berlin, runs=5, overlap=skip|queue|allow, missed=skip|latest|all";

/** What each stands for; nothing, where the value cannot be used. */
const OPTIONS: Record<string, (value: string) => Partial<ScheduleRequest> | undefined> = {
	session: (value) => (value === "" ? { scope: "session" } : undefined),
	project: (value) => (value === "" ? { scope: "project" } : undefined),
	quiet: (value) => (value === "" ? { quiet: true } : undefined),
	zone: (timeZone) => (timeZone === "" ? undefined : { timeZone }),
	runs: (value) => (/^[1-9]\d{0,5}$/.test(value) ? { maxRuns: Number(value) } : undefined),
	overlap: (value) => oneOf(OVERLAPS, value, (overlap) => ({ overlap })),
	missed: (value) => oneOf(MISSED, value, (missed) => ({ missed })),
};

function oneOf<Name extends string, Result>(
	names: readonly Name[],
	value: string,
	use: (name: Name) => Result,
): Result | undefined {
	const found = names.find((name) => name === value.toLowerCase());
	return found === undefined ? undefined : use(found);
}
