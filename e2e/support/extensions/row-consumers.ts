/** More extensions of other people, as text: users of the registry, bringers of presets, and clients that walk away. */

const note = `
import { appendFileSync } from "node:fs";
import { inspect } from "node:util";
const note = (what) => appendFileSync("log.jsonl", JSON.stringify(what) + "\\n");
const manager = () => globalThis[Symbol.for("pi-subagents:manager")];
`;

/** Launches through the registry, watches the session of one agent, waits for all, and tells what the records say. */
const research = `${note}
export default (pi) => {
	pi.on("session_start", () => note({ who: "research", found: typeof manager()?.spawn }));
	pi.registerCommand("research", {
		async handler(_args, ctx) {
			const launch = (type, options) => manager().spawn(pi, ctx, type, "Dig.", { description: "dig", ...options });
			const ids = [launch("Explore"), launch("nobody"), launch("Explore", { model: "no/such" }), launch("apart")];
			const records = ids.map((id) => manager().getRecord(id));
			note({ who: "research", ids: ids.map((id) => typeof id), statuses: records.map(({ status }) => status) });
			const [watched] = records;
			const seen = new Set();
			while (!watched.session) await new Promise((resolve) => setTimeout(resolve, 5));
			watched.session.subscribe(async (event) => {
				seen.add(event.type);
				throw new Error("I am careless.");
			});
			note({ who: "research", watches: true, apart: typeof records[3].session });
			const texts = await Promise.all(records.map(({ promise }) => promise));
			await manager().waitForAll();
			note({
				who: "research",
				texts,
				seen: [...seen],
				records: records.map(({ status, result, error, startedAt, completedAt, lifetimeUsage }) =>
					({ status, result, error, took: completedAt >= startedAt, output: lifetimeUsage.output > 0 })),
			});
		},
	});
	pi.registerCommand("cancel", {
		async handler(_args, ctx) {
			const record = manager().getRecord(manager().spawn(pi, ctx, "Explore", "Hang.", {}));
			while (!record.session) await new Promise((resolve) => setTimeout(resolve, 5));
			record.session.abort();
			note({ who: "cancel", text: await record.promise, status: record.status });
		},
	});
	pi.registerCommand("again", { handler: (_args, ctx) => ctx.reload() });
};
`;

/** Reads every field of every record at every event, in every way it knows. */
const panel = `${note}
export default (pi) => {
	const ids = new Set();
	const states = new Set();
	const deep = (value, level = 0) => {
		if (typeof value !== "object" || value === null || level > 3) return;
		for (const key in value) deep(value[key], level + 1);
	};
	const read = () => {
		for (const id of ids) {
			const record = manager()?.getRecord(id);
			if (!record) continue;
			try {
				for (const key of Object.keys(record)) record[key];
				deep(record);
				JSON.stringify(record);
				JSON.stringify({ ...record });
				inspect(record, { depth: 9, getters: true, showHidden: true });
				record.promise.then(() => undefined);
				states.add(record.status);
			} catch (error) {
				note({ who: "panel", failed: error.stack });
			}
		}
	};
	const timer = setInterval(read, 3);
	timer.unref();
	for (const event of ["created", "started", "completed", "failed", "steered", "resumed"])
		pi.events.on("subagents:" + event, ({ id }) => {
			ids.add(id);
			read();
		});
	pi.registerCommand("states", { handler: () => note({ who: "panel", states: [...states].sort() }) });
};
`;

/** Brings its roles along with the request, whenever it can: in its own start, and when the other side is ready. */
const roles = (request: object) => `${note}
export default (pi) => {
	let count = 0;
	const register = () => {
		const requestId = "roles-" + ++count + "-" + Math.random();
		const off = pi.events.on("subagents:rpc:registerAgents:reply:" + requestId, (reply) => {
			off();
			note({ who: "roles", reply });
		});
		pi.events.emit("subagents:rpc:registerAgents", { requestId, ...${JSON.stringify(request)} });
	};
	pi.on("session_start", register);
	pi.events.on("subagents:ready", register);
};
`;

/** Brings one role along with the older event, which is answered before it returns. */
const role = (name: string, definition: object) => `${note}
export default (pi) => {
	let registration;
	pi.on("session_start", () => {
		const request = { version: 1, name: ${JSON.stringify(name)}, definition: ${JSON.stringify(definition)} };
		pi.events.emit("pi-subagents:runtime-agent-register:v1", request);
		registration = request.result?.registration;
		note({ who: "role", ok: request.result?.ok });
	});
	pi.registerCommand("dispose", { handler: () => registration.dispose() });
};
`;

/** A tool that launches and walks away: it never stops what it has launched. */
const walksAway = `${note}
export default (pi) => {
	pi.registerTool({
		name: "delegate",
		label: "delegate",
		description: "Delegates.",
		parameters: { type: "object", properties: {} },
		async execute() {
			const requestId = String(Math.random());
			const reply = await new Promise((resolve) => {
				pi.events.on("subagents:rpc:spawn:reply:" + requestId, resolve);
				pi.events.emit("subagents:rpc:spawn", { requestId, type: "Explore", prompt: "Hang.", options: { isBackground: true } });
			});
			note({ who: "walks", ok: reply.success });
			return { content: [{ type: "text", text: "It timed out." }], details: {} };
		},
	});
};
`;

export const rowConsumers = { research, panel, roles, role, walksAway };
