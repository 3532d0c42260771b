/**
 * An agent inside the documented sandbox that lies: it forges and replaces the files of its own run, all that it can
 * write outside its project. None of it reaches further than the agent itself.
 */
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool, gateCases, gatePis, requireTool, runPrint, say, when } from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { parentSays } from "../../support/scene.ts";
import { asStranger, launchStranger, sandboxedStranger, tellsParent } from "../../support/stranger.ts";

describe.skipIf(!requireTool("bwrap")).each(await gatePis())("pi $version", (pi) => {
	test.each(gateCases(["the user's home", "a program of the user's"], 0))(
		"a link in place of its conversation changes no permissions: %s",
		async (what) => {
			const links = (target: string) =>
				`cd "$PI_SUBAGENTS_RUN_DIR" && rm -f child-session.jsonl && ln -s '${target}' child-session.jsonl`;
			await using it = await sandboxedStranger([
				parentSays(launchStranger(), tellsParent),
				when(asStranger, ({ lastToolResults }) =>
					lastToolResults.length > 0 ? say("Done.") : callTool("bash", { command: links(target) }),
				),
			]);
			const program = join(it.env.home, "program");
			const target = what === "the user's home" ? it.env.home : program;
			writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
			chmodSync(it.env.home, 0o755);
			const { stdout } = await runPrint({ env: it.env, pi }, "Please delegate.");
			expect(stdout).toMatch(/stranger\): (Completed|Failed)/);
			expect((statSync(target).mode & 0o777).toString(8)).toBe("755");
		},
	);
});
