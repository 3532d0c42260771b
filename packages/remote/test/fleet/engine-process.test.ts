/** An engine whose port another program has taken meanwhile. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { findNatsServer, startEngine } from "../../src/fleet/engine-process.ts";
import { hasNats } from "../fixtures/nats-engine.ts";

/** A port that is in use, kept as that of the engine in this directory. */
async function taken(dir: string): Promise<number> {
	const other = createServer().listen(0, "127.0.0.1");
	await once(other, "listening");
	onTestFinished(() => void other.close());
	const { port } = other.address() as AddressInfo;
	await writeFile(join(dir, "port"), String(port));
	return port;
}

describe.skipIf(!hasNats)("an engine whose port is taken", () => {
	test("gets another one and says so when a fleet is started", async () => {
		await using dir = await createTempDir();
		const port = await taken(dir.path);
		const engine = await startEngine(findNatsServer() ?? "", dir.path);
		await engine.stop();
		expect(engine).toMatchObject({ movedFrom: port, url: expect.not.stringContaining(`:${port}`) });
		const again = await startEngine(findNatsServer() ?? "", dir.path);
		await again.stop();
		expect([again.url, again.movedFrom]).toEqual([engine.url, undefined]);
	});

	test("does not leave its workers: the error names the port", async () => {
		await using dir = await createTempDir();
		const port = await taken(dir.path);
		const started = startEngine(findNatsServer() ?? "", dir.path, { stays: true });
		await expect(started).rejects.toThrow(new RegExp(`^nats-server could not be started: .*:${port}.*in use`));
	});
});
