/** Validates what callers pass and what files contain. A caller gets an error message; a line of a file is an entry or not. */

import { isSchedule } from "../rules/schedule.ts";
import { JobError, type JobSpec } from "./job.ts";
import {
	type JobChange,
	type JobEntry,
	MAX_OPEN,
	type OpenRun,
	type PassedRun,
	type StoredJob,
} from "./job-reducer.ts";

const MAX_PAYLOAD = 65_536;

type Check = (value: unknown) => boolean;

const isText =
	(most: number): Check =>
	(value) =>
		typeof value === "string" && value.length > 0 && value.length <= most;
const isTime: Check = (value) => Number.isSafeInteger(value) && Math.abs(Number(value)) <= 8.64e15;
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isOneOf =
	(...words: string[]): Check =>
	(value) =>
		words.includes(value as string);
const isList =
	(check: Check, most: number): Check =>
	(value) =>
		Array.isArray(value) && value.length <= most && value.every(check);
const optional =
	(check: Check): Check =>
	(value) =>
		value === undefined || check(value);
const isJson: Check = (value) => value !== undefined && (JSON.stringify(value)?.length ?? Infinity) <= MAX_PAYLOAD;
const has =
	(fields: Record<string, Check>): Check =>
	(value) =>
		typeof value === "object" &&
		value !== null &&
		Object.entries(fields).every(([field, check]) => check((value as Record<string, unknown>)[field]));

/** Also usable as a file name. */
const isId = (value: unknown) => typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value);
const isRunKey = (value: unknown) => typeof value === "string" && /^[A-Za-z0-9_.-]{1,200}$/.test(value);

const SPEC: { [Field in keyof Required<JobSpec>]: [Check, string] } = {
	name: [isText(200), "a text of 1 to 200 characters"],
	schedule: [isText(200), "a text of 1 to 200 characters"],
	timeZone: [isText(100), "the name of a time zone"],
	payload: [isJson, "plain JSON of at most 64 KiB"],
	overlap: [isOneOf("skip", "queue", "allow"), '"skip", "queue" or "allow"'],
	missed: [isOneOf("skip", "latest", "all"), '"skip", "latest" or "all"'],
	jitterMs: [(value) => isCount(value) && Number(value) <= 86_400_000, "a whole number from 0 to 86400000"],
	maxRuns: [(value) => isCount(value) && value !== 0, "a whole number from 1"],
	endsAt: [isTime, "milliseconds since the epoch"],
	enabled: [(value) => typeof value === "boolean", "true or false"],
	tags: [isList(isText(100), 20), "at most 20 texts of 1 to 100 characters"],
};
const FIELDS = Object.entries(SPEC) as [keyof JobSpec, [Check, string]][];
const REMOVABLE = new Set<keyof JobSpec>(["timeZone", "maxRuns", "endsAt"]);

/** The validated fields of a caller; `null` removes a field. Throws `JobError`. */
export function validateFields(given: { [Field in keyof JobSpec]?: JobSpec[Field] | undefined }): JobChange {
	const present = FIELDS.filter(([field]) => Object.hasOwn(given, field));
	for (const [field, [check, expected]] of present) {
		const value = given[field];
		if (value === undefined && REMOVABLE.has(field)) continue;
		if (!passes(check, value)) throw new JobError(`A job's "${field}" must be ${expected}, not ${display(value)}.`);
	}
	return Object.fromEntries(present.map(([field]) => [field, given[field] ?? null]));
}

/** A check throws for a payload that is circular or contains what JSON cannot express. */
function passes(check: Check, value: unknown): boolean {
	try {
		return check(value);
	} catch {
		return false;
	}
}

function display(value: unknown): string {
	return typeof value === "object" && value !== null ? "a value of another type" : String(value).slice(0, 80);
}

const isRun = has({
	runKey: isRunKey,
	dueAt: isTime,
	startedAt: optional(isTime),
	endedAt: optional(isTime),
	result: isOneOf("running", "done", "failed", "skipped", "missed", "lost"),
	note: optional(isText(1_000)),
} satisfies Record<keyof PassedRun | "startedAt" | "endedAt", Check>);

const isOpenRun = has({
	runKey: isRunKey,
	dueAt: isTime,
	owner: isId,
	token: isCount,
	until: isTime,
	startedAt: optional(isTime),
} satisfies Record<keyof OpenRun, Check>);

const isStoredJob = has({
	...Object.fromEntries(FIELDS.map(([field, [check]]) => [field, REMOVABLE.has(field) ? optional(check) : check])),
	id: isId,
	createdAt: isTime,
	when: isSchedule,
	runs: isCount,
	cursor: isTime,
	epoch: isCount,
	open: isList(isOpenRun, MAX_OPEN),
	history: isList(isRun, 100),
} satisfies Partial<Record<keyof StoredJob, Check>>);

const isChange: Check = (value) =>
	typeof value === "object" &&
	value !== null &&
	Object.entries(value).every(([field, to]) => {
		if (!Object.hasOwn(SPEC, field)) return false;
		return (to === null && REMOVABLE.has(field as keyof JobSpec)) || SPEC[field as keyof JobSpec][0](to);
	});

const onRun = { id: isId, runKey: isRunKey, token: isCount, at: isTime };
const isKeyed = has({ runKey: isRunKey, dueAt: isTime });

const ENTRIES: Record<JobEntry["type"], Check> = {
	job: has({ job: isStoredJob }),
	change: has({ id: isId, at: isTime, change: isChange, when: optional(isSchedule) }),
	remove: has({ id: isId }),
	take: has({
		id: isId,
		at: isTime,
		owner: isId,
		cursor: isTime,
		epoch: isCount,
		through: isTime,
		run: isList(isKeyed, 100),
		passed: isList(isRun, 100),
	}),
	call: has({ id: isId, at: isTime, owner: isId, runKey: isRunKey }),
	retake: has({ ...onRun, owner: isId }),
	start: has(onRun),
	renew: has(onRun),
	release: has(onRun),
	end: has({ ...onRun, result: isOneOf("done", "failed"), note: optional(isText(1_000)) }),
	lose: has(onRun),
	pass: has({ ...onRun, result: isOneOf("skipped", "missed"), note: isText(1_000) }),
	rewind: has({ id: isId, at: isTime, cursor: isTime, epoch: isCount }),
};

export function isEntry(value: unknown): value is JobEntry {
	const type = (value as { type?: unknown } | null)?.type;
	return typeof type === "string" && Object.hasOwn(ENTRIES, type) && ENTRIES[type as JobEntry["type"]](value);
}
