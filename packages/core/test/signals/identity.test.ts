import { spawn } from "node:child_process";
import { once } from "node:events";
import { requireTool } from "@pi-subagents-dev/testkit";
import { expect, onTestFinished, test } from "vitest";
import { identityOf, isAlive } from "../../src/signals/identity.ts";

/** A process that waits until it is killed. */
function sleeper() {
	const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
	const exited = once(child, "exit");
	const end = async () => {
		child.kill("SIGKILL");
		await exited;
	};
	onTestFinished(end);
	return { pid: child.pid ?? 0, end };
}

test("a process is alive until it has ended", async () => {
	const { pid, end } = sleeper();
	const identity = await identityOf(pid);
	expect(identity.pid).toBe(pid);
	expect(await isAlive(identity)).toBe(true);
	await end();
	expect(await isAlive(identity)).toBe(false);
});

test("this process knows itself, and always in the same words", async () => {
	expect(await identityOf(process.pid)).toEqual(await identityOf(process.pid));
	expect(await isAlive(await identityOf(process.pid))).toBe(true);
});

test.skipIf(process.platform === "win32")("another process that got the number is not taken for it", async () => {
	const { pid } = sleeper();
	expect(await isAlive({ ...(await identityOf(pid)), born: "long ago" })).toBe(false);
});

test("where the time of birth is not known the number must do", async () => {
	expect(await isAlive({ ...(await identityOf(process.pid)), born: null })).toBe(true);
});

test.skipIf(process.platform !== "linux")("no process outlives the machine's start", async () => {
	expect(await isAlive({ ...(await identityOf(process.pid)), boot: "another" })).toBe(false);
});

test("a process on another machine counts as alive, since nobody here can tell", async () => {
	expect(await isAlive({ pid: 2 ** 22 + 1, born: "1", host: "elsewhere.example", boot: null })).toBe(true);
});

test.skipIf(process.platform !== "linux")("a machine that was given another name is still the same", async () => {
	const { pid, end } = sleeper();
	const identity = { ...(await identityOf(pid)), host: "before.example" };
	expect(await isAlive(identity)).toBe(true);
	await end();
	expect(await isAlive(identity)).toBe(false);
});

test.skipIf(process.platform !== "linux")("a process in another container counts as alive", async () => {
	const { pid, end } = sleeper();
	const identity = await identityOf(pid);
	await end();
	expect(await isAlive({ ...identity, space: "pid:[1]" })).toBe(true);
	const { space: _, ...earlier } = identity;
	expect(await isAlive(earlier)).toBe(false);
});

test.skipIf(process.platform !== "linux")("one that has ended but was not waited for is gone", async () => {
	// The shell starts a child, says its number, and becomes a program that never waits for it.
	const shell = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 1000"], { stdio: ["ignore", "pipe", "ignore"] });
	onTestFinished(async () => {
		const exited = once(shell, "exit");
		shell.kill("SIGKILL");
		await exited;
	});
	const [text] = await once(shell.stdout, "data");
	const identity = { ...(await identityOf(Number(String(text)))), born: null };
	await expect.poll(() => isAlive(identity)).toBe(false);
});

test.skipIf(process.platform === "win32")(
	"the first process is alive, whether it takes our signals or not",
	async () => {
		expect(await isAlive(await identityOf(1))).toBe(true);
	},
);

test.skipIf(!requireTool("ps"))("where the system does not show processes as files, ps tells", async () => {
	const { platform } = process;
	onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
	Object.defineProperty(process, "platform", { value: "darwin" });
	const { pid, end } = sleeper();
	const identity = await identityOf(pid);
	expect(identity).toMatchObject({ pid, born: expect.stringMatching(/ 20\d\d$/), boot: null });
	expect(await isAlive(identity)).toBe(true);
	expect(await isAlive({ ...identity, born: "Mon Jan 1 00:00:00 1990" })).toBe(false);
	await end();
	expect(await isAlive(identity)).toBe(false);
});
