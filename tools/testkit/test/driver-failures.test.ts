/** What drivers say and do when pi does not do what the test expects. */
import { expect, onTestFinished, test } from "vitest";
import { createBench, hang, otherwise, runPrint, startRpc, startTui } from "../src/index.ts";
import { graceMs } from "../src/wait.ts";

const NOISY = `
	export default function (pi) {
		pi.on("session_start", () => process.stderr.write("pid " + process.pid + "\\n"));
	}
`;

async function bench() {
	const created = await createBench({ rules: [otherwise(hang())], files: { "noisy.js": NOISY } });
	onTestFinished(created.close);
	return created;
}

function isAlive(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}

test("a run that takes too long is killed, and the error shows its stderr", async () => {
	const { env } = await bench();
	const run = runPrint({ env, extensions: ["noisy.js"], timeoutMs: graceMs() }, "anything");
	const error = await run.catch((caught: Error) => caught);
	expect(error).toMatchObject({
		message: expect.stringMatching(/^pi is still running after \d+ ms\n--- stderr\npid \d+/),
	});
	expect(isAlive(Number(/pid (\d+)/.exec(String(error))?.[1]))).toBe(false);
});

test("cleaning up ends whatever still runs", async () => {
	const { env, server } = await bench();
	const rpc = startRpc({ env, extensions: ["noisy.js"] });
	const tui = await startTui({ env });
	await rpc.send({ type: "prompt", message: "anything" });
	await server.nextRequest();
	const pid = Number(/pid (\d+)/.exec(rpc.stderr)?.[1]);
	expect(isAlive(pid)).toBe(true);
	await env.cleanup();
	expect(isAlive(pid)).toBe(false);
	await expect(tui.exit).resolves.toBeDefined();
	await expect(rpc.waitFor(() => false)).rejects.toThrow("pi has exited with");
});

test("a command is refused by pi in its response, and by the driver if pi is gone", async () => {
	const { env } = await bench();
	const rpc = startRpc({ env });
	expect(await rpc.send({ type: "set_model", provider: "no", modelId: "no" })).toMatchObject({ success: false });
	await rpc.close();
	await expect(rpc.send({ type: "get_state" })).rejects.toThrow(/^pi has exited with 0\nNo response to .*get_state/);
});

test("what is not on the screen is reported with the screen", async () => {
	const { env } = await bench();
	const tui = await startTui({ env });
	const waiting = tui.waitForText("the moon", { timeoutMs: 100 }); // real time: it never comes
	await expect(waiting).rejects.toThrow(
		/Gave up after \d+ ms\nthe moon is not on the screen:\n┌──[\s\S]*fake-1[\s\S]*└──/,
	);
});

test("a pi that does not start is reported with what it wrote", async () => {
	const { env } = await bench();
	const starting = startTui({ env, args: ["--no-such-option"] });
	await expect(starting).rejects.toThrow(/^It has exited with 1\n[\s\S]*no-such-option/);
});
