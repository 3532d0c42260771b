/** Saved workflows: which files count, and whose. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { dataFor } from "../src/session/agent-port.ts";
import { findSaved, type SavedPlaces, savedWorkflows, scriptAt } from "../src/session/saved.ts";

const script = (name: string) => `export const meta = { name: "${name}", description: "About ${name}" }\nreturn 1`;

async function places(files: Record<string, string>, change: Partial<SavedPlaces> = {}): Promise<SavedPlaces> {
	const temp = await createTempDir();
	onTestFinished(temp.remove);
	for (const [path, text] of Object.entries(files)) {
		await mkdir(dirname(join(temp.path, path)), { recursive: true });
		await writeFile(join(temp.path, path), text);
	}
	const manifests = [join(temp.path, "pack", "package.json")];
	return { cwd: join(temp.path, "project"), agentDir: join(temp.path, "agent"), trust: "yes", manifests, ...change };
}

const ALL = {
	"project/.pi/workflows/one.js": script("one"),
	"project/.agents/workflows/two.js": script("two"),
	"agent/workflows/one.js": script("One"),
	"agent/workflows/three.js": script("three"),
	"agent/workflows/broken.js": "return 1",
	"agent/workflows/notes.txt": "not a script",
	"pack/package.json": JSON.stringify({ pi: { subagents: { workflows: ["flows", "../agent"] } } }),
	"pack/flows/four.js": script("four"),
};

describe("saved workflows", () => {
	test("come from the project, the user and packages, and the nearest of a name counts", async () => {
		const { workflows, problems } = await savedWorkflows(await places(ALL));
		expect(workflows.map(({ name, from }) => [name, from])).toEqual([
			["one", "project"],
			["two", "project"],
			["three", "user"],
			["four", "package"],
		]);
		expect(problems.join("\n")).toMatch(
			/"\.\.\/agent", which is outside the package[\s\S]*broken\.js: line 1: Begin the script/,
		);
	});

	test.each(["no", "unasked"] as const)("of a project count only with stored trust: %s", async (trust) => {
		const given = await places(ALL, { trust });
		const { workflows, problems } = await savedWorkflows(given);
		expect(workflows.map(({ from }) => from)).not.toContain("project");
		expect(problems.join("\n")).toContain("only if you trust this project");
		await expect(findSaved("two", given)).rejects.toThrow('There is no workflow "two"');
		await expect(scriptAt(".pi/workflows/one.js", given)).rejects.toThrow("only if you trust it");
	});

	test("are found by name or file, in any case, and an unknown one lists the known", async () => {
		const given = await places(ALL);
		expect((await findSaved("ONE", given)).from).toBe("project");
		await expect(findSaved("thre", given)).rejects.toThrow('Did you mean "three"? Known: one, two, three, four.');
	});

	test("a path or a link that leads out of its place is refused", async () => {
		const given = await places(ALL);
		await symlink(join(given.agentDir, "workflows", "three.js"), join(given.cwd, ".pi", "workflows", "link.js"));
		const { problems } = await savedWorkflows(given);
		expect(problems.join("\n")).toContain("link.js: it is a link that leads elsewhere");
		await expect(scriptAt("../pack/flows/four.js", given)).rejects.toThrow("outside this project");
		await expect(scriptAt("none.js", given)).rejects.toThrow("There is no file");
		expect(await scriptAt(join(given.agentDir, "workflows", "three.js"), { ...given, trust: "no" })).toBe(
			script("three"),
		);
	});
});

test("a list that an earlier version kept inside an object reaches the script as a list", () => {
	const list = { type: "array" };
	expect(dataFor(list, { value: [1] })).toEqual([1]);
	expect(dataFor(list, [1])).toEqual([1]);
	expect(dataFor({ type: "object" }, { value: [1] })).toEqual({ value: [1] });
	expect(dataFor(undefined, { value: [1] })).toEqual({ value: [1] });
});
