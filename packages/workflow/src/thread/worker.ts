/**
 * The script's thread. Runs the script in a context that has nothing but the language and our globals, and talks to the
 * engine in messages. It keeps no state that a restart would need: answers come from the engine, from its journal or new.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, createContext, runInContext } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import {
	type FromThread,
	MAX_TOGETHER,
	type OpenCall,
	type ScriptFailure,
	type ThreadData,
	type ToThread,
} from "./messages.ts";
import {
	answered,
	draw,
	type FanOut,
	fanOut,
	fork,
	itemOf,
	join,
	notePath,
	type Place,
	pathOf,
	rootPlace,
} from "./place.ts";
import { type Bridge, PRELUDE, type Realm } from "./prelude.ts";

/** Whether the script has looked at what a call gives: one that it forgot fails the run. */
interface Looked {
	line: number | undefined;
	isSeen: boolean;
	isAnswered: boolean;
}

interface PendingCall extends Looked {
	place: Place;
	resolve: (json: string) => void;
	reject: (json: string) => void;
}

const { program, args, seed, startedAt, budget, maxAgents, maxItems, maxNotes }: ThreadData = workerData;
const places = new AsyncLocalStorage<Place>();
const calls = new Map<number, PendingCall>();
const fanOuts = new Map<number, FanOut & Looked>();
let lastId = 0;
let seen = 0;
let agents = 0;
let notes = 0;
let isResting = true;
let outbox: FromThread[] = [];

/** A line that is longer is for no person; the whole is in the agents' own files. */
const MAX_NOTE = 2_000;
const MAX_MESSAGE = 4_000_000;

/** Together with what is said meanwhile: a message costs more than what is in it. */
function say(message: FromThread): void {
	const waiting = outbox.push(message);
	if (waiting === 1) setImmediate(post);
	else if (waiting === MAX_TOGETHER) post();
}

function post(): void {
	if (outbox.length > 0) parentPort?.postMessage(outbox);
	outbox = [];
}

const root = rootPlace({ now: startedAt, spent: 0 });
const here = (): Place => places.getStore() ?? root;

/** A place of its own for a call and what its answer leads to. */
function open(): Place {
	const place = fork(here());
	places.enterWith(place);
	return place;
}

const bridgeFor = ({ isNested }: { isNested: boolean }): Bridge => ({
	call(kind, input, resolve, reject, caller) {
		if (kind === "workflow" && isNested)
			return "A workflow that another one called cannot call a third: one level is allowed.";
		if (kind === "agent" && ++agents > maxAgents) return `A workflow may launch at most ${maxAgents} agents.`;
		const line = lineBehind(caller);
		const why = tooLong(input, `What ${kind}() is given`);
		if (why !== undefined) return why;
		const place = open();
		const id = ++lastId;
		calls.set(id, { place, line, isSeen: false, isAnswered: false, resolve, reject });
		say({ type: "call", id, kind, path: pathOf(place), input, line });
		return id;
	},
	seen(id) {
		const known = calls.get(id) ?? fanOuts.get(id);
		if (known) known.isSeen = true;
		if (known?.isAnswered) forget(id);
	},
	group(size, what, caller) {
		if (size > maxItems) return `${what}() takes at most ${maxItems} items, and this list has ${size}.`;
		const id = ++lastId;
		const line = lineBehind(caller);
		fanOuts.set(id, { ...fanOut(open()), line, isSeen: false, isAnswered: false });
		return id;
	},
	item(id, index, work) {
		const all = fanOuts.get(id);
		return all ? places.run(itemOf(all, index), work) : work();
	},
	join(id) {
		const all = fanOuts.get(id);
		if (!all) return;
		join(all);
		all.isAnswered = true;
		if (all.isSeen) forget(id);
	},
	dropped(what, index, error) {
		note("log", `${what}: item ${index + 1} failed: ${error}`);
	},
	phase: (title) => note("phase", title),
	log: (text) => note("log", text),
	now: () => here().now,
	random: () => draw(here(), seed),
	spent: () => here().spent,
	budget,
});

function forget(id: number): void {
	calls.delete(id);
	fanOuts.delete(id);
}

/** Notes are for people, and each is a line of the journal. What comes back is a mistake of the script. */
function note(type: "phase" | "log", text: string): string | undefined {
	if (++notes > maxNotes) return `A workflow may log at most ${maxNotes} lines and phases. Is there an endless loop?`;
	say({ type, path: notePath(here()), text: text.slice(0, MAX_NOTE) });
	post(); // it may be the last thing before an endless loop
	return undefined;
}

/** A message is copied into pi's own memory. */
function tooLong(json: string, what: string): string | undefined {
	return json.length > MAX_MESSAGE
		? `${what} is too long: at most ${MAX_MESSAGE / 1_000_000} million characters.`
		: undefined;
}

/** The line of the script that called this global. One frame: a whole stack costs more than all the rest of a call. */
function lineBehind(caller: (...given: never[]) => unknown): number | undefined {
	const { stackTraceLimit } = Error;
	const place: { stack?: string } = {};
	Error.stackTraceLimit = 1;
	Error.captureStackTrace(place, caller);
	Error.stackTraceLimit = stackTraceLimit;
	const line = /workflow\.js:(\d+)/.exec(place.stack ?? "")?.[1];
	return line === undefined ? undefined : Number(line);
}

/** Runs a program in a context of its own. */
function start(
	text: string,
	argsJson: string,
	{ place, isNested }: { place: Place; isNested: boolean },
	ended: { done: (json: string) => void; failed: (failure: ScriptFailure) => void },
): void {
	const context: Context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
	const makeRealm: (bridge: Bridge) => Realm = runInContext(PRELUDE, context, { filename: "workflow-globals.js" });
	places.run(place, () => {
		const realm = makeRealm(bridgeFor({ isNested }));
		realm.install(argsJson);
		const promise: unknown = runInContext(text, context, { filename: "workflow.js" });
		realm.follow(promise, ended.done, (json) => {
			const { name = "Error", message = "The script failed.", line, isFatal } = Object(JSON.parse(json));
			ended.failed({ name, message: String(message).slice(0, MAX_NOTE), line, isFatal });
		});
	});
}

function take(message: ToThread): void {
	if (message.type === "end") process.exit();
	seen++;
	const call = calls.get(message.id);
	if (!call) return;
	if (message.type === "run") {
		const { id } = message;
		const settle = (end: { value: string } | { error: ScriptFailure }) => say({ type: "nested", id, ...end });
		const place = rootPlace(call.place, `${pathOf(call.place)}:/`);
		start(
			message.program,
			message.args,
			{ place, isNested: true },
			{ done: (value) => settle({ value }), failed: (error) => settle({ error }) },
		);
		return;
	}
	answered(call.place, { now: message.at, spent: message.spent });
	call.isAnswered = true;
	if (call.isSeen) forget(message.id);
	if (message.type === "answer") call.resolve(message.value);
	else {
		const outcome: unknown = message.outcome === undefined ? undefined : JSON.parse(message.outcome);
		call.reject(JSON.stringify({ ...message.error, outcome }));
	}
}

/** Tells the engine once the script waits again: until then its time is counted. */
function restLater(): void {
	if (!isResting) return;
	isResting = false;
	setImmediate(() => {
		isResting = true;
		say({ type: "rest", seen });
		post();
	});
}

parentPort?.on("message", (messages: ToThread[]) => {
	messages.forEach(take);
	restLater();
});

process.on("unhandledRejection", (error) => {
	const why = typeof error === "object" && error !== null && "message" in error ? error.message : error;
	const message = `Something that was not awaited failed: ${String(why)}`;
	say({ type: "threw", error: { name: "Error", message, isFatal: true } });
});

const returned = (value: string): void => {
	const why = tooLong(value, "What the workflow returns");
	const left = [...calls.values(), ...fanOuts.values()].map(
		({ isSeen, line }): OpenCall => ({ isAwaited: isSeen, line }),
	);
	if (why === undefined) say({ type: "returned", value, open: left });
	else say({ type: "threw", error: { name: "WorkflowMistake", message: why, isFatal: true } });
};

// An error that Node throws into the script leads to Node's own `Function`, which makes code from texts.
for (const kind of [() => {}, async () => {}, function* () {}, async function* () {}])
	Object.defineProperty(Object.getPrototypeOf(kind), "constructor", { value: undefined });

start(
	program,
	args,
	{ place: root, isNested: false },
	{ done: returned, failed: (error) => say({ type: "threw", error }) },
);
restLater();
