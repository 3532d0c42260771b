/**
 * The script's thread. Runs the script in a context that has nothing but the language and our globals, and talks to the
 * engine in messages. It keeps no state that a restart would need: answers come from the engine, from its journal or new.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, createContext, runInContext } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import type { FromThread, OpenCall, ScriptFailure, ThreadData, ToThread } from "./messages.ts";
import { draw, fork, itemOf, notePath, type Place, pathOf, rootPlace } from "./place.ts";
import { type Bridge, PRELUDE, type Realm } from "./prelude.ts";

interface PendingCall {
	place: Place;
	line: number | undefined;
	isSeen: boolean;
	isAnswered: boolean;
	resolve: (json: string) => void;
	reject: (json: string) => void;
}

interface Group {
	place: Place;
	items: Place[];
}

const { program, args, seed, startedAt, budget, maxAgents, maxItems, maxNotes }: ThreadData = workerData;
const places = new AsyncLocalStorage<Place>();
const calls = new Map<number, PendingCall>();
const groups = new Map<number, Group>();
let lastId = 0;
let seen = 0;
let spent = 0;
let agents = 0;
let notes = 0;
let isResting = true;

/** A line that is longer is for no person; the whole is in the agents' own files. */
const MAX_NOTE = 2_000;
const MAX_MESSAGE = 4_000_000;

const say = (message: FromThread): void => parentPort?.postMessage(message);
const root = rootPlace(startedAt);
const here = (): Place => places.getStore() ?? root;

/** A place of its own for a call and what its answer leads to. */
function open(): Place {
	const place = fork(here());
	places.enterWith(place);
	return place;
}

const bridgeFor = ({ isNested }: { isNested: boolean }): Bridge => ({
	call(kind, input, resolve, reject) {
		if (kind === "workflow" && isNested)
			return "A workflow that another one called cannot call a third: one level is allowed.";
		if (kind === "agent" && ++agents > maxAgents)
			return `A workflow may launch ${maxAgents} agents, and this one wants more.`;
		const line = lineOfCall();
		const why = tooLong(input, `What ${kind}() is given`);
		if (why !== undefined) return why;
		const place = open();
		const id = ++lastId;
		calls.set(id, { place, line, isSeen: false, isAnswered: false, resolve, reject });
		say({ type: "call", id, kind, path: pathOf(place), input, line });
		return id;
	},
	seen(id) {
		const call = calls.get(id);
		if (call?.isAnswered) calls.delete(id);
		else if (call) call.isSeen = true;
	},
	group(size, what) {
		if (size > maxItems) return `${what}() takes at most ${maxItems} items, and this list has ${size}.`;
		const id = ++lastId;
		groups.set(id, { place: open(), items: [] });
		return id;
	},
	item(id, index, work) {
		const group = groups.get(id);
		if (!group) return work();
		const place = itemOf(group.place, index);
		group.items.push(place);
		return places.run(place, work);
	},
	join(id) {
		const group = groups.get(id);
		if (group) group.place.now = Math.max(group.place.now, ...group.items.map(({ now }) => now));
		groups.delete(id);
	},
	dropped(what, index, error) {
		note("log", `${what}: item ${index + 1} failed: ${error}`);
	},
	phase: (title) => note("phase", title),
	log: (text) => note("log", text),
	now: () => here().now,
	random: () => draw(here(), seed),
	spent: () => spent,
	budget,
});

/** Notes are for people, and each is a line of the journal. What comes back is a mistake of the script. */
function note(type: "phase" | "log", text: string): string | undefined {
	if (++notes > maxNotes)
		return `A workflow may log ${maxNotes} lines and phases, and this one wants more. Is there an endless loop?`;
	say({ type, path: notePath(here()), text: text.slice(0, MAX_NOTE) });
	return undefined;
}

/** A message is copied into pi's own memory. */
function tooLong(json: string, what: string): string | undefined {
	return json.length > MAX_MESSAGE
		? `${what} is too long: at most ${MAX_MESSAGE / 1_000_000} million characters.`
		: undefined;
}

/** From the stack, of which only the script's own lines count. */
function lineOfCall(): number | undefined {
	const { stackTraceLimit } = Error;
	Error.stackTraceLimit = 12;
	const { stack = "" } = new Error();
	Error.stackTraceLimit = stackTraceLimit;
	const line = /workflow\.js:(\d+)/.exec(stack)?.[1];
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
	const call = calls.get(message.id);
	if (!call) return;
	if (message.type === "run") {
		const { id } = message;
		const settle = (end: { value: string } | { error: ScriptFailure }) => say({ type: "nested", id, ...end });
		const place = rootPlace(call.place.now, `${pathOf(call.place)}:/`);
		start(
			message.program,
			message.args,
			{ place, isNested: true },
			{ done: (value) => settle({ value }), failed: (error) => settle({ error }) },
		);
		return;
	}
	spent = message.spent;
	call.place.now = Math.max(call.place.now, message.at);
	call.isAnswered = true;
	if (call.isSeen) calls.delete(message.id);
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
	});
}

parentPort?.on("message", (message: ToThread) => {
	seen++;
	take(message);
	restLater();
});

process.on("unhandledRejection", (error) => {
	const why = typeof error === "object" && error !== null && "message" in error ? error.message : error;
	const message = `Something that was not awaited failed: ${String(why)}`;
	say({ type: "threw", error: { name: "Error", message, isFatal: true } });
});

const returned = (value: string): void => {
	const why = tooLong(value, "What the workflow returns");
	const left = [...calls.values()].map(({ isSeen, line }): OpenCall => ({ isAwaited: isSeen, line }));
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
