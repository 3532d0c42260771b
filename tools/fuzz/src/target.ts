/** What is fuzzed: inputs, and what must hold for each. */
import { strict as assert } from "node:assert";
import fc from "fast-check";

export interface Target {
	name: string;
	/** Runs the property so often, or for so long; the error of a failure has the seed and the smallest input. */
	run(how: RunOptions): Promise<number>;
}

interface RunOptions {
	seed: number;
	/** At most so many inputs, and at most so long. */
	inputs: number;
	ms?: number;
}

/** A single input may take this much CPU time. Real ones take a thousandth of it. */
const MAX_CPU_MS = 2_000;

/** `check` fails by throwing. It gets what `inputs` makes. */
export function target<Input>(
	name: string,
	inputs: fc.Arbitrary<Input>,
	check: (input: Input) => void | Promise<void>,
): Target {
	return {
		name,
		async run({ seed, inputs: numRuns, ms }) {
			let done = 0;
			let last: Promise<void> | undefined;
			const property = fc.asyncProperty(inputs, async (input) => {
				done++;
				const before = process.cpuUsage();
				last = Promise.resolve(check(input));
				await last;
				const { user, system } = process.cpuUsage(before);
				const cpuMs = (user + system) / 1_000;
				assert.ok(cpuMs < MAX_CPU_MS, `it took ${Math.round(cpuMs)} ms of CPU time`);
			});
			const limit = ms === undefined ? {} : { interruptAfterTimeLimit: ms, markInterruptAsFailure: false };
			await fc.assert(property, { seed, numRuns, ...limit });
			await last; // when the time is up, fast-check does not wait for it
			return done;
		},
	};
}

/** Returns what `parse` returns; undefined if it throws one of its documented errors, whose text must be fit for people. */
export function parsed<Value>(parse: () => Value, ...errors: (new (...args: never[]) => Error)[]): Value | undefined {
	try {
		return parse();
	} catch (error) {
		documented(error, errors);
		return undefined;
	}
}

export async function resolved<Value>(
	parse: () => Promise<Value>,
	...errors: (new (
		...args: never[]
	) => Error)[]
): Promise<Value | undefined> {
	try {
		return await parse();
	} catch (error) {
		documented(error, errors);
		return undefined;
	}
}

function documented(error: unknown, errors: (new (...args: never[]) => Error)[]): void {
	const isDocumented = errors.some((kind) => error instanceof kind && error.constructor === kind);
	if (!isDocumented) throw error;
	presentable((error as Error).message);
	assert.ok((error as Error).message.trim().length > 10, "an error says what is wrong");
}

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Text that a terminal can show: bounded, and without control sequences. */
export function presentable(text: string, most = 20_000): void {
	const found = CONTROL.exec(text);
	assert.ok(!found, `a control character in ${JSON.stringify(text.slice(0, 300))}`);
	assert.ok(text.length <= most, `${text.length} characters`);
}

/** Nothing was written to the prototype of all objects. */
export function unpolluted(): void {
	assert.deepEqual(Object.keys(Object.prototype), []);
	for (const key in {}) assert.fail(`Object.prototype has ${key}`);
}
