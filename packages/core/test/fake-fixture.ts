/** A puppet that behaves as a conformance script says, to show that the suite itself is sound. */
import { messageOf } from "../src/index.ts";
import { type ChildScript, type CreateFixture, type FakeRun, fakeRunner } from "../src/testing/index.ts";
import { spec } from "./events.ts";

export const fakeFixture: CreateFixture = async (script) => {
	const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	const released = Promise.withResolvers<void>();
	const heard: string[] = [];
	let requests = 0;
	const request = () => asked[requests++]?.resolve();
	const live = async (run: FakeRun) => {
		await Promise.resolve(); // set-up takes a moment, in which a stop, a steer or a wish to wrap up may come
		if (run.stops.length > 0) return;
		if (run.spec.model !== spec.model) return run.settle({ status: "failed", error: "unknown model" });
		heard.push(run.spec.task);
		request();
		if (script.does !== "work") {
			begin(run, script);
			if (script.does === "compact") request();
			return;
		}
		await released.promise;
		run.emit({ type: "tool_call", callId: "1", tool: "ls", args: { path: "." } });
		run.emit({ type: "tool_result", callId: "1", tool: "ls", isError: false });
		if ((await pass(run)) === "end") return;
		request();
		heard.push(...run.steers);
		if (run.wrapUps.length > 0) heard.push(`Finish now: ${run.wrapUps[0] ?? "no reason"}`);
		run.answer(script.text);
	};
	return {
		runner: fakeRunner((run) => void live(run)),
		spec: { ...spec, agentId: "a1", run: 1 },
		asked: async (times = 1) => asked[times - 1]?.promise,
		release: released.resolve,
		requests: () => requests,
		heard: () => heard,
		cleanup: async () => undefined,
	};
};

/** What the child does until somebody stops it. */
function begin(run: FakeRun, script: ChildScript): void {
	if (script.does === "fail") run.settle({ status: "failed", error: script.error });
	if (script.does === "retry")
		run.emit({ type: "retrying", attempt: 1, maxAttempts: 3, delayMs: 60_000, error: "503" });
	if (script.does === "use_tool") {
		run.emit({ type: "assistant_text", text: script.text, stopReason: "toolUse" });
		run.emit({ type: "tool_call", callId: "1", tool: "wait", args: {} });
	}
	if (script.does === "compact") {
		run.emit({ type: "assistant_text", text: script.text, stopReason: "stop" });
		run.emit({ type: "compacting" });
	}
}

async function pass(run: FakeRun): Promise<"go" | "end"> {
	try {
		const word = (await run.checkpoint?.()) ?? "go";
		if (word === "end") run.settle({ status: "failed", error: "The agent ended while it was still using tools." });
		return word;
	} catch (error) {
		run.settle({ status: "failed", error: messageOf(error) });
		return "end";
	}
}
