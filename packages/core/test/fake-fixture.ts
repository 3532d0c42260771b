/** A puppet that behaves as a conformance script says, to show that the suite itself is sound. */
import { type CreateFixture, type FakeRun, fakeRunner } from "../src/testing/index.ts";
import { spec } from "./events.ts";

export const fakeFixture: CreateFixture = async (script) => {
	const asked = Promise.withResolvers<void>();
	const released = Promise.withResolvers<void>();
	const heard: string[] = [];
	const live = async (run: FakeRun) => {
		await Promise.resolve(); // set-up takes a moment, in which a stop or a steer may come
		if (run.stops.length > 0) return;
		if (run.spec.model !== spec.model) return run.settle({ status: "failed", error: "unknown model" });
		heard.push(run.spec.task);
		asked.resolve();
		if (script.does === "fail") run.settle({ status: "failed", error: script.error });
		if (script.does !== "work") return;
		await released.promise;
		run.emit({ type: "tool_call", callId: "1", tool: "ls", args: { path: "." } });
		run.emit({ type: "tool_result", callId: "1", tool: "ls", isError: false });
		heard.push(...run.steers);
		run.answer(script.text);
	};
	return {
		runner: fakeRunner((run) => void live(run)),
		spec: { ...spec, agentId: "a1", run: 1 },
		asked: () => asked.promise,
		release: released.resolve,
		heard: () => heard,
		cleanup: async () => undefined,
	};
};
