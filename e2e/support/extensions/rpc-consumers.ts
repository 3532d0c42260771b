/** Extensions of other people, as text: they know the channels and nothing of us. Each writes down what it sees. */
import { pathToFileURL } from "node:url";

const note = `
import { appendFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
const note = (what) => appendFileSync("log.jsonl", JSON.stringify(what) + "\\n");
const PATIENCE_MS = Number(process.env.CONSUMER_PATIENCE_MS);
`;

/** Asks by the protocol, as consumers of version 2 do: an id, a channel of its own, a timeout. */
const call = `
const call = (pi, channel, params) => new Promise((resolve, reject) => {
	const requestId = randomUUID();
	const timer = setTimeout(() => { off(); reject(new Error(channel + " timed out")); }, PATIENCE_MS);
	const off = pi.events.on(channel + ":reply:" + requestId, (reply) => {
		off();
		clearTimeout(timer);
		if (reply.success) resolve(reply.data);
		else reject(new Error(reply.error));
	});
	pi.events.emit(channel, { requestId, ...params });
});
`;

/** Waits for \`subagents:ready\`, then launches an agent that launches another, and hears of its end by the event. */
const waitsForReady = `${note}${call}
export default (pi) => {
	const tasks = new Map();
	pi.events.on("subagents:ready", async () => {
		note({ who: "waits", ready: true });
		try {
			const { id } = await call(pi, "subagents:rpc:spawn", { type: "general-purpose", prompt: "Pass it on.", options: { description: "pass it on", model: undefined, cwd: null } });
			tasks.set(id, "first");
		} catch (error) {
			note({ who: "waits", error: error.message });
		}
	});
	for (const event of ["completed", "failed"])
		pi.events.on("subagents:" + event, ({ id, status, result, error, toolUses, durationMs, tokens }) => {
			if (tasks.has(id)) note({ who: "waits", event, status, result, error, toolUses, hasDuration: durationMs >= 0, tokens: Object.keys(tokens) });
		});
};
`;

/** Pings when its session starts, for two seconds, and offers a command that launches in the background and takes the result. */
const pings = `${note}${call}
export default (pi) => {
	pi.on("session_start", async () => {
		try {
			const { version } = await call(pi, "subagents:rpc:ping", {});
			note({ who: "pings", version });
		} catch (error) {
			note({ who: "pings", error: error.message });
		}
	});
	let own;
	pi.events.on("subagents:completed", async ({ id, result }) => {
		if (id !== own) return;
		await call(pi, "subagents:rpc:consume", { agentId: id });
		note({ who: "pings", result });
	});
	pi.registerCommand("task", {
		async handler() {
			const { id } = await call(pi, "subagents:rpc:spawn", { type: "Explore", prompt: "Dig.", options: { description: "dig", isBackground: true } });
			own = id;
			note({ who: "pings", launched: true });
		},
	});
	pi.registerCommand("again", { handler: (_args, ctx) => ctx.reload() });
};
`;

/** Only listens. It throws at each event, as careless ones do. */
const listens = (channels: readonly string[]) => `${note}
export default (pi) => {
	for (const channel of ${JSON.stringify(channels)})
		pi.events.on(channel, (payload) => {
			note({ who: "listens", channel, payload });
			throw new Error("I am careless.");
		});
};
`;

/** Uses the typed client: a structured answer, wherever in the order of loading it stands. */
const connects = (rpc: string) => `${note}
import { connect } from ${JSON.stringify(pathToFileURL(rpc).href)};
export default (pi) => {
	const connecting = connect(pi.events, { timeoutMs: PATIENCE_MS });
	connecting.catch((error) => note({ who: "connects", error: error.message }));
	pi.registerCommand("count", {
		async handler() {
			const subagents = await connecting;
			const outputSchema = { type: "object", properties: { doors: { type: "integer" } }, required: ["doors"] };
			const { id } = await subagents.spawn({ type: "Explore", prompt: "Count.", description: "count doors", outputSchema });
			const outcome = await subagents.wait(id);
			const [agent] = await subagents.list();
			note({ who: "connects", outcome, agent: { type: agent.type, status: agent.status, depth: agent.depth } });
		},
	});
};
`;

export const consumers = { waitsForReady, pings, listens, connects };
