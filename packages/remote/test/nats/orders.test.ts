/** Who takes an order, and who may send one. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@pi-subagents/core";
import { RUN_FILES } from "@pi-subagents/runs";
import { callTool, createGate, say } from "@pi-subagents-dev/testkit";
import { patienceMs } from "@pi-subagents-dev/testkit/wait";
import { describe, expect, onTestFinished, test } from "vitest";
import { remoteRunner } from "../../src/index.ts";
import { buildOrder } from "../../src/link/order.ts";
import { putBlob } from "../../src/nats/blobs.ts";
import { Engine } from "../../src/nats/engine.ts";
import { type Beat, FLEET_PROTOCOL } from "../../src/nats/messages.ts";
import { type Entry, endOf, readEntries, writeAfter } from "../../src/nats/run-log.ts";
import { hasNats } from "../fixtures/nats-engine.ts";
import { type NatsWorld, natsWorld } from "../fixtures/nats-world.ts";
import { startProxy, type Wire } from "../fixtures/proxy.ts";

const DONE = { status: "completed", text: "Done." };
const run = promisify(execFile);

/** Another program that is connected to the engine; with the fleet's key, unless it has another one. */
async function stranger({ engine, env }: NatsWorld, key?: string): Promise<Engine> {
	const keyFile = join(env.root, "key");
	if (key !== undefined) await writeFile(keyFile, key, { mode: 0o600 });
	const access = { nats: engine.url, tokenFile: engine.tokenFile, ...(key !== undefined && { keyFile }) };
	const client = await Engine.connect({ access, client: "stranger", clock: systemClock, onLink: () => undefined });
	onTestFinished(() => client.close());
	return client;
}

async function poolsOf(client: Engine, count: number): Promise<string[]> {
	const pools = new Set<string>();
	client.hear(client.names.beat("*"), (beat) => void pools.add((beat as Beat).pool));
	client.publish(client.names.who, {});
	await expect.poll(() => pools.size).toBe(count);
	return [...pools];
}

function orderFor({ spec }: NatsWorld, key: string): string {
	const order = buildOrder(spec, { key, isTrusted: false, aliases: [spec.cwd] });
	return JSON.stringify({ protocol: FLEET_PROTOCOL, at: Date.now(), key, near: "n-test", order });
}

async function send(client: Engine, pool: string, payload: string): Promise<void> {
	const subject = client.names.order(pool);
	await client.js.publish(subject, payload, { headers: client.sealed(subject, payload) });
}

async function lastKind(client: Engine, key: string): Promise<string | undefined> {
	return (await endOf(client, key)).entry?.kind;
}

async function keysOf({ workers }: NatsWorld): Promise<string[]> {
	const found = workers.map(({ home }) => readdir(join(home, "runs")).catch(() => []));
	return (await Promise.all(found)).flat();
}

describe.skipIf(!hasNats)("orders of a fleet", () => {
	test("two workers race for one order: one has it, and the agent runs once", async () => {
		await using world = await natsWorld(() => say("Done."), {
			workers: [
				["--labels", "a"],
				["--labels", "b"],
			],
		});
		const client = await stranger(world);
		const pools = await poolsOf(client, 2);
		const keys = Array.from({ length: 4 }, (_, index) => `race-${index}`);
		for (const key of keys) {
			const payload = orderFor(world, key);
			await Promise.all(
				pools.map((pool) => {
					const subject = client.names.order(pool);
					return client.js.publish(subject, payload, {
						msgID: subject + key,
						headers: client.sealed(subject, payload),
					});
				}),
			);
		}
		const entries: Entry[] = [];
		for (const key of keys)
			await readEntries(client, key, {
				from: 1,
				onEntry: (entry) => void entries.push(entry),
				onDoubt: () => undefined,
			});
		await expect.poll(() => entries.filter(({ kind }) => kind === "accepted")).toHaveLength(4);
		expect(entries.filter(({ kind }) => kind === "claim")).toHaveLength(4);
		expect((await keysOf(world)).sort()).toEqual(keys);
		await expect.poll(() => world.server.requests).toHaveLength(4);
		for (const pool of pools) {
			const info = (await client.manager()).consumers.info(client.names.orders, pool);
			expect(await info, "acknowledged when claimed, or when somebody else had it").toMatchObject({
				num_pending: 0,
				num_ack_pending: 0,
			});
		}
	});

	test("an order that comes again after its run is over is not run again", async () => {
		await using world = await natsWorld(() => say("Done."));
		const client = await stranger(world);
		const [pool = ""] = await poolsOf(client, 1);
		const payload = orderFor(world, "twice");
		await send(client, pool, payload);
		const result = join(world.workers[0]?.home ?? "", "runs", "twice", RUN_FILES.result);
		await expect.poll(() => readFile(result, "utf8")).toBeTypeOf("string");
		const message = { type: "done" };
		await client.request(client.names.to("twice"), { does: "control", key: "twice", message });
		await send(client, pool, payload);
		await send(client, pool, orderFor(world, "next"));
		await expect.poll(() => lastKind(client, "next")).toBe("accepted");
		expect(await lastKind(client, "twice")).toBe("done");
		expect(await keysOf(world)).toEqual(["next"]);
	});

	test("an order whose receipt is lost on the way is started nevertheless", async () => {
		let wire: Wire | undefined;
		await using world = await natsWorld(() => say("Done."), {
			through: async (url) => {
				wire = await startProxy(url, { breaksAt: "+ACK" });
				return wire.url;
			},
		});
		expect(await remoteRunner(world.options).start(world.spec, () => undefined).settled).toEqual(DONE);
		expect(world.server.requests).toHaveLength(1);
		await wire?.[Symbol.asyncDispose]();
	});

	test.each(["given up", "stopped"])("an order that is %s while its worker prepares it is not run", async (how) => {
		await using world = await natsWorld(() => say("Never."));
		const client = await stranger(world);
		const [pool = ""] = await poolsOf(client, 1);
		const path = join(world.env.root, "order.json");
		const { order, ...rest } = JSON.parse(orderFor(world, "late"));
		await writeFile(path, JSON.stringify(order));
		const [asked, told] = [createGate(), createGate()];
		client.serve(client.names.near("n-test"), async () => {
			asked.open();
			await told;
			return { digest: await putBlob(client, path) };
		});
		await send(client, pool, JSON.stringify({ ...rest, blob: "order" }));
		await asked;
		if (how === "stopped") {
			const message = { type: "kill" };
			await client.request(client.names.to("late"), { does: "control", key: "late", message });
		} else {
			const { seq } = await endOf(client, "late");
			const fence = { writer: "n-test", kind: "fence", nonce: "1", body: { why: "too late" } } as const;
			await writeAfter(client, "late", seq, fence);
		}
		told.open();
		const last = how === "stopped" ? "refused" : "fence";
		if (how === "stopped") await expect.poll(() => lastKind(client, "late")).toBe(last);
		else await expect.poll(() => world.workers[0]?.said()).toContain("late was given up meanwhile");
		await send(client, pool, orderFor(world, "next"));
		await world.server.nextRequest();
		expect(await lastKind(client, "late")).toBe(last);
		expect(world.server.requests, "only of the next one").toHaveLength(1);
	});

	test("an order that is given up before it is started fails with the reason", async () => {
		await using world = await natsWorld(() => say("Done."));
		const client = await stranger(world);
		const [pool = ""] = await poolsOf(client, 1);
		const runner = remoteRunner(world.options);
		expect(await runner.start(world.spec, () => undefined).settled, "so that its worker is known").toEqual(DONE);
		world.workers[0]?.signal("SIGSTOP");
		const ordered = new Promise<string>((resolve) => {
			client.hear(client.names.order(pool), ({ key }) => resolve(String(key)));
		});
		const next = { ...world.spec, agentId: "a2", artifacts: join(world.env.root, "runs", "a2") };
		const { settled } = runner.start(next, () => undefined);
		const fence = { writer: "n-test", kind: "fence", nonce: "1", body: { why: "its worker is asleep" } } as const;
		await writeAfter(client, await ordered, 0, fence);
		expect(await settled).toMatchObject({ status: "failed", error: expect.stringContaining("its worker is asleep") });
		await world.workers[0]?.kill("SIGKILL");
	});

	test("a worker that comes back after days does not start what it had kept", async () => {
		await using world = await natsWorld(() => say("Done."));
		const [worker] = world.workers;
		await worker?.kill();
		const kept = join(worker?.home ?? "", "orders", "kept.json");
		const order = { ...JSON.parse(orderFor(world, "kept")), at: Date.now() - 3 * 24 * 60 * 60_000 };
		await writeFile(kept, JSON.stringify(order));
		await worker?.start();
		expect(await remoteRunner(world.options).start(world.spec, () => undefined).settled).toEqual(DONE);
		expect(world.server.requests).toHaveLength(1);
		await expect(readFile(kept)).rejects.toThrow("ENOENT");
	});

	test("a forged order is refused: no seal, another key, the seal of another queue, a changed order, an old one", async () => {
		await using world = await natsWorld(() => say("Never."));
		const [client, thief] = [await stranger(world), await stranger(world, "not the key of this fleet")];
		const [pool = ""] = await poolsOf(client, 1);
		const subject = client.names.order(pool);
		const payload = orderFor(world, "forged");
		const old = JSON.stringify({ ...JSON.parse(payload), at: Date.now() - 2 * 24 * 60 * 60_000 });
		const changed = payload.replace('"isTrusted":false', '"isTrusted":true');
		expect(changed).not.toBe(payload);
		for (const [body, headers] of [
			[payload, client.nats.headers()],
			[payload, thief.sealed(subject, payload)],
			[payload, client.sealed(client.names.order("other"), payload)],
			[changed, client.sealed(subject, payload)],
			[old, client.sealed(subject, old)],
			[JSON.stringify({ rm: "-rf" }), client.sealed(subject, JSON.stringify({ rm: "-rf" }))],
		] as const)
			await client.js.publish(subject, body, { headers });
		await expect.poll(() => world.workers[0]?.said().match(/was refused/g)).toHaveLength(6);
		expect(await keysOf(world)).toEqual([]);
		expect(await endOf(client, "forged")).toEqual({ seq: 0, entry: undefined });
		expect(world.server.requests).toHaveLength(0);
	});

	test("without the fleet's key, no one can stop an agent, send it a message or forge its result", async () => {
		const gate = createGate();
		await using world = await natsWorld(({ messages }) =>
			messages.some(({ role }) => role === "tool") ? say("Done.") : callTool("ls", { path: "." }, { gate }),
		);
		const thief = await stranger(world, "not the key of this fleet");
		const agent = remoteRunner(world.options).start(world.spec, () => undefined);
		await world.server.nextRequest();
		const [key = ""] = await keysOf(world);
		const to = thief.names.to(key);
		for (const message of [{ type: "kill" }, { type: "lines", at: 0, text: '{"type":"stop"}\n' }])
			await expect(thief.request(to, { does: "control", key, message }, 1_000)).rejects.toThrow(/timeout/i);
		await expect(thief.request(to, { does: "blob", id: "../../auth.json" }, 1_000)).rejects.toThrow(/timeout/i);
		const result = { type: "result", text: '{"outcome":{"status":"completed","text":"Forged."}}' };
		for (let noise = 0; noise < 3; noise++) {
			const payload = JSON.stringify({ epoch: "any", number: 1, piece: result });
			const headers = thief.sealed(thief.names.run(key), payload);
			await thief.js.publish(thief.names.run(key), payload, { msgID: `${key}:w-x:piece:${noise}:1/1`, headers });
		}
		gate.open();
		expect(await agent.settled).toEqual(DONE);
	});

	test("an agent goes where labels and model are, and if nobody has them the launch says so", async () => {
		await using world = await natsWorld(() => say("Done."), {
			workers: [
				["--labels", "linux"],
				["--labels", "linux,big"],
			],
			labels: ["big"],
		});
		const start = (change: object, agentId: string, link = world.link) =>
			remoteRunner({ ...world.options, linkTo: () => link }).start(
				{ ...world.spec, ...change, agentId, artifacts: join(world.env.root, "runs", agentId) },
				() => undefined,
			);
		expect(await start({}, "a1").settled).toEqual(DONE);
		expect(await readdir(join(world.workers[1]?.home ?? "", "work")), "only there").toBeDefined();
		expect(await readdir(join(world.workers[0]?.home ?? "", "work")).catch(() => "never")).toBe("never");
		expect(await start({ model: "anthropic/claude-none" }, "a2").settled).toMatchObject({
			status: "failed",
			error: expect.stringMatching(
				/^Model anthropic\/claude-none is not available on fleet: .* one that it has: fake\/small\.$/,
			),
		});
		await Promise.all(world.workers.map((worker) => worker.kill("SIGTERM")));
		await using empty = await natsWorld(() => say("Never."), { workers: [["--labels", "linux"]], labels: ["gpu"] });
		expect(await remoteRunner(empty.options).start(empty.spec, () => undefined).settled).toMatchObject({
			status: "failed",
			error: "No worker of fleet has the labels gpu. Their labels: linux.",
		});
		await empty.workers[0]?.kill();
		await using none = await natsWorld(() => say("Never."), { workers: [] });
		expect(await remoteRunner(none.options).start(none.spec, () => undefined).settled).toMatchObject({
			status: "failed",
			error: expect.stringMatching(/^No worker of fleet answers\. Start one: .*npx @pi-subagents\/remote up$/),
		});
	});

	test("a worker takes no more than its slots, in the order of the launches; a stopped agent gives up its place", async () => {
		const gate = createGate();
		await using world = await natsWorld(
			({ messages }) =>
				messages.some(({ role }) => role === "tool") ? say("Done.") : callTool("ls", { path: "." }, { gate }),
			{ workers: [["--slots", "1"]] },
		);
		const runner = remoteRunner(world.options);
		const start = (agentId: string) =>
			runner.start({ ...world.spec, agentId, artifacts: join(world.env.root, "runs", agentId) }, () => undefined);
		const first = start("a1");
		await world.server.nextRequest();
		const [second, third] = [start("a2"), start("a3")];
		const client = await stranger(world);
		const waiting = async () => (await (await client.manager()).streams.info(client.names.orders)).state.messages;
		await expect.poll(() => waiting()).toBe(2);
		second.abort({ by: "user" });
		expect(await second.settled).toMatchObject({ status: "aborted", by: "user" });
		expect(await keysOf(world)).toHaveLength(1);
		gate.open();
		expect(await first.settled).toEqual(DONE);
		expect(await third.settled).toEqual(DONE);
		expect(world.server.requests, "nothing of the stopped one").toHaveLength(4);
		// The last order may leave the queue a little after its run has settled.
		await expect.poll(() => waiting()).toBe(0);
	});

	test("a connection that nobody needs does not keep a process from ending", async () => {
		await using world = await natsWorld(() => say("Never."));
		const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
		const access = { nats: world.engine.url, tokenFile: world.engine.tokenFile };
		const script = `
			const { NatsLink } = await import(${source("nats/near-link.ts")});
			const { systemClock } = await import("@pi-subagents/core");
			const link = new NatsLink({ name: "fleet", access: ${JSON.stringify(access)}, clock: systemClock, report: console.log });
			const unfollow = link.follow("none", async () => ({}), console.log);
			const waiting = setInterval(() => {}, 60_000);
			link.onBeat((isUp) => isUp && (console.log("up"), unfollow(), clearInterval(waiting)));`;
		const args = ["--conditions=@pi-subagents/source", "--input-type=module", "-e", script];
		const { stdout } = await run(process.execPath, args, { cwd: import.meta.dirname, timeout: patienceMs() });
		expect(stdout).toBe("up\n");
	});

	test("a repository travels there and back, and nothing secret is on the wire", async () => {
		const [KEY, IGNORED] = ["sk-near-0123456789", "only-in-an-ignored-file"];
		let wire: Wire | undefined;
		await using world = await natsWorld(
			({ messages }) =>
				messages.some(({ role }) => role === "tool")
					? say("Done.")
					: callTool("bash", { command: "cat draft.txt > copy.txt" }),
			{
				through: async (url) => {
					wire = await startProxy(url);
					return wire.url;
				},
			},
		);
		const { env } = world;
		const repo = join(env.root, "their-project");
		const git = async (...args: string[]) =>
			(await run("git", ["-C", repo, "-c", "user.email=a@b", "-c", "user.name=A", ...args])).stdout.trim();
		await mkdir(repo);
		await git("init", "-q", "-b", "main");
		await writeFile(join(repo, ".gitignore"), "secret.env\n");
		await git("add", "-A");
		await git("commit", "-qm", "first");
		await writeFile(join(repo, "draft.txt"), "not committed\n");
		await writeFile(join(repo, "secret.env"), `${IGNORED}\n`);
		process.env.NEAR_ONLY_KEY = KEY;
		onTestFinished(() => void delete process.env.NEAR_ONLY_KEY);
		const task = `Copy ${join(repo, "draft.txt")}.`;
		const outcome = await remoteRunner({ ...world.options, sessionCwd: () => repo }).start(
			{ ...world.spec, cwd: repo, task },
			() => undefined,
		).settled;
		expect(outcome).toMatchObject({ ...DONE, worktree: { branch: "pi/a1", files: 1 } });
		expect(await git("show", "pi/a1:copy.txt")).toBe("not committed");
		const seen = wire?.seen() ?? "";
		expect(seen).toContain("/pi-workspace/draft.txt");
		for (const secret of [KEY, IGNORED, "their-project"]) expect(seen, secret).not.toContain(secret);
		const far = await run("grep", [
			"-rlE",
			[KEY, IGNORED, "their-project"].join("|"),
			world.workers[0]?.home ?? "",
		]).catch(({ stdout }) => ({ stdout }));
		expect(far.stdout, "nor with the worker").toBe("");
		// Nothing of it stays with the engine or the worker.
		const client = await stranger(world);
		await expect.poll(() => keysOf(world)).toEqual([]);
		const store = await new client.nats.Objm(client.js).open(client.names.bucket);
		await expect.poll(() => store.list()).toEqual([]);
		await wire?.[Symbol.asyncDispose]();
	});
});
