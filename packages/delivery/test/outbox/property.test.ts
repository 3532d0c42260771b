import fc from "fast-check";
import { expect, test } from "vitest";
import { newOutbox, step } from "../../src/outbox/outbox.ts";
import type { Delivery, OutboxAction, SendItem, SessionState } from "../../src/outbox/types.ts";
import { deliveryOf, launchOf, openDesk, type Told } from "./fixture.ts";

const entries = ["left", "right"];
const ids = Array.from({ length: 9 }, (_, index) => `a${index}`);

/** What is fixed about each run: three in each of two groups, some in the background, some on either branch. */
function fieldsOf(id: string): Partial<Delivery> {
	const number = ids.indexOf(id);
	return {
		...(number < 6 ? { group: `turn-${number % 2}` } : {}),
		kind: number === 4 || number === 8 ? "background" : "agent",
		launchEntry: entries[number % 3 === 0 ? 0 : 1] ?? "left",
		bytes: number * 700,
		isFailure: number === 2 || number === 5,
	};
}

type Op = Told | { type: "pass"; ms: number } | { type: "crash"; losesLast: boolean; isKept: boolean };

const someIds = fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 3 });
const anId = fc.constantFrom(...ids);
const ops: fc.Arbitrary<Op> = fc.oneof(
	{ weight: 3, arbitrary: anId.map((id): Op => ({ type: "launched", launch: launchOf(id, fieldsOf(id)) })) },
	{
		weight: 5,
		arbitrary: fc
			.tuple(anId, fc.boolean())
			.map(([id, canBeClaimed]): Op => ({ type: "settled", delivery: deliveryOf(id, fieldsOf(id)), canBeClaimed })),
	},
	anId.map((id): Op => ({ type: "claimed", id })),
	anId.map((id): Op => ({ type: "expected", id })),
	anId.map((id): Op => ({ type: "released", id })),
	{
		weight: 4,
		arbitrary: fc
			.constantFrom<SessionState>("idle", "idle", "busy", "waiting_for_user")
			.map((state): Op => ({ type: "session", state })),
	},
	fc.subarray(entries).map((holds): Op => ({ type: "branch", holds })),
	someIds.map((some): Op => ({ type: "delivered", ids: some })),
	someIds.map((some): Op => ({ type: "unsent", ids: some })),
	fc.constant<Op>({ type: "tick" }),
	fc.integer({ min: -5, max: 40_000 }).map((deadline): Op => ({ type: "drain", deadline })),
	fc
		.record({ join: fc.constantFrom("smart", "async", "group"), notify: fc.constantFrom("turn", "message", "off") })
		.map((change): Op => ({ type: "settings", change })),
	{
		weight: 4,
		arbitrary: fc.oneof(fc.integer({ max: 300, min: 1 }), fc.constant(20_000)).map((ms): Op => ({ type: "pass", ms })),
	},
	fc.record({ type: fc.constant("crash" as const), losesLast: fc.boolean(), isKept: fc.boolean() }),
);

/** The world outside: a session file, a dialog, a branch. It objects to whatever breaks a promise. */
function openWorld() {
	let desk = openDesk();
	let session: SessionState = "busy";
	let branch = new Set<string>();
	let isDraining = false;
	const stored = new Map<string, Delivery>();
	const launched = new Set<string>();
	const held = new Set<string>();
	const closed = new Set<string>();
	let last: string[] = [];

	function witness(action: OutboxAction): void {
		if (action.type === "store") {
			expect(stored.has(action.delivery.id)).toBe(false);
			stored.set(action.delivery.id, action.delivery);
		} else if (action.type === "close") {
			expect(held.has(action.id) || closed.has(action.id)).toBe(false);
			closed.add(action.id);
		} else if (action.type === "refuse") {
			expect(stored.has(action.id) && !held.has(action.id) && !closed.has(action.id)).toBe(false);
		} else if (action.type === "drained") {
			isDraining = false;
		} else if (action.type === "send") {
			expect(session === "idle" || (isDraining && session === "busy")).toBe(true);
			last = action.items.map(({ id }) => id);
			if (last.length > 1) expect(sizeOf(action.items)).toBeLessThanOrEqual(8_192);
			for (const id of last) {
				expect({ id, isStored: stored.has(id), isHeld: held.has(id), isClosed: closed.has(id) }).toEqual({
					id,
					isStored: true,
					isHeld: false,
					isClosed: false,
				});
				expect(branch).toContain(stored.get(id)?.launchEntry);
				if (stored.get(id)?.kind === "background") expect(action.startsTurn).toBe(false);
				held.add(id);
			}
		}
	}

	function sizeOf(items: readonly SendItem[]): number {
		const size = { full: (id: string) => stored.get(id)?.bytes ?? 0, line: () => 120, count: () => 0 };
		return items.reduce((sum, { id, form }) => sum + size[form](id), 0);
	}

	/** Nothing happens before the time the outbox asked for, and something does at that time. */
	function probeTimer(): void {
		const state = desk.state();
		if (state.wakeAt === null) return;
		expect(state.wakeAt).toBeGreaterThan(desk.now());
		const isDeed = ({ type }: OutboxAction) => type === "send" || type === "close" || type === "drained";
		expect(step(state, { type: "tick", at: state.wakeAt - 1 }).actions.filter(isDeed)).toEqual([]);
		expect(step(state, { type: "tick", at: state.wakeAt }).actions.filter(isDeed)).not.toEqual([]);
	}

	/** The same inputs once more, on values that nobody can change: the same actions, the same state. */
	function replay(): void {
		let state = frozen(newOutbox());
		const actions = desk.inputs.flatMap((input) => {
			const next = step(state, frozen(input));
			state = frozen(next.state);
			return next.actions;
		});
		expect(actions).toEqual(desk.actions);
		expect(state).toEqual(desk.state());
	}

	function crash({ losesLast, isKept }: Extract<Op, { type: "crash" }>): void {
		if (losesLast) for (const id of last) held.delete(id);
		last = [];
		replay();
		if (!isKept) desk = openDesk();
		session = "busy";
		branch = new Set();
		isDraining = false;
		desk.tell({ type: "restored", stored: [...stored.values()], held: [...held, ...closed], running: [] });
	}

	/** What the op means outside, and what of it a session would really say. */
	function enact(op: Told): Told | undefined {
		if (op.type === "session") session = op.state;
		if (op.type === "session" && op.state === "idle") {
			// The turn is over, and the session has not confirmed the message: it is not there.
			for (const { delivery, wasBusy } of desk.state().sent) if (wasBusy) held.delete(delivery.id);
		}
		if (op.type === "branch") branch = new Set(op.holds);
		if (op.type === "drain") isDraining = true;
		if (op.type === "launched") {
			if (launched.has(op.launch.id) || stored.has(op.launch.id)) return undefined; // a run is launched once
			launched.add(op.launch.id);
			branch.add(op.launch.launchEntry ?? "");
		}
		if (op.type === "delivered") {
			last = last.filter((id) => !op.ids.includes(id)); // what the session has confirmed no crash takes away
			return { ...op, ids: op.ids.filter((id) => held.has(id)) };
		}
		if (op.type === "unsent") {
			const unconfirmed = desk.state().sent.map(({ delivery }) => delivery.id);
			for (const id of op.ids) if (unconfirmed.includes(id)) held.delete(id);
		}
		return op;
	}

	function perform(op: Op): void {
		const before = desk.actions.length;
		if (op.type === "crash") {
			crash(op);
			return;
		}
		if (op.type === "pass") {
			desk.pass(op.ms);
		} else {
			const told = enact(op);
			if (told) desk.tell(told);
		}
		for (const action of desk.actions.slice(before)) witness(action);
		probeTimer();
	}

	return {
		perform,
		replay,
		untold: () => [...stored.keys()].filter((id) => !held.has(id) && !closed.has(id)),
		wakeAt: () => desk.state().wakeAt,
	};
}

test("whatever happens, each delivery is stored, then sent once or closed, at a good moment, and none is forgotten", () => {
	fc.assert(
		fc.property(fc.array(ops, { maxLength: 60 }), (story) => {
			const world = openWorld();
			for (const op of story) world.perform(op);
			world.perform({ type: "branch", holds: entries });
			world.perform({ type: "session", state: "idle" });
			world.perform({ type: "pass", ms: 2_000_000 });
			expect(world.untold()).toEqual([]);
			expect(world.wakeAt()).toBe(null);
			world.replay();
		}),
		{ numRuns: 1_000 },
	);
});

function frozen<T>(value: T): T {
	if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
		Object.freeze(value);
		for (const child of Object.values(value)) frozen(child);
	}
	return value;
}
