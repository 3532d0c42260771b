/** `npm run demo` as a newcomer meets it, without and with a terminal. */
import { execFile } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTempDir, isFullRun, startTerminal } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";

const demo = join(dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))), "examples/demo/demo.ts");
const args = ["--disable-warning=ExperimentalWarning", demo, "--fast"];

test("without a terminal it prints agents at work and the final answer", async () => {
	const running = promisify(execFile)(process.execPath, args);
	running.child.stdin?.end();
	const { stdout, stderr } = await running;
	expect(stderr).toBe("");
	const lines = stdout.split("\n");
	expect(lines.filter((line) => line.startsWith("▶"))).toHaveLength(3);
	expect(lines.filter((line) => line.startsWith("✓")).sort()).toEqual(["✓ cartographer", "✓ critic", "✓ tester"]);
	expect(lines).toEqual(expect.arrayContaining(["  cartographer  Listing src", "  tester        node --test"]));
	expect(stdout).toContain("All 2 tests pass; moving a parcel that was never added is not covered.");
	expect(lines.filter((line) => line === "  cartographer  Listing src")).toHaveLength(1);
	expect(stdout).not.toMatch(/tool_call|undefined|\[object|Alt\+A|Ctrl\+D/); // there are no keys to press
	const report = /^Report: (.*)$/m.exec(stdout)?.[1] ?? "";
	onTestFinished(() => rm(dirname(report), { recursive: true }));
	expect(await readFile(report, "utf8")).toContain("moving a parcel that was never added");
});

test("in a terminal it opens pi, one can type to it, and it leaves nothing behind", async () => {
	await using temp = await createTempDir();
	await using screen = startTerminal([process.execPath, ...args], {
		cols: 110,
		rows: 45,
		variables: { ...process.env, TMPDIR: temp.path },
	});
	await screen.waitForText("Fix Store.move first");
	await screen.waitForText("Press Alt+A or type /agents to read");
	expect(screen.scrollback()).toMatch(/cartographer[\s\S]*critic[\s\S]*tester/);
	screen.submit("What does the Critic say?");
	await screen.waitForText("I hand this to the critic.");
	await screen.waitForText("There you have it.");
	screen.submit("/agents ");
	await screen.waitForText(/→ This session +4 done/);
	screen.press("escape");
	await screen.close();
	expect((await readdir(temp.path)).filter((name) => name.startsWith("pi-env-"))).toEqual([]);
});

if (isFullRun)
	test.each(["nats", "pipe"])("the fleet's dozen agents all complete, over %s", async (way) => {
		const fleet = join(dirname(demo), "fleet.ts");
		const { stdout } = await promisify(execFile)(process.execPath, [...args.slice(0, 1), fleet, "--fast", `--${way}`]);
		expect(stdout).toContain("12 of 12 agents completed, each once: the model was asked 24 times, 24 were needed.");
		expect(stdout.match(/✓ a\d+/g)).toHaveLength(12);
		const isFleet = !stdout.startsWith("nats-server is not installed, so this is one worker over a pipe");
		expect(isFleet).toBe(/is killed \(kill -9\) while it has a\d+/.test(stdout));
	});
