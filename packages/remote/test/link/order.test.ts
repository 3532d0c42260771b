import { posix, win32 } from "node:path";
import { sampleSpec } from "@pi-subagents/core/testing";
import { describe, expect, test } from "vitest";
import { insideOf } from "../../src/git/near-repository.ts";
import { buildOrder, parseOrder, WORKSPACE } from "../../src/link/order.ts";

const spec = { ...sampleSpec, agentId: "a1", run: 1 };
const facts = { key: "a1-00ff", isTrusted: false, aliases: ["/home/ann/project"] };
const commit = "a".repeat(40);
const repository = { commit, blob: `work-${commit}`, base: { commit, blob: `base-${commit}` }, inside: "sub" };

describe("an order", () => {
	test("has no path of this machine, and only the fields that a worker needs", () => {
		const order = buildOrder(
			{
				...spec,
				cwd: "/home/ann/project",
				task: "Read /home/ann/project/notes.md and ~/x.",
				systemPrompt: { mode: "append", text: "Stay in /home/ann/project, not in /home/ann/project-2." },
				runsDir: "/home/ann/project/.pi/subagents/runs",
				presetSource: "/home/ann/.pi/agent/agents/scout.md",
				confinedTo: { root: "/home/ann/x", origin: "/home/ann/x", watches: [] },
				warnings: ["/home/ann/.pi is odd"],
				artifacts: "/home/ann/project/.pi/subagents/runs/a1",
				...{ addedLater: "/home/ann/secret" },
			},
			{ ...facts, repository },
		);
		const text = JSON.stringify(order);
		expect(order.spec.task).toBe(`Read ${WORKSPACE}/notes.md and ~/x.`);
		expect(order.spec.systemPrompt?.text).toBe(`Stay in ${WORKSPACE}, not in /home/ann/project-2.`);
		expect(text.replace("/home/ann/project-2", "")).not.toContain("/home/ann");
		expect(parseOrder(JSON.parse(text))).toEqual(order);
	});

	test.each([
		["a skill by path", { skills: ["/home/ann/skills/x.md"] }, "names skills by path"],
		["an extension by path", { extensions: ["./ext/mine.ts"] }, "names extensions by path"],
		["notes", { memory: "user" as const }, "notes stay on this machine"],
	])("that needs %s is refused here", (_name, more, why) => {
		expect(() => buildOrder({ ...spec, ...more }, facts)).toThrow(why);
	});

	const good = JSON.parse(JSON.stringify(buildOrder({ ...spec, cwd: "/home/ann/project" }, { ...facts, repository })));
	test.each([
		["nothing", undefined],
		["a key that leads elsewhere", { ...good, key: "../../etc" }],
		["another format", { ...good, format: 2 }],
		["a directory of the worker's machine", { ...good, spec: { ...good.spec, cwd: "/etc" } }],
		["a place for the run's files", { ...good, spec: { ...good.spec, runsDir: "/etc" } }],
		["a place for notes", { ...good, spec: { ...good.spec, memoryDir: "/etc" } }],
		[
			"a confinement of its own",
			{ ...good, spec: { ...good.spec, confinedTo: { root: "/", origin: "/", watches: [] } } },
		],
		["a commit that is an option", { ...good, repository: { ...repository, commit: "--upload-pack=x" } }],
		["a blob that leads elsewhere", { ...good, repository: { ...repository, blob: "../x" } }],
		["a directory outside the repository", { ...good, repository: { ...repository, inside: "../.." } }],
		["no model", { ...good, spec: { ...good.spec, model: undefined } }],
	])("that is forged with %s is not understood", (_name, forged) => {
		expect(parseOrder(good)).toEqual(good);
		expect(parseOrder(forged)).toBeUndefined();
	});
});

test("where an agent works in the repository is written with slashes on every system", () => {
	expect(insideOf("C:\\code\\app", "C:\\code\\app\\sub\\dir", win32)).toBe("sub/dir");
	expect(insideOf("/code/app", "/code/app/sub/dir", posix)).toBe("sub/dir");
	expect(insideOf("/code/app", "/code/app", posix)).toBe("");
});
