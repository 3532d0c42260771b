/** A fleet as a person in real pi meets it: installed as the docs say, with a real engine and a worker that is killed. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	all,
	callTool,
	converse,
	createGate,
	gatePis,
	isFullRun,
	lastUserSays,
	runPrint,
	say,
	startTui,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { endWrappers, hasNats, startEngine, testWorker } from "../../../packages/remote/test/fixtures/nats-engine.ts";
import { packOnce } from "../../support/packages/pack-once.ts";
import { installed, root } from "../../support/packages/packed.ts";
import { asRepository } from "../../support/repository.ts";
import { delegate, isScout, isSession, parentSays, scene, scoutSays, unfenced } from "../../support/scene.ts";

const NATS = ["transport-node", "jetstream", "obj"];

if (isFullRun && hasNats)
	describe.each(await gatePis())("pi $version", (pi) => {
		test("it says what to install, shows where an agent runs, and a background agent outlives its worker", async () => {
			const gate = createGate();
			await using it = await scene(
				[
					parentSays(delegate(), ({ lastToolResults }) => say(`Reported: ${unfenced(lastToolResults[0]?.text)}`)),
					converse(
						all(isSession, lastUserSays("Please dig.")),
						callTool("background_agent", { preset: "repo-scout", task: "Dig." }),
						say("It digs."),
					),
					converse(
						all(isScout, lastUserSays("Dig.")),
						callTool("bash", { command: "true" }, { gate }),
						say("Dug: ochre."),
					),
					scoutSays(callTool("bash", { command: "echo found > found.txt" }), say("Found: heliotrope.")),
				],
				{ extensions: [] },
			);
			const { agentDir } = it.env;
			const installedIn = await installed(join(agentDir, "npm"), ["extension"], { tarballs: await packOnce() });
			const extension = join(installedIn, "node_modules/@pi-subagents/extension");
			await using engine = await startEngine(join(it.env.root, "engine"));
			const { url: nats, tokenFile } = engine;
			await writeFile(
				join(agentDir, "subagents.json"),
				JSON.stringify({
					machines: { fleet: { nats, tokenFile } },
					machine: "fleet",
					agentOverrides: { "repo-scout": { tools: ["bash"] } },
				}),
			);
			const git = await asRepository(it);
			const options = { env: it.env, pi, args: ["-e", extension] };
			expect((await runPrint(options, "Please delegate.")).stdout).toContain(
				`Run: npm install --prefix ${installedIn} @nats-io/transport-node@3`,
			);

			await mkdir(join(installedIn, "node_modules/@nats-io"));
			for (const name of NATS)
				await symlink(
					join(root, "packages/remote/node_modules/@nats-io", name),
					join(installedIn, "node_modules/@nats-io", name),
				);
			const program = join(root, "packages/remote/dist/worker.js");
			const words = pi.command.flatMap((word) => ["--pi", word]);
			const names = ["--name", "worker-1", "--agent-dir", agentDir];
			const worker = testWorker(
				"worker-1",
				[program, "--nats", nats, "--token-file", tokenFile, ...names, ...words],
				it.env,
			);
			await worker.start();
			await using tui = await startTui(options, { cols: 160 });
			tui.submit("Please delegate.");
			await tui.waitForText(/repo-scout .*@fleet/);
			await tui.waitForText("Reported: Found: heliotrope.");
			expect(await git("branch", "--list", "pi/*")).toMatch(/pi\/\w+/);

			tui.submit("Please dig.");
			await tui.waitForText("It digs.");
			await it.server.nextRequest(({ lastUserText }) => lastUserText.includes("Dig."));
			await worker.kill();
			await worker.start();
			gate.open();
			await tui.waitForText(/Detached agent repo-scout .*Done/);
			const shown = tui.screen().join("\n");
			expect(shown).toContain("Dug: ochre.");
			expect(shown).not.toContain("Warning");
			await worker.kill("SIGTERM");
			await endWrappers([worker]);
		});
	});
