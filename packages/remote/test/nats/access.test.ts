/** What each user of an engine may see, and what a fleet needs before it says anything to it. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { nkeys } from "@nats-io/transport-node";
import { systemClock } from "@pi-subagents/core";
import { requireTool } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FleetAccess, openAccess } from "../../src/nats/access.ts";
import { putBlob } from "../../src/nats/blobs.ts";
import { Engine } from "../../src/nats/engine.ts";
import { missing } from "../../src/nats/load.ts";
import { endOf, RunWriter } from "../../src/nats/run-log.ts";
import { hasNats, startEngine } from "../fixtures/nats-engine.ts";

async function tempDir(): Promise<string> {
	const dir = await mkdtemp(join(tmpdir(), "access-"));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	return dir;
}

/** As the documentation says it. */
function permissionsOf(fleet: string): string {
	const streams = [`pi_${fleet}_orders`, `pi_${fleet}_runs`, `OBJ_pi_${fleet}_blobs`];
	const api = streams.flatMap((stream) => [
		`$JS.API.STREAM.*.${stream}`,
		`$JS.API.STREAM.MSG.*.${stream}`,
		`$JS.API.CONSUMER.*.${stream}`,
		`$JS.API.CONSUMER.*.${stream}.>`,
		`$JS.API.CONSUMER.*.*.${stream}.>`,
		`$JS.ACK.${stream}.>`,
	]);
	const publish = [`pi.${fleet}.>`, `_INBOX.${fleet}.>`, `$O.pi_${fleet}_blobs.>`, "$JS.API.INFO", ...api];
	return JSON.stringify({ publish, subscribe: [`pi.${fleet}.>`, `_INBOX.${fleet}.>`] });
}

/** A key and a certificate for this name, signed by the authority in `ca.pem`. */
async function certify(dir: string, name: string, altName: string): Promise<void> {
	const openssl = (...args: string[]) => promisify(execFile)("openssl", args, { cwd: dir });
	const made = ["-newkey", "rsa:2048", "-nodes", "-days", "2"];
	if (!existsSync(join(dir, "ca.pem")))
		await openssl("req", "-x509", ...made, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem");
	const [key, request] = [`${name}.key`, `${name}.csr`];
	await openssl("req", ...made.slice(0, 3), "-subj", "/CN=engine", "-keyout", key, "-out", request);
	await writeFile(join(dir, "ext"), `subjectAltName=${altName}\n`);
	const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "ext"];
	await openssl("x509", "-req", "-in", request, ...signed, "-out", `${name}.pem`);
}

/** Speaks as much NATS as a client needs to connect, and hangs up when it is asked for more. */
async function shortEngine(others: readonly string[]) {
	const heard: string[] = [];
	const server = createServer((socket) => {
		socket.on("error", () => undefined);
		const info = { server_id: "x", version: "2.10.0", max_payload: 1_048_576, headers: true, connect_urls: others };
		socket.write(`INFO ${JSON.stringify(info)}\r\n`);
		socket.setEncoding("utf8").on("data", (text: string) => {
			heard.push(text);
			if (text.includes("PING")) socket.write("PONG\r\n");
			if (text.includes("PUB")) socket.destroy();
		});
	});
	await once(server.listen(0, "127.0.0.1"), "listening");
	onTestFinished(() => void server.close());
	return { heard, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("access to a fleet", () => {
	test("other addresses that an engine names are never used: nobody asked for TLS there", async () => {
		const dir = await tempDir();
		const tokenFile = join(dir, "token");
		await writeFile(tokenFile, "0123456789abcdef0123", { mode: 0o600 });
		const elsewhere = await shortEngine([]);
		const here = await shortEngine([elsewhere.address]);
		const options = { access: { nats: `nats://${here.address}`, tokenFile }, client: "x", clock: systemClock };
		await expect(Engine.connect({ ...options, onLink: () => undefined })).rejects.toThrow("has no JetStream");
		expect(here.heard.filter((text) => text.includes("CONNECT")).length).toBeGreaterThan(1);
		expect(elsewhere.heard).toEqual([]);
	});

	test.skipIf(!hasNats || !requireTool("openssl"))(
		"an engine with TLS is used if the authority signed its certificate for this address, and refused otherwise",
		async () => {
			const dir = await tempDir();
			const at = (name: string) => join(dir, name);
			await certify(dir, "right", "IP:127.0.0.1");
			await certify(dir, "wrong", "DNS:elsewhere.example");
			await writeFile(at("token"), "0123456789abcdef0123", { mode: 0o600 });
			const engineWith = async (name: string) => {
				const tls = `tls { cert_file: "${at(`${name}.pem`)}", key_file: "${at(`${name}.key`)}" }`;
				const engine = await startEngine(
					at(`engine-${name}`),
					`authorization { token: "0123456789abcdef0123" }\n${tls}`,
				);
				onTestFinished(() => engine[Symbol.asyncDispose]());
				return engine.url.replace("nats:", "tls:");
			};
			const [right, wrong] = [await engineWith("right"), await engineWith("wrong")];
			const connect = async (nats: string, more: Partial<FleetAccess>) => {
				const access = { nats, tokenFile: at("token"), ...more };
				const engine = await Engine.connect({ access, client: "x", clock: systemClock, onLink: () => undefined });
				await engine.ensureStreams();
				engine.close();
				return "connected";
			};
			const why = (connecting: Promise<string>) => connecting.catch(({ message }: Error) => message);
			expect(await why(connect(right, { caFile: at("ca.pem") }))).toBe("connected");
			expect(await why(connect(right, {}))).toMatch(/certificate/);
			expect(await why(connect(wrong, { caFile: at("ca.pem") }))).toContain("has a certificate for another name");
			expect(await why(connect(right, { caFile: at("none.pem") }))).toBe(
				`${at("none.pem")} does not exist; it should hold the certificate of an authority.`,
			);
		},
	);

	test("secrets that others can read, in the address or absent are refused, and so is an engine elsewhere without TLS", async () => {
		const dir = await tempDir();
		const tokenFile = join(dir, "token");
		await writeFile(tokenFile, "0123456789abcdef0123", { mode: 0o644 });
		await chmod(tokenFile, 0o644);
		const nats = "nats://127.0.0.1:4222";
		const why = (access: FleetAccess) =>
			openAccess(access).then(String, (error: Error) => `${error.name}: ${error.message}`);
		expect(await why({ nats, tokenFile })).toBe(
			`Refused: ${tokenFile} holds the engine's token, and others may read it. Run: chmod 600 ${tokenFile}`,
		);
		await chmod(tokenFile, 0o600);
		expect(await why({ nats })).toMatch(/^Refused: A fleet needs `tokenFile` or `keyFile`/);
		expect(await why({ nats: "nats://secret@127.0.0.1", tokenFile })).toMatch(/Put the engine's token in a file/);
		expect(await why({ nats: "http://127.0.0.1", tokenFile })).toMatch(/is not an address of an engine/);
		expect(await why({ nats, tokenFile: join(dir, "none") })).toMatch(
			/does not exist; it should hold the engine's token/,
		);
		expect(await why({ nats, tokenFile: "token" })).toMatch(/as a whole path/);
		expect(await why({ nats, tokenFile, fleet: "a.>" })).toMatch(/The fleet's name/);
		const here = await openAccess({ nats, tokenFile });
		expect(here.tls).toBeUndefined();
		expect(here.key.toString("hex")).not.toContain("0123456789abcdef0123");
		expect((await openAccess({ nats: "nats://engine.example", tokenFile })).tls, "never in the clear").toBeDefined();
	});

	test("packages that are missing are named, with where to install them", () => {
		const error = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
		const file = "/home/me/.pi/agent/npm/node_modules/@pi-subagents/extension/dist/remote.cjs";
		expect(String(missing(error, file))).toContain(
			"npm install --prefix /home/me/.pi/agent/npm @nats-io/transport-node@3 @nats-io/jetstream@3 @nats-io/obj@3",
		);
		const odd = file.replace("/home/me", "/home/my $HOME");
		expect(String(missing(error, odd))).toContain("npm install --prefix '/home/my $HOME/.pi/agent/npm' @nats-io");
		const other = new Error("broken");
		expect(missing(other, file)).toBe(other);
	});
});

describe.skipIf(!hasNats)("an engine with several users", () => {
	test("each has their own subjects and streams, and none can read or write another's", async () => {
		const dir = await tempDir();
		const users = ["alice", "bob"].map((name) => ({ name, pair: nkeys.createUser() }));
		const lines = users.map(
			({ name, pair }) => `{ nkey: "${pair.getPublicKey()}", permissions: ${permissionsOf(name)} }`,
		);
		await using server = await startEngine(join(dir, "engine"), `authorization { users: [${lines.join(", ")}] }`);
		const keyFile = join(dir, "key");
		await writeFile(keyFile, "a key that both have, to show that the engine decides", { mode: 0o600 });
		const open = async (user: string, fleet: string) => {
			const nkeyFile = join(dir, `${user}.nk`);
			const seed = users.find(({ name }) => name === user)?.pair.getSeed() ?? new Uint8Array();
			await writeFile(nkeyFile, seed, { mode: 0o600 });
			const access = { nats: server.url, fleet, nkeyFile, keyFile };
			const engine = await Engine.connect({ access, client: user, clock: systemClock, onLink: () => undefined });
			onTestFinished(() => engine.close());
			return engine;
		};
		const alice = await open("alice", "alice");
		expect(await new RunWriter(alice, "run", { worker: "w-1", life: "1" }).claim()).toBe(true);
		await expect(putBlob(alice, keyFile)).resolves.toMatch(/^[0-9a-f]{64}$/);
		const bob = await open("bob", "bob");
		expect(await endOf(bob, "run")).toEqual({ seq: 0, entry: undefined });
		await expect(open("bob", "alice")).rejects.toThrow(/has no JetStream for this fleet: .*permission/i);
		const manager = await bob.manager();
		await expect(manager.streams.info(alice.names.runs)).rejects.toThrow(/permission/i);
		await expect(bob.js.publish(alice.names.order("any"), "{}")).rejects.toThrow(/permission/i);
	});

	test("a wrong token is refused with words that help", async () => {
		const dir = await tempDir();
		await using server = await startEngine(join(dir, "engine"));
		const tokenFile = join(dir, "wrong");
		await writeFile(tokenFile, "not the token of this engine", { mode: 0o600 });
		const access = { nats: server.url, tokenFile };
		const opened = Engine.connect({ access, client: "x", clock: systemClock, onLink: () => undefined });
		await expect(opened).rejects.toThrow(
			/^The fleet's engine at 127\.0\.0\.1:\d+ refuses this user: .*Look at `tokenFile`/,
		);
	});
});
