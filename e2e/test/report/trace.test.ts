/** `/subagent trace` in real pi: to a file, and to a collector that the environment names. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type PiRpc, piUnderTest, startRpc } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { parentDelegates, scene, scoutReadsNotes } from "../../support/scene.ts";

/** What a command tells the user. */
async function told(rpc: PiRpc, command: string): Promise<string> {
	const from = rpc.events.length;
	await rpc.send({ type: "prompt", message: command });
	const notice = await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "notify", {
		from,
	});
	return "message" in notice ? String(notice.message) : "";
}

test("agents of a session become a Chrome trace, and OpenTelemetry spans at the collector", {
	timeout: 60_000,
}, async () => {
	const received: { key: unknown; body: string }[] = [];
	const collector = createServer(async (request, response) => {
		let body = "";
		for await (const part of request) body += part;
		received.push({ key: request.headers["x-key"], body });
		response.end("{}");
	});
	await new Promise<void>((done) => collector.listen(0, "127.0.0.1", done));
	onTestFinished(() => void collector.close());
	const host = `127.0.0.1:${(collector.address() as AddressInfo).port}`;
	const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}`, OTEL_EXPORTER_OTLP_HEADERS: "x-key=sesame" };
	await using it = await scene([parentDelegates, scoutReadsNotes], { variables });
	await using rpc = startRpc({ env: it.env, pi: piUnderTest() });
	await rpc.prompt("Please delegate.");
	const path = /Trace of 1 run: (\S+\.chrome\.json)/.exec(await told(rpc, "/subagent trace"))?.[1] ?? "";
	const { traceEvents } = JSON.parse(await readFile(path, "utf8"));
	const names = traceEvents.flatMap(({ ph, name }: { ph: string; name: string }) => (ph === "X" ? [name] : []));
	expect(names).toEqual(expect.arrayContaining(["Find the launch code.", "model", "read"]));
	expect(await told(rpc, "/subagent trace --send")).toContain(`Trace of 1 run: sent to ${host}`);
	expect(received).toMatchObject([{ key: "sesame", body: expect.stringContaining("invoke_agent repo-scout") }]);
	expect(received[0]?.body).not.toContain("heliotrope");
	expect(await told(rpc, "/subagent trace --sent")).toContain("use /subagent trace [id|all]");
});
