/** A question and its answer over pi's bus: checked, addressed and awaited, beside two bare events that are awaited, too. */
import { createEventBus } from "@earendil-works/pi-coding-agent";
import { connect, serve } from "@pi-subagents/rpc";
import { type Benchmark, timed } from "../measure.ts";

/** One alone is too short to be measured. */
const ROUND_TRIPS = 2_000;

const bus = createEventBus();
serve(bus, { spawn: () => ({ id: "a1" }), stop: () => undefined, list: () => [] });
const subagents = await connect(bus);

/** What the protocol cannot do without: a channel for each answer, a listener on it, and a promise. */
bus.on("bare", (id) => bus.emit(`bare:reply:${id}`, { success: true, data: [] }));
let bareIds = 0;
const bare = () =>
	new Promise((resolve) => {
		const id = `${++bareIds}`;
		const stop = bus.on(`bare:reply:${id}`, (reply) => {
			stop();
			resolve(reply);
		});
		bus.emit("bare", id);
	});

const trips = async (name: string, ask: () => Promise<unknown>) => {
	for (let trip = 0; trip < ROUND_TRIPS; trip++) if ((await ask()) === undefined) throw new Error(`${name}: no answer`);
};

export const rpc: Benchmark = {
	name: "rpc: a question and its answer on the bus",
	target: 5,
	unit: "ms",
	rounds: 15,
	ours: timed("serve + connect", () => trips("serve + connect", () => subagents.list())),
	against: timed("bare events", () => trips("bare events", bare)),
};
