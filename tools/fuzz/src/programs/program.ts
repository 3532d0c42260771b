/** Programs: what happens to a session and its agents, as data that shrinks, and as lines that a person can read. */
import fc from "fast-check";

/** What an agent does, decided when it is launched. Each turn takes a while and costs one cent. */
export interface Plan {
	turns: readonly Turn[];
	/** How long the run takes to end after its answer, as one does that closes a worktree or ends a process. */
	endMs: number;
	/** How long it takes to end when it is stopped. */
	cleanupMs: number;
}

export interface Turn {
	ms: number;
	does: "work" | "fail" | "child" | "child in background";
	child?: Plan;
}

/** What the session's model calls in one message. */
export type Call =
	| { call: "launch"; isBackground: boolean; plan: Plan }
	| { call: "resume"; agent: number; isBackground: boolean; plan: Plan }
	| { call: "steer"; agent: number }
	| { call: "wrap up"; agent: number }
	| { call: "stop"; agent: number }
	| { call: "read"; agent: number; waits: boolean };

export type Step =
	| { step: "turn"; calls: readonly Call[] }
	| { step: "user"; does: "launch"; plan: Plan }
	| { step: "user"; does: "steer" | "stop"; agent: number }
	| { step: "escape" }
	| { step: "time"; ms: number }
	| { step: "rewind"; entry: number }
	| { step: "fork"; entry: number }
	| { step: "reload" | "kill" };

export interface Program {
	slots: number;
	steps: readonly Step[];
}

/** Which parts of the language a program may use: known defects are left out by these. */
export interface Language {
	/** Runs that take time to end after their answer. */
	slowEnds: boolean;
	nesting: boolean;
	background: boolean;
	rewinding: boolean;
	forking: boolean;
	restarting: boolean;
}

export function programs(language: Language): fc.Arbitrary<Program> {
	const ms = fc.constantFrom(0, 100, 1_000, 5_000);
	const plan = (depth: number): fc.Arbitrary<Plan> =>
		fc.record({
			turns: fc.array(turn(depth), { maxLength: 3 }),
			endMs: language.slowEnds ? fc.constantFrom(0, 1_000) : fc.constant(0),
			cleanupMs: fc.constantFrom(0, 2_000),
		});
	const turn = (depth: number): fc.Arbitrary<Turn> => {
		const plain = fc.record({ ms, does: fc.constantFrom<"work" | "fail">("work", "work", "work", "fail") });
		if (depth > 1 || !language.nesting) return plain;
		const kinds = language.background ? (["child", "child in background"] as const) : (["child"] as const);
		const parent = fc.record({ ms, does: fc.constantFrom(...kinds), child: plan(depth + 1) });
		return fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: parent });
	};
	const agent = fc.nat({ max: 5 });
	const call: fc.Arbitrary<Call> = fc.oneof(
		{
			weight: 4,
			arbitrary: fc.record({ call: fc.constant("launch" as const), isBackground: fc.boolean(), plan: plan(0) }),
		},
		fc.record({ call: fc.constant("resume" as const), agent, isBackground: fc.boolean(), plan: plan(0) }),
		fc.record({ call: fc.constantFrom("steer" as const, "wrap up" as const, "stop" as const), agent }),
		fc.record({ call: fc.constant("read" as const), agent, waits: fc.boolean() }),
	);
	const entry = fc.nat({ max: 20 });
	const never: fc.Arbitrary<Step>[] = [];
	const step: fc.Arbitrary<Step> = fc.oneof(
		fc.record({ step: fc.constant("turn" as const), calls: fc.array(call, { minLength: 1, maxLength: 3 }) }),
		fc.record({ step: fc.constant("time" as const), ms: fc.constantFrom(0, 100, 999, 1_000, 3_000, 10_000, 60_000) }),
		fc.record({ step: fc.constant("user" as const), does: fc.constant("launch" as const), plan: plan(0) }),
		fc.record({ step: fc.constant("user" as const), does: fc.constantFrom("steer" as const, "stop" as const), agent }),
		fc.record({ step: fc.constant("escape" as const) }),
		...(language.rewinding ? [fc.record({ step: fc.constant("rewind" as const), entry })] : never),
		...(language.forking ? [fc.record({ step: fc.constant("fork" as const), entry })] : never),
		...(language.restarting ? [fc.record({ step: fc.constantFrom("reload" as const, "kill" as const) })] : never),
	);
	return fc.record({ slots: fc.constantFrom(1, 2), steps: fc.array(step, { minLength: 1, maxLength: 12 }) });
}

/** The program for people, a step on each line. */
export function linesOf({ slots, steps }: Program): string[] {
	return [`maxConcurrent: ${slots}`, ...steps.map((step, index) => `${index + 1}. ${lineOf(step)}`)];
}

function lineOf(step: Step): string {
	switch (step.step) {
		case "turn":
			return `the model calls: ${step.calls.map(callText).join(" + ")}`;
		case "user":
			return step.does === "launch"
				? `the user launches ${planText(step.plan)}`
				: `the user says ${step.does} to agent ${step.agent}`;
		case "escape":
			return "the user presses Escape";
		case "time":
			return `${step.ms} ms pass`;
		case "rewind":
			return `/tree to entry ${step.entry}`;
		case "fork":
			return `/fork at entry ${step.entry}`;
		case "reload":
			return "/reload";
		case "kill":
			return "kill -9, and the session is opened again";
	}
}

function callText(call: Call): string {
	const where = "isBackground" in call ? (call.isBackground ? " in the background" : " and wait") : "";
	if (call.call === "launch") return `launch ${planText(call.plan)}${where}`;
	if (call.call === "resume") return `resume agent ${call.agent} as ${planText(call.plan)}${where}`;
	if (call.call === "read") return `read the result of agent ${call.agent}${call.waits ? ", waiting for it" : ""}`;
	return `${call.call} agent ${call.agent}`;
}

function planText({ turns, endMs, cleanupMs }: Plan): string {
	const text = turns.map(({ ms, does, child }) => `${ms} ms ${does}${child ? ` ${planText(child)}` : ""}`).join(", ");
	const end = [endMs > 0 ? `ends in ${endMs} ms` : "", cleanupMs > 0 ? `stops in ${cleanupMs} ms` : ""].filter(Boolean);
	return `(${[text || "answers at once", ...end].join("; ")})`;
}
