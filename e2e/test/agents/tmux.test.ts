/** Agents in tmux windows, as a person in real pi meets them. */
import { join } from "node:path";
import {
	callTool,
	createGate,
	createTempDir,
	gatePis,
	hang,
	type PiBinary,
	type Rule,
	requireTool,
	say,
	startTerminal,
	startTui,
} from "@pi-subagents-dev/testkit";
import { describe, expect, test } from "vitest";
import { delegate, isScout, parentSays, type Scene, scene, scoutSays, unfenced } from "../../support/scene.ts";
import { endTmuxWith } from "../../support/tmux.ts";

/** Nobody else's tmux is in reach: all servers are found below `home`. */
async function tmuxScene(rules: readonly Rule[]): Promise<Scene & { home: string }> {
	const home = await createTempDir("tmux-"); // a socket's path must be short
	const it = await scene(rules, {
		agentFiles: { "subagents.json": JSON.stringify({ runner: "tmux" }) },
		variables: { TMUX_TMPDIR: home.path },
	});
	endTmuxWith(it.env, home);
	return { ...it, home: home.path };
}

/** pi in a window of its user's tmux. */
function inTmux(pi: PiBinary, home: string): PiBinary {
	const server = ["-S", join(home, "users"), "-f", "/dev/null"];
	return { ...pi, command: ["tmux", ...server, "new-session", "-s", "work", ...pi.command] };
}

const wide = { cols: 200 };
const prefix = "\x02";

describe.skipIf(!requireTool("tmux")).each(await gatePis())("pi $version", (pi) => {
	test("a person is told how to watch an agent, and sees it work until its end", async () => {
		const gate = createGate();
		await using it = await tmuxScene([
			parentSays(delegate(), ({ lastToolResults }) => say(`My scout reports: ${unfenced(lastToolResults[0]?.text)}`)),
			scoutSays(callTool("read", { path: "notes.txt" }, { gate }), say("Found: heliotrope.")),
		]);
		await using tui = await startTui({ env: it.env, pi }, wide);
		tui.submit("Please delegate.");
		const screen = await tui.waitForText(/`tmux .*`/);
		const [program = "", ...args] = /`(tmux .*)`/.exec(screen.join("\n"))?.[1]?.split(" ") ?? [];
		await using watcher = startTerminal([program, ...args], { variables: it.env.variables });
		await watcher.waitForText("(repo-scout): Find the launch code.");
		gate.open();
		await watcher.waitForText("Reading notes.txt");
		await watcher.waitForText("Press Enter to close this window.");
		await tui.waitForText("My scout reports: Found: heliotrope.");
		watcher.press("enter");
		await watcher.exit;
	});

	test("a person who works in tmux finds the agent in the next window, and closing that stops it", async () => {
		await using it = await tmuxScene([parentSays(delegate(), say("So be it.")), scoutSays(hang())]);
		// tmux shows the title that pi gives its terminal when it is ready.
		await using tui = await startTui({ env: it.env, pi: inTmux(pi, it.home) }, { ...wide, ready: "- project" });
		tui.submit("Please delegate.");
		await tui.waitForText("in window 1 of your tmux session work");
		await it.server.nextRequest(isScout);
		tui.type(`${prefix}1`);
		await tui.waitForText("(repo-scout): Find the launch code.");
		tui.type(`${prefix}&`);
		await tui.waitForText("(y/n)");
		tui.type("y");
		await tui.waitForText("So be it.");
		expect(tui.screen().join("\n")).toContain("its window was closed");
		await it.server.nextRequest((request) => isScout(request) && request.aborted);
	});
});
