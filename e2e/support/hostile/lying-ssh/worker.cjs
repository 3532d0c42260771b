/**
 * The worker of a machine that lies: it speaks the protocol, accepts every order and runs nothing. The variable LIE says
 * how it lies, as JSON; `lying-machine.ts` has its type.
 */
const lie = JSON.parse(process.env.LIE ?? "{}");
const say = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`);

if (lie.complaint !== undefined) {
	process.stderr.write(`${lie.complaint}\n`);
	process.exit(1);
}
say({ does: "hello", body: { protocol: lie.version === undefined ? 1 : 0, version: lie.version ?? "1.0.0" } });
setInterval(() => say({ does: "beat", body: {} }), 1_000);

let order;
const piece = (each) => say({ does: "piece", body: { key: order.key, piece: each } });

function follow() {
	if (lie.result) {
		const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 };
		const now = Date.now();
		const { agentId, run } = order;
		const result = { format: 1, runId: run === 1 ? agentId : `${agentId}-${run}`, agentId, run, writtenBy: "wrapper" };
		const times = { startedAt: now, completedAt: now, turns: 1, toolUses: 1, usage };
		piece({ type: "result", text: JSON.stringify({ ...result, ...times, ...lie.result }) });
	}
	if (lie.flood) {
		// So that there is something that the agent is told.
		const lines = [{ type: "agent_started" }, { type: "checkpoint", id: "pass-1" }];
		const text = lines.map((each) => `${JSON.stringify({ at: Date.now(), ...each })}\n`).join("");
		piece({ type: "bytes", file: "events", at: 0, data: Buffer.from(text).toString("base64") });
		const timer = setInterval(() => {
			for (let count = 0; count < 20; count++) piece(lie.flood);
		}, 5);
		timer.unref();
	}
}

require("node:readline")
	.createInterface({ input: process.stdin })
	.on("line", (line) => {
		const { id, does, body } = JSON.parse(line);
		if (does === "control" && lie.isSilent) return;
		if (does === "submit" && lie.refusal !== undefined) {
			say({ id, ok: false, isFinal: true, error: lie.refusal });
			return;
		}
		if (does === "submit") order = body;
		if (id !== undefined) say({ id, ok: true, value: {} });
		if (does === "follow") follow();
	})
	.on("close", () => process.exit(0));
