/** Extensions of other people beside ours, in real pi: none of them ends pi, and pi is asked what they do. */
import { availablePis, callTool, converse, lastUserSays, offersTool, runPrint, say } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { ONE_LINE_GUARD, REFUSAL, SECRET, secretReadBy } from "../../support/env-guard.ts";
import { extensionDir, scene } from "../../support/scene.ts";

/** Bears one evaluation in a process; a second one throws where nobody waits for it. */
const ONCE = `const hasRun = globalThis.onceHasRun;
globalThis.onceHasRun = true;
if (hasRun) setTimeout(() => { throw new Error("I am here already."); }, 0);
`;

/** Runs sessions of its own, with all of the user's extensions, as other sub-agent extensions do. */
const NESTS = `import { createAgentSession, SessionManager } from "@earendil-works/pi-coding-agent";
export default (pi) => {
	pi.registerTool({
		name: "nest", label: "nest", description: "Nests.", parameters: { type: "object", properties: {} },
		async execute(_id, _params, _signal, _update, ctx) {
			const { session } = await createAgentSession({
				cwd: ctx.cwd,
				model: ctx.model,
				modelRuntime: ctx.modelRegistry.runtime,
				sessionManager: SessionManager.inMemory(ctx.cwd),
			});
			await session.bindExtensions({});
			session.subscribe((event) => { if (event.type === "agent_settled") process.nextTick(() => session.dispose()); });
			await session.prompt("Say hello.");
			session.dispose();
			return { content: [{ type: "text", text: "nested" }], details: {} };
		},
	});
};
`;

describe.each(await availablePis())("pi $version", (pi) => {
	test("an extension that is no guard is not run again to find that out", async () => {
		const agentFiles = { "extensions/once.ts": `${ONCE}export default () => undefined;\n` };
		expect(await secretReadBy({ pi, agentFiles })).toContain(SECRET);
	});

	test("a guard that cannot run twice refuses launches, and pi goes on", async () => {
		const agentFiles = { "extensions/once.ts": `${ONCE}${ONE_LINE_GUARD}` };
		const text = await secretReadBy({ pi, agentFiles });
		expect(text).toMatch(
			/once guards agents and could not be loaded .*I am here already.*name "once" in `guards: \{ exempt \}`/,
		);
		expect(text).not.toContain(SECRET);
		expect(await secretReadBy({ pi, agentFiles, subagents: { guards: { exempt: ["once"] } } })).toContain(SECRET);
	});

	test("handlers that an extension registers when its session starts count", async () => {
		const code = ONE_LINE_GUARD.replace("pi.on(", 'pi.on("session_start", () => pi.on(').replace("); };", ")); };");
		const text = await secretReadBy({ pi, agentFiles: { "extensions/late.ts": code } });
		expect(text).toContain(REFUSAL);
		expect(text).not.toContain(SECRET);
	});

	test("a session that another extension makes and throws away, with ours in it, does not end pi", async () => {
		const rules = [
			converse(lastUserSays("Say hello."), say("Hello.")),
			converse(offersTool("nest"), ...Array(3).fill(callTool("nest", {})), say("All nested.")),
		];
		await using it = await scene(rules, {
			extensions: [],
			settings: { packages: [extensionDir] },
			agentFiles: { "extensions/nest.ts": NESTS },
		});
		const { stdout, stderr, code } = await runPrint({ env: it.env, pi }, "Please nest.");
		expect({ stdout, stderr, code }).toEqual({ stdout: "All nested.\n", stderr: "", code: 0 });
	});
});
