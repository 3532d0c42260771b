import { expect, test } from "vitest";
import { world } from "../../../commands/test/menu/fixture.ts";
import { repository } from "../../../commands/test/menu/worktree-fixture.ts";
import type { Host } from "../../src/host/host.ts";
import { warnOfLeftWorktrees } from "../../src/host/worktrees.ts";

test("what a crash has left of this repository's agents is told when a session is open there", async () => {
	await using it = await world();
	const { left, kept } = await repository(it);
	const told: string[] = [];
	const host = { agentDir: it.agentDir, warn: (text: string) => told.push(text) } as unknown as Host;
	await kept("a1", "kept\n");
	await warnOfLeftWorktrees(host, it.ctx);
	expect(told).toEqual([]);
	await left("a2", "left\n");
	await warnOfLeftWorktrees(host, { ...it.ctx, cwd: it.agentDir });
	expect(told).toEqual([]);
	await warnOfLeftWorktrees(host, it.ctx);
	expect(told).toEqual([expect.stringMatching(/^An agent has ended without closing its worktree\./)]);
});
