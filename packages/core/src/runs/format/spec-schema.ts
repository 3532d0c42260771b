/** The schema of a spec, which a run's `meta.json` keeps so that the run can be rejoined. */
import { Type } from "typebox";
import { once } from "../../base/values.ts";
import type { GivenByCall } from "../../model/event.ts";
import type { McpSpec, OutputSpec, RunSpec, VerifySpec, WorktreeSetup } from "../../model/runner.ts";
import { count, maybeAmount, maybeText, objectOf, oneOf, text, texts } from "./kinds.ts";

export const limitsSchema = once(() =>
	objectOf<RunSpec["limits"]>()({
		maxTurns: maybeAmount,
		graceTurns: maybeAmount,
		timeoutMs: maybeAmount,
		toolTimeoutMs: maybeAmount,
		idleTimeoutMs: maybeAmount,
		budgetTokens: maybeAmount,
		budgetCost: maybeAmount,
		wrapUpPercent: maybeAmount,
		stalledAfterMs: maybeAmount,
	}),
);

const chosen = once(() => Type.Optional(Type.Union([Type.Boolean(), texts])));

export const specSchema = once(() =>
	objectOf<RunSpec>()({
		type: text,
		description: text,
		task: text,
		cwd: text,
		runner: oneOf("session", "process", "tmux", "remote", "workflow"),
		machine: maybeText,
		retry: Type.Optional(Type.Literal("lost")),
		launcher: maybeText,
		model: text,
		thinking: Type.Optional(oneOf("off", "minimal", "low", "medium", "high", "xhigh", "max")),
		tools: texts,
		withheld: Type.Optional(texts),
		mcp: Type.Optional(
			objectOf<McpSpec>()({
				servers: texts,
				denied: Type.Optional(texts),
				isOptional: Type.Optional(Type.Literal(true)),
			}),
		),
		systemPrompt: Type.Optional(Type.Object({ mode: oneOf("append", "replace"), text })),
		extensions: chosen(),
		excludeExtensions: Type.Optional(texts),
		skills: chosen(),
		subagents: Type.Optional(Type.Union([Type.Literal("*"), texts])),
		output: Type.Optional(objectOf<OutputSpec>()({ schema: Type.Record(text, Type.Unknown()), repairs: count })),
		verify: Type.Optional(
			Type.Union([
				objectOf<VerifySpec>()({
					command: Type.Union([text, texts]),
					timeoutMs: maybeAmount,
					output: Type.Optional(Type.Literal("json")),
					schema: Type.Optional(Type.Record(text, Type.Unknown())),
					repairs: count,
				}),
				Type.Object({ skipped: text }),
			]),
		),
		fallbackModels: Type.Optional(texts),
		isolation: Type.Optional(
			objectOf<NonNullable<RunSpec["isolation"]>>()({
				kind: Type.Literal("worktree"),
				base: oneOf("head", "dirty"),
				setup: Type.Optional(
					objectOf<WorktreeSetup>()({
						dir: maybeText,
						link: Type.Optional(texts),
						include: Type.Optional(texts),
						readsIncludeFile: Type.Optional(Type.Boolean()),
						setup: Type.Optional(Type.Union([text, texts])),
						setupTimeoutMs: maybeAmount,
					}),
				),
			}),
		),
		confinedTo: Type.Optional(Type.Object({ root: text, records: maybeText, origin: text, watches: texts })),
		inheritsContext: Type.Optional(Type.Boolean()),
		compactsFirst: Type.Optional(Type.Literal(true)),
		memory: Type.Optional(oneOf("project", "local", "user")),
		memoryDir: maybeText,
		outlives: Type.Optional(Type.Boolean()),
		runsDir: maybeText,
		presetSource: maybeText,
		requestedModel: maybeText,
		limits: limitsSchema(),
		given: Type.Optional(
			objectOf<GivenByCall>()({
				thinking: maybeText,
				maxTurns: maybeAmount,
				outputSchema: Type.Optional(Type.Record(text, Type.Unknown())),
				isolated: Type.Optional(Type.Boolean()),
				tools: Type.Optional(texts),
				verify: Type.Optional(Type.Unknown()),
				verifyBy: Type.Optional(oneOf("user", "extension")),
				retry: Type.Optional(oneOf("lost", "off")),
			}),
		),
		origins: Type.Record(text, oneOf("call", "settings", "preset", "parent", "default")),
		warnings: texts,
	}),
);
