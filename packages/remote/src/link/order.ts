/** What travels to a machine that is to run an agent: no path of this machine, no key, no variable. */
import { AgentError, type RunIdentity, type RunSpec } from "@pi-subagents/core";
import { defined, isObject } from "@pi-subagents/core/internal/base";
import { specSchema, travelOf } from "@pi-subagents/core/schema";
import { isRunSpec } from "@pi-subagents/runs";
import { pathsMoved } from "@pi-subagents/worktree";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";

/** Stands for the agent's directory in everything that travels; the worker replaces it with the real one. */
export const WORKSPACE = "/pi-workspace";

const name = Type.String({ pattern: "^[\\w-][\\w.-]{0,255}$" });
const commit = Type.String({ pattern: "^[0-9a-f]{40,64}$" });

const repositorySchema = Type.Object({
	/** What the agent begins with: the last commit, or one with the uncommitted work. */
	commit,
	/** The blob with the commits since `base`. */
	blob: name,
	/** A commit that the worker may know already, and the blob with all that leads to it. */
	base: Type.Object({ commit, blob: name }),
	/** The directory in the repository where the agent works. */
	inside: Type.String({ maxLength: 4096 }),
});

const orderSchema = Type.Object({
	format: Type.Literal(1),
	/** Names the run on the far side. */
	key: name,
	agentId: name,
	run: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
	spec: Type.Unknown(),
	/** Whether the user trusts the project that the files are from. */
	isTrusted: Type.Boolean(),
	/** Whether the user can answer dialogs of its extensions. Absent: no. */
	hasUser: Type.Optional(Type.Literal(true)),
	/** The blob with the conversation that it starts with. */
	conversation: Type.Optional(name),
	repository: Type.Optional(repositorySchema),
});

export type SentRepository = Static<typeof repositorySchema>;

export interface Order extends Static<typeof orderSchema> {
	spec: RunSpec;
}

export interface OrderFacts {
	key: string;
	isTrusted: boolean;
	hasUser?: boolean | undefined;
	conversation?: string | undefined;
	repository?: SentRepository | undefined;
	/** Directories of this machine that the texts may name, and that mean the agent's directory. */
	aliases: readonly string[];
}

/** Throws if the spec needs something that stays on this machine. */
export function buildOrder(spec: RunSpec & RunIdentity, facts: OrderFacts): Order {
	const { key, isTrusted, hasUser, conversation, repository } = facts;
	return {
		format: 1,
		key,
		agentId: spec.agentId,
		run: spec.run,
		spec: travellingSpec(spec, facts),
		isTrusted,
		...(hasUser ? { hasUser } : {}),
		...defined({ conversation, repository }),
	};
}

/** Undefined if it is not an order. The spec's directory is always the agent's own. */
export function parseOrder(value: unknown): Order | undefined {
	if (!Check(orderSchema, value) || !isRunSpec(value.spec)) return undefined;
	const { inside = "" } = value.repository ?? {};
	const isInside = !inside.startsWith("/") && !inside.split(/[\\/]/).includes("..");
	return isInside && hasOnlyWhatTravels(value.spec) && value.spec.cwd === WORKSPACE
		? { ...value, spec: value.spec }
		: undefined;
}

/** No place of the other machine, and nothing else that this side decides for itself. */
function hasOnlyWhatTravels(spec: RunSpec): boolean {
	const set = new Set<string>(["runner", "origins", "warnings", "isolation"]);
	return Object.entries(specSchema().properties).every(
		([name, schema]) =>
			travelOf(schema)?.how !== "stays" || set.has(name) || spec[name as keyof typeof spec] === undefined,
	);
}

/** Moves paths in a text between this machine and the other one. */
export function travelling(text: string, aliases: readonly string[]): string {
	return pathsMoved(text, aliases, WORKSPACE);
}

/** Each field of a spec says whether it travels; one that says nothing does not. */
function travellingSpec(spec: RunSpec, { aliases, repository }: OrderFacts): RunSpec {
	requireNames(spec, "extensions", [spec.extensions, spec.excludeExtensions]);
	requireNames(spec, "skills", [spec.skills]);
	if (spec.memory !== undefined)
		throw new AgentError(
			"unsupported",
			`Preset "${spec.type}" keeps notes (\`memory\`), and notes stay on this machine. Run it here, or without them.`,
		);
	return {
		...travellingFields(spec, aliases),
		cwd: WORKSPACE,
		runner: "process",
		origins: {},
		warnings: [],
		...(repository && { isolation: { kind: "worktree", base: "head" } as const }),
	};
}

/** What the other side decides for itself is not among them. */
function travellingFields(
	spec: RunSpec,
	aliases: readonly string[],
): Omit<RunSpec, "cwd" | "runner" | "origins" | "warnings"> {
	const fields: Record<string, unknown> = {};
	for (const [name, schema] of Object.entries(specSchema().properties)) {
		const value = spec[name as keyof typeof spec];
		const how = travelOf(schema)?.how;
		if (value === undefined) continue;
		if (how === "travels") fields[name] = value;
		if (how === "moved") fields[name] = moved(value, aliases);
	}
	return fields as unknown as RunSpec;
}

/** Every text in it, with the paths of this machine replaced. */
function moved(value: unknown, aliases: readonly string[]): unknown {
	if (typeof value === "string") return travelling(value, aliases);
	if (Array.isArray(value)) return value.map((item) => moved(item, aliases));
	if (!isObject(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, moved(item, aliases)]));
}

function requireNames({ type }: RunSpec, field: string, lists: readonly unknown[]): void {
	const paths = lists.flatMap((list) => (Array.isArray(list) ? list.filter((each) => /[\\/]/.test(String(each))) : []));
	if (paths.length === 0) return;
	throw new AgentError(
		"unsupported",
		`Preset "${type}" names ${field} by path (${paths.join(", ")}), and these files are only on this machine. Name what is installed on the other one.`,
	);
}
