import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findField, parsePreset } from "@pi-subagents/presets";
import { foreignMarkdown } from "@pi-subagents-dev/docs";
import { expect, test } from "vitest";

const path = fileURLToPath(new URL("../../../../docs/migration.md", import.meta.url));
const guide = readFileSync(path, "utf8");

const namesIn = (text: string) => [...text.matchAll(/`([\w-]+)`/g)].map(([, name]) => name ?? "");

// Written anew by `vitest run test/docs/migration-docs.test.ts --update`.
test("the guide names the settings of other extensions that are read, and those that need not be", () => {
	const section = `<!-- settings -->\n${foreignMarkdown()}\n<!-- /settings -->`;
	const updated = guide.replace(/<!-- settings -->.*<!-- \/settings -->/s, () => section);
	if (expect.getState().snapshotState.snapshotUpdateState === "all") writeFileSync(path, updated);
	else expect(guide).toBe(updated);
});

test("the frontmatter that it calls understood is", () => {
	const rows = /\| understood \| as \|\n\|---\|---\|\n(.*?)\n\n/s.exec(guide)?.[1]?.split("\n") ?? [];
	expect(rows.length).toBeGreaterThan(5);
	for (const row of rows) {
		const [, theirs = "", ours = ""] = row.split("|");
		const meant = new Set(namesIn(ours).map((name) => findField(name)));
		expect(meant).not.toContain(undefined);
		for (const name of namesIn(theirs)) expect(meant, name).toContain(findField(name));
	}
});

test("the frontmatter that it calls without effect is reported as another tool's, and costs nothing", () => {
	const names = namesIn(/^Without effect.*$/m.exec(guide)?.[0] ?? "").filter(
		(name) => !["pi-presets", "retention"].includes(name),
	);
	expect(names.length).toBeGreaterThan(20);
	for (const name of names) {
		const text = `---\nname: scout\ndescription: Looks\n${name}: true\n---\nLook.\n`;
		const { preset, problems } = parsePreset(text, {
			path: "scout.md",
			source: { kind: "project", flavour: "agents", inProject: true },
		});
		expect(preset?.name).toBe("scout");
		expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("belongs to another tool")]);
	}
});
