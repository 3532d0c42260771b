/** What others may rely on changes only where a reviewer sees it: `docs/api` holds the public interface of every entry. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageNames, root, run } from "../../support/packages/packed.ts";

test("docs/api is what the packages declare; `npm run api` writes it anew", async () => {
	await expect(run(process.execPath, ["scripts/api.mjs"], { cwd: root })).resolves.toBe("");
});

test("every public entry of every package has its page, and none is empty", () => {
	const entries = packageNames.flatMap((name) => {
		const { exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
		const paths = Object.keys(exports).filter((path) => path !== "./package.json" && !path.startsWith("./internal"));
		return paths.map((path) => `${[name, ...path.split("/").slice(1)].join("-")}.api.md`);
	});
	expect(readdirSync(join(root, "docs/api")).sort()).toEqual(entries.sort());
	for (const file of entries) expect(readFileSync(join(root, "docs/api", file), "utf8")).toMatch(/^export /m);
});
