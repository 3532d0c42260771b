/** Files as nobody would write them, for the fuzz test and the benchmark. */
import { fields } from "../../src/index.ts";
import { preset } from "../support.ts";

/** Small, fast and repeatable. */
export function random(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}

const words = [
	"read",
	"grep",
	"*",
	"all",
	"none",
	"true",
	"false",
	"null",
	"~",
	"0",
	"-1",
	"1e999",
	"90s",
	"5m",
	"999d",
	"0x1f",
	"worktree",
	"project",
	"__proto__",
	"constructor",
	"../../x",
	"Agent(a, b)",
	"Bash(git:*)",
	"ext:a/b",
	"[",
	"]",
	"{",
	"}",
	": ",
	" #",
	"- ",
	"? ",
	"&a ",
	"*a ",
	"!t ",
	"!!binary ",
	"|\n",
	">\n",
	"\t",
	"'",
	'"',
	"\\",
	"\u0000",
	"\u001b[31m",
	"\u202e",
	"\ufeff",
	"\r",
	"\n",
	"\n  ",
	"\n---\n",
	"\n...\n",
	"%YAML 1.1\n",
	"<<: ",
	"😀",
	"\ud800",
	"é",
	", ",
	"@",
	"`",
	"=",
	";",
];
const hostile = [
	(n: number) => "[".repeat(n),
	(n: number) => "- ".repeat(n),
	(n: number) => "{a: ".repeat(n),
	(n: number) => "a: ".repeat(n),
	(n: number) => "]".repeat(n),
	(n: number) => "x: &a [*a, *a]\n".repeat(n),
	(n: number) => "!a ".repeat(n),
	(n: number) => `"${"\\n".repeat(n)}`,
	(n: number) => " ".repeat(n),
	(n: number) => "\t".repeat(n),
	(n: number) => "tools: *, \n".repeat(n),
	(n: number) => "description: a: b\n".repeat(n),
	(n: number) => "(,".repeat(n),
	(n: number) => "\u001b]".repeat(n),
	(n: number) => "---\n".repeat(n),
];

/** One file: valid, broken by an edit, made of pieces, or made to be slow. */
export function generate(next: () => number): string {
	const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
	const pieces = (max: number) => Array.from({ length: Math.floor(next() * max) }, () => pick(words)).join("");
	const line = () => `${next() < 0.8 ? pick(fields).name : pieces(3)}${next() < 0.9 ? ": " : ":"}${pieces(5)}`;
	const valid = preset(`p${Math.floor(next() * 1000)}`, "tools: read, grep\nmax_turns: 3\nthinking: low\n");
	switch (Math.floor(next() * 4)) {
		case 0:
			return valid;
		case 1: {
			const at = Math.floor(next() * valid.length);
			return valid.slice(0, at) + pieces(4) + valid.slice(at + Math.floor(next() * 5));
		}
		case 2:
			return `---\n${Array.from({ length: Math.floor(next() * 12) }, line).join("\n")}\n---\n${pieces(20)}`;
		default:
			return `---\nname: x\n${pick(["", "x: ", "description: ", "tools: "])}${pick(hostile)(Math.floor(next() * 4000))}${pick(["", "\n---\n", "b"])}`;
	}
}
