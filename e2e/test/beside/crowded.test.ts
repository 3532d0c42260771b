/** Extensions of other people beside ours, in real pi: none of them ends pi, and pi is asked what they do. */
import { availablePis } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { ONE_LINE_GUARD, REFUSAL, SECRET, secretReadBy } from "../../support/env-guard.ts";

/** Bears one evaluation in a process; a second one throws where nobody waits for it. */
const ONCE = `const hasRun = globalThis.onceHasRun;
globalThis.onceHasRun = true;
if (hasRun) setTimeout(() => { throw new Error("I am here already."); }, 0);
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
});
