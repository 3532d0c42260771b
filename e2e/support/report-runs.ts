/** Runs for tests of pages: one whose every text is hostile, and large numbers of ordinary ones. */
import type { RunInput } from "@pi-subagents/report";
import { corpus } from "./hostile/hostile-corpus.ts";

const hostileText = [
	...Object.values(corpus),
	"<img src=x onerror=alert(1)>",
	"</script><script>alert(2)</script>",
	"<!--",
	"]]>",
	"javascript:alert(3)",
	"<svg/onload=alert(4)>",
	`\${alert(5)}`,
	"' onmouseover='alert(6)",
	'" autofocus onfocus="alert(7)',
	"<style>*{background:url(http://127.0.0.1:9/)}</style>",
	"<link rel=stylesheet href=http://127.0.0.1:9/>",
].join(" ");

/** A run whose every text is hostile. */
export function hostile(): RunInput {
	const [made] = crowd(1, 1);
	if (!made) throw new Error("nothing was made");
	const fields = ["type", "description", "task", "cwd", "model", "name", "callId"].map((name) => [name, hostileText]);
	const at = 2_000;
	return {
		...made,
		agentId: hostileText,
		agent: { ...made.agent, ...Object.fromEntries(fields) },
		lines: [
			{ type: "agent_started", at: 1_000 },
			{ type: "assistant_text", text: hostileText, model: hostileText, error: hostileText, at },
			{ type: "tool_call", callId: hostileText, tool: hostileText, args: { [hostileText]: hostileText }, at },
			{ type: "agent_asked", question: hostileText, at },
			{ type: "agent_steered", message: hostileText, at },
			{ type: "notice", text: hostileText, at },
			{ type: "retrying", attempt: 1, maxAttempts: 2, delayMs: 5, error: hostileText, at },
		],
		outputs: new Map([[hostileText, hostileText]]),
		diff: hostileText,
		end: {
			...(made.end as NonNullable<RunInput["end"]>),
			outcome: {
				status: "completed",
				text: hostileText,
				structured: { ok: true, data: { [hostileText]: [hostileText] }, preview: hostileText },
				worktree: {
					branch: hostileText,
					base: "x",
					files: 1,
					insertions: 1,
					deletions: 1,
					merge: hostileText,
					problems: [hostileText],
				},
			},
		},
	};
}

/** One agent and those that it launched, each with so many spans. */
export function crowd(agents: number, spans: number): RunInput[] {
	const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0.001 };
	return Array.from({ length: agents }, (_, index): RunInput => {
		const start = 1_000 + (index % 50) * 137;
		return {
			agentId: `a${index}`,
			run: 1,
			queuedAt: start,
			agent: {
				launchedBy: "model",
				...(index === 0 ? {} : { parentAgentId: "a0" }),
				depth: index === 0 ? 1 : 2,
				isBackground: index > 0,
				type: "scout",
				description: `look at ${index}`,
				task: `task of a${index}`,
				cwd: "/project",
				runner: "session",
				model: "fake/one",
			},
			lines: [
				{ type: "agent_started", at: start },
				...Array.from({ length: Math.ceil(spans / 2) }, (_, turn) => turn).flatMap((turn): RunInput["lines"] => [
					{ type: "assistant_text", text: `Step ${turn}.`, at: start + turn * 100 + 60 },
					{
						type: "tool_call",
						callId: `c${turn}`,
						tool: "read",
						args: { path: `src/${turn}.ts` },
						at: start + turn * 100 + 60,
					},
					{ type: "tool_result", callId: `c${turn}`, tool: "read", isError: false, at: start + turn * 100 + 100 },
				]),
			],
			end: {
				outcome: { status: "completed", text: "Done." },
				startedAt: start,
				completedAt: start + spans * 50 + 20,
				turns: spans,
				toolUses: spans,
				usage,
			},
		};
	});
}
