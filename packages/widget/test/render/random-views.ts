/** Random families of agents, the same for the same seed: any size, any shape, any text. */
import type { AgentView, ViewStatus } from "../../src/index.ts";
import { NOW } from "../scenes.ts";

const STATUSES: readonly ViewStatus[] = ["queued", "running", "waiting", "completed", "failed", "aborted"];
const TEXTS = [
	"plain words",
	"",
	"調査員が設定ファイルを読む",
	"👩‍👩‍👧‍👦 family 👍🏽 🇩🇪🇯🇵🇩",
	"עברית ועربية mixed \u202eoverride\u202c \u2066isolate\u2069",
	"\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J \x9b31m \x1b[",
	"tab\tnew\nline\r\nand \u2028 more\u0000\u0007\u007f\u0085",
	"e\u0301\u0301\u0301 Z͑ͫ̓ͪ̂ͫ̽a͛ͫ̏ͪl̑g̓o \u200d\u200d\u200b\ufeff",
	"हिन्दी क्षेत्र ภาษาไทยน้ำ ລາວຳ ｱｲｳｶﾞ ﷽",
	"\ud83d lone \udc4d surrogates \ud800",
	"x".repeat(10_000),
	"漢".repeat(5_000),
	"👨‍👩‍👧‍👦".repeat(400),
	"\x1b[38;5;1m".repeat(1_200),
];

/** mulberry32 */
function random(seed: number): () => number {
	let state = seed | 0;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

export function randomViews(seed: number, most: number): AgentView[] {
	const next = random(seed);
	const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
	const maybe = <T>(value: T): T | undefined => (next() < 0.6 ? value : undefined);
	const count = Math.floor(next() ** 2 * (most + 1));
	const isFlat = next() < 0.3;
	const depths = new Map<string, number>();
	return Array.from({ length: count }, (_, at) => {
		const id = next() < 0.02 ? pick(TEXTS) || `${at}` : `agent-${at}`;
		const above = isFlat || at === 0 || next() < 0.2 ? undefined : `agent-${Math.floor(next() * at)}`;
		const isTooDeep = (depths.get(above ?? "") ?? 0) >= 12;
		const parentAgentId = next() < 0.02 ? "nobody" : isTooDeep ? undefined : above;
		depths.set(id, (depths.get(parentAgentId ?? "") ?? 0) + 1);
		return { ...randomView(id, pick(STATUSES), { next, pick, maybe }), parentAgentId };
	});
}

interface Dice {
	next: () => number;
	pick: <T>(list: readonly T[]) => T;
	maybe: <T>(value: T) => T | undefined;
}

function randomView(id: string, status: ViewStatus, { next, pick, maybe }: Dice): AgentView {
	const startedAt = maybe(NOW - Math.floor(next() * 10_000_000));
	const settled = status === "completed" || status === "failed" || status === "aborted";
	return {
		id,
		status,
		type: maybe(pick(TEXTS)),
		description: maybe(pick(TEXTS)),
		model: maybe(`some/${pick(TEXTS)}`),
		activity: maybe(pick(TEXTS)),
		question: maybe(pick(TEXTS)),
		error: maybe(pick(TEXTS)),
		startedAt,
		completedAt: settled ? maybe(NOW) : undefined,
		lastEventAt: maybe(NOW - Math.floor(next() * 1_000_000)),
		turns: maybe(Math.floor(next() * 100)),
		maxTurns: maybe(100),
		toolUses: maybe(Math.floor(next() * 1e6)),
		usage: maybe({ input: next() * 1e7, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 }),
		contextPercent: maybe(next() * 100),
		outcome: status === "aborted" ? maybe({ status, by: "budget", reason: pick(TEXTS) }) : undefined,
		memory: maybe({ pending: [{ tool: pick(TEXTS) }] }),
	};
}
