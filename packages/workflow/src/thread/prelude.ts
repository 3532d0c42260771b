/**
 * The globals of a script, as the text of a program that runs inside the script's context. Everything that a script can
 * touch is made there, so nothing leads to Node; the bridge stays in the closure, and only texts and numbers cross it.
 */
import type { CallKind } from "./messages.ts";

/** What the program gets from the thread. A text that is returned instead of a number is a mistake of the caller. */
export interface Bridge {
	call(
		kind: CallKind,
		input: string,
		resolve: (json: string) => void,
		reject: (json: string) => void,
		/** The global that the script called. */
		caller: (...given: never[]) => unknown,
	): number | string;
	/** The answer of this call or fan-out is looked at. */
	seen(id: number): void;
	/** Opens the place of a fan-out. */
	group(size: number, what: string, caller: (...given: never[]) => unknown): number | string;
	/** Runs one item of it in a place of its own. */
	item<Result>(group: number, index: number, work: () => Result): Result;
	/** All items of it are done. */
	join(group: number): void;
	/** An item failed and gives null. */
	dropped(what: string, index: number, error: string): void;
	phase(title: string): string | undefined;
	log(text: string): string | undefined;
	now(): number;
	random(): number;
	spent(): number;
	budget: number | null;
}

/** What a script's context offers to the thread. */
export interface Realm {
	install(argsJson: string): void;
	/** The script's value as JSON, or what it threw as `ScriptFailure` in JSON. */
	follow(promise: unknown, done: (json: string) => void, failed: (json: string) => void): void;
}

export const PRELUDE = `"use strict";
((bridge) => {
	const { Promise, Error, Array, Object, String, Number, Math, Map, Set, WeakMap, RegExp, Reflect, Symbol } = globalThis;
	// As they are now: a script may replace them, and the engine must still get JSON.
	const { stringify, parse } = JSON;
	const NativeDate = Date;
	const marks = new WeakMap();

	class AgentFailed extends Error {
		get name() { return "AgentFailed"; }
	}
	class WorkflowMistake extends Error {
		get name() { return "WorkflowMistake"; }
	}
	class Call extends Promise {
		static get [Symbol.species]() { return Promise; }
		then(resolved, rejected) {
			const id = marks.get(this);
			if (id !== undefined) bridge.seen(id);
			return super.then(resolved, rejected);
		}
	}
	const checked = (answer) => {
		if (typeof answer === "string") throw new WorkflowMistake(answer);
		return answer;
	};
	const failure = ({ name, message, isFatal, outcome }) => {
		if (isFatal) return new WorkflowMistake(message);
		const error = name === "AgentFailed" ? new AgentFailed(message) : new Error(message);
		if (outcome !== undefined) error.outcome = outcome;
		return error;
	};
	const call = (kind, input, caller) => {
		let id;
		const promise = new Call((resolve, reject) => {
			id = checked(
				bridge.call(
					kind,
					stringify(input),
					(json) => resolve(parse(json)),
					(json) => reject(failure(parse(json))),
					caller,
				),
			);
		});
		if (id !== undefined) marks.set(promise, id);
		return promise;
	};
	/** What JSON would leave out or change without a word, by where it is. */
	const misfit = (value) => {
		if (typeof value === "function") return "a function";
		if (typeof value === "symbol") return "a symbol";
		if (typeof value === "bigint") return "a BigInt";
		if (typeof value === "number" && !Number.isFinite(value)) return String(value);
		if (value instanceof Promise) return "a promise: await it";
		if (value instanceof Map || value instanceof Set || value instanceof RegExp) return "a " + value.constructor.name;
		if (value instanceof Error) return "an Error: take its message";
		return undefined;
	};
	const toJson = (what, value) => {
		if (value === undefined) return "null";
		let text;
		try {
			text = stringify(value, (key, each) => {
				const found = misfit(each);
				if (found !== undefined) throw new Error((key === "" ? "it is " : "\`" + key + "\` is ") + found);
				return each;
			});
		} catch (error) {
			throw new WorkflowMistake(what + " is not JSON: " + error.message);
		}
		return text === undefined ? "null" : text;
	};
	/** JSON leaves out functions, and an option that is one must be refused by its name. */
	const given = (options) =>
		options === undefined || options === null
			? { options: {}, keys: [] }
			: { options, keys: typeof options === "object" ? Object.keys(options) : [] };

	/** Each item in a place of its own, in the order and number that \`walk\` decides. Must be awaited, as a call must. */
	const fanOut = (caller, size, work, walk) => {
		const what = caller.name;
		const group = checked(bridge.group(size, what, caller));
		const kept = (value) => (value === undefined ? null : value);
		const item = (index) => {
			const drop = (error) => {
				if (error instanceof WorkflowMistake) throw error;
				bridge.dropped(what, index, String(error));
				return null;
			};
			try {
				const value = bridge.item(group, index, () => work(index));
				return (value instanceof Promise ? value : Promise.resolve(value)).then(kept, drop);
			} catch (error) {
				return new Promise((resolve) => resolve(drop(error)));
			}
		};
		const promise = new Call((resolve) => resolve(walk(item).then((values) => { bridge.join(group); return values; })));
		marks.set(promise, group);
		return promise;
	};
	const allAtOnce = (size) => (item) => Promise.all(Array.from({ length: size }, (_, index) => item(index)));
	const listOf = (what, items) => {
		if (!Array.isArray(items)) throw new WorkflowMistake(what + "() takes a list first.");
		return Array.from(items); // it may grow meanwhile
	};
	const functionOf = (what, work, where) => {
		if (typeof work !== "function") throw new WorkflowMistake(what + "() takes functions: " + where + " is not one. Write () => agent(…).");
		return work;
	};

	const agent = (prompt, options) => call("agent", { __proto__: null, prompt, ...given(options) }, agent);
	const ask = (question, options) => call("ask", { __proto__: null, question, ...given(options) }, ask);
	const workflow = (name, args) => call("workflow", { name, args: parse(toJson("What workflow() passes on", args)) }, workflow);
	const parallel = (thunks) => {
		const list = listOf("parallel", thunks);
		list.forEach((thunk, index) => functionOf("parallel", thunk, "item " + (index + 1)));
		return fanOut(parallel, list.length, (index) => list[index](), allAtOnce(list.length));
	};
	const pipeline = (items, ...stages) => {
		const list = listOf("pipeline", items);
		stages.forEach((stage, index) => functionOf("pipeline", stage, "stage " + (index + 1)));
		const through = async (index) => {
			let value = list[index];
			for (const stage of stages) value = await stage(value, list[index], index);
			return value;
		};
		return fanOut(pipeline, list.length, through, allAtOnce(list.length));
	};
	const map = (items, work, options) => {
		const list = listOf("map", items);
		functionOf("map", work, "the second value");
		const { concurrency = list.length, ...others } = options ?? {};
		const [unknown] = Object.keys(others);
		if (unknown !== undefined) throw new WorkflowMistake("map() does not know the option " + unknown + ". Known: concurrency.");
		if (!(concurrency >= 1) && list.length > 0) throw new WorkflowMistake("map(): concurrency must be at least 1.");
		const inLanes = async (item) => {
			const values = Array(list.length);
			let next = 0;
			const lane = async () => {
				while (next < list.length) {
					const index = next++;
					values[index] = await item(index);
				}
			};
			await Promise.all(Array.from({ length: Math.min(concurrency, list.length) }, lane));
			return values;
		};
		return fanOut(map, list.length, (index) => work(list[index], index), inLanes);
	};
	const budget = Object.freeze({
		total: bridge.budget,
		spent: () => bridge.spent(),
		remaining: () => (bridge.budget === null ? Infinity : Math.max(0, bridge.budget - bridge.spent())),
	});

	function RecordedDate(...given) {
		if (!new.target) return new NativeDate(bridge.now()).toString();
		return Reflect.construct(NativeDate, given.length === 0 ? [bridge.now()] : given, new.target);
	}
	Object.setPrototypeOf(RecordedDate, NativeDate);
	RecordedDate.prototype = NativeDate.prototype;
	RecordedDate.prototype.constructor = RecordedDate;
	RecordedDate.now = () => bridge.now();
	Math.random = () => bridge.random();

	const forbidden = (what) => {
		throw new WorkflowMistake(what + " cannot be used in a workflow: its answers must be the same in every run.");
	};
	const gone = [
		"Atomics", "SharedArrayBuffer", "ArrayBuffer", "DataView", "WebAssembly", "WeakRef", "FinalizationRegistry",
		"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
		"Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
	];
	for (const name of gone) delete globalThis[name];
	globalThis.Date = RecordedDate;
	globalThis.eval = () => forbidden("eval");
	const text = (value) => {
		if (typeof value === "string") return value;
		try {
			return stringify(value) ?? String(value);
		} catch {
			return String(value); // it holds itself, or a BigInt
		}
	};
	const log = (...values) => void checked(bridge.log(values.map(text).join(" ")));
	const phase = (title) => void checked(bridge.phase(text(title)));
	const globals = { agent, ask, workflow, parallel, pipeline, map, budget, log, phase, AgentFailed };
	for (const name of ["setTimeout", "setInterval", "setImmediate", "fetch", "require", "process"])
		globals[name] = name === "process" ? undefined : () => forbidden(name);
	globals.console = { log, info: log, warn: log, error: log };
	return {
		install: (argsJson) => Object.assign(globalThis, globals, { args: parse(argsJson) }),
		follow: (promise, done, failed) => {
			const fail = (error) => {
				const isError = typeof error?.message === "string";
				const line = isError ? /workflow\\.js:(\\d+)/.exec(error.stack)?.[1] : undefined;
				failed(stringify({
					__proto__: null, // no toJSON of the script's
					name: isError ? String(error.name) : "Error",
					message: isError ? error.message : "threw " + text(error),
					line: line === undefined ? undefined : Number(line),
					isFatal: error instanceof WorkflowMistake,
				}));
			};
			Promise.resolve(promise).then((value) => {
				try {
					done(toJson("What the workflow returns", value));
				} catch (error) {
					fail(error);
				}
			}, fail);
		},
	};
})`;
