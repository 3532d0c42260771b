/** A machine that keeps an agent beyond its limits of time: how long this side waits for it, and when it does not. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Manager, type Outcome, type RunSpec } from "@pi-subagents/core";
import { handClock, sampleSpec } from "@pi-subagents/core/testing";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { remoteRunner } from "../../src/index.ts";
import type { ControlMessage, Link, Piece } from "../../src/link/link.ts";

const MINUTE = 60_000;

/** An agent on a machine that accepts the order, and from then on says what the test wants it to say. */
async function kept(limits: RunSpec["limits"]) {
	const temp = await createTempDir("pi-overdue-");
	onTestFinished(temp.remove);
	const clock = handClock(1_000);
	const submitted = Promise.withResolvers<void>();
	const followed = Promise.withResolvers<void>();
	const sent: ControlMessage[] = [];
	let hear: (piece: Piece) => unknown = () => undefined;
	let beat: (isUp: boolean) => void = () => undefined;
	const link: Link = {
		submit: () => submitted.promise,
		follow(_key, _marks, listener) {
			hear = listener;
			followed.resolve();
			return () => undefined;
		},
		control: async (_key, message) => void sent.push(message),
		blobs: { offer: () => () => undefined, fetch: async () => undefined },
		onBeat(listener) {
			beat = listener;
			listener(true);
			return () => undefined;
		},
	};
	const cwd = join(temp.path, "project");
	await mkdir(cwd);
	const agentDir = join(temp.path, "agent");
	const remote = remoteRunner({ agentDir, isProjectTrusted: () => false, linkTo: () => link, clock });
	const manager = new Manager({ runners: { remote }, clock, newId: () => "a1" });
	const spec: RunSpec = { ...sampleSpec, runner: "remote", machine: "box", cwd, limits };
	const { id } = manager.spawn(spec);
	let outcome: Outcome | undefined;
	void manager.wait(id).then((ended) => {
		outcome = ended;
	});
	const settled = async () => {
		await new Promise(setImmediate);
		return outcome;
	};
	return {
		clock,
		sent,
		settled,
		accepts: () => {
			submitted.resolve();
			return followed.promise.then(() => new Promise(setImmediate));
		},
		reaches: (isUp: boolean) => beat(isUp),
		turns: () => manager.store.record(id)?.turns,
		says: (piece: Piece) => hear(piece),
	};
}

const bytes = (at: number, line: object): Piece => {
	const text = `${JSON.stringify(line)}\n`;
	return { type: "bytes", file: "events", at, data: Buffer.from(text).toString("base64") };
};

test("one that says nothing has two minutes more than the limit, and then the agent is stopped here", async () => {
	const { clock, settled, accepts, sent } = await kept({ timeoutMs: 3_000 });
	clock.advance(10 * MINUTE); // until the order has arrived, nothing counts
	expect(await settled()).toBeUndefined();
	await accepts();
	clock.advance(2 * MINUTE + 2_999);
	expect(await settled()).toBeUndefined();
	clock.advance(1);
	expect(await settled()).toEqual({
		status: "aborted",
		by: "timeout",
		reason: "it ran longer than 2m 3s, and its machine did not end it",
	});
	clock.advance(MINUTE); // it does not obey the stop either
	await expect.poll(() => sent.map(({ type }) => type)).toContain("kill");
});

test("an outage is no time that the agent took, however long and however often", async () => {
	const { clock, settled, accepts, reaches } = await kept({ timeoutMs: 3_000, idleTimeoutMs: 1_000 });
	await accepts();
	for (let count = 0; count < 10; count++) {
		reaches(false);
		clock.advance(60 * MINUTE);
		reaches(true);
		clock.advance(1_000);
	}
	expect(await settled()).toBeUndefined();
	clock.advance(2 * MINUTE);
	expect(await settled()).toMatchObject({ by: "timeout" });
});

test("one whose agent does nothing has the longest pause of a provider besides, whatever its own clock says", async () => {
	const { clock, settled, accepts, says, turns } = await kept({ idleTimeoutMs: MINUTE });
	await accepts();
	clock.advance(12 * MINUTE);
	await says(bytes(0, { type: "turn", at: 1 })); // as of 1970
	await expect.poll(turns).toBe(1);
	clock.advance(12 * MINUTE);
	expect(await settled()).toBeUndefined();
	clock.advance(2 * MINUTE);
	await expect.poll(settled).toMatchObject({ status: "aborted", by: "idle" });
});
