/** docs/platforms.md names every file that uses something which differs between systems, and no file that does not exist. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const page = await readFile(join(root, "docs/platforms.md"), "utf8");
const packages = join(root, "packages");
const sources = (await Promise.all((await readdir(packages)).map(sourcesOf))).flat();

const texts = await Promise.all(
	sources.map(async (path) => ({ path, text: await readFile(join(packages, path), "utf8") })),
);
/** Below `packages`, and with slashes, as the page has them. */
async function sourcesOf(name: string): Promise<string[]> {
	const files = await readdir(join(packages, name, "src"), { recursive: true });
	return files.filter((file) => /\.tsx?$/.test(file)).map((file) => [name, "src", ...file.split(sep)].join("/"));
}

const sectionOf = (title: string) => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";

/** By section: what its files contain. Other things have the same names in some files. */
const USES: [string, RegExp, ...string[]][] = [
	["Signals", /SIG(TERM|KILL|INT|HUP)|process\.kill\(/],
	["Processes and their groups", /from "node:child_process"/],
	["Sockets", /from "node:(net|http)"|ControlPath/],
	["Which system it is", /process\.platform|: NodeJS\.Platform/],
	["Is it the same process?", /["'`]\/proc|\/dev\//],
	["Modes and users", /getuid|userInfo\(|chmod/],
	[
		"Links",
		/\b(sym)?link(Sync)?\(|readlink|O_NOFOLLOW/,
		...["runners/src/session/history/conversation.ts", "remote/src/near/remote-runner.ts", "widget/src/tree/tree.ts"],
	],
	["Renames over existing files", /\brename(Sync)?\(/],
	["Appending, and exclusive creation of files", /appendFile|O_APPEND|openSync\([^)]*"a\+?"|"wx"/],
	["Watching files", /import.*\bwatch\b.*from "node:fs"/],
	["Clocks", /performance\.(now|timeOrigin)|hrtime/],
];

describe("the page about systems", () => {
	test.each(USES)("%s: all files with such a use are named", (title, use, ...others) => {
		const found = texts.filter(({ text }) => use.test(text)).map(({ path }) => path);
		const missing = found.filter((path) => !others.includes(path) && !sectionOf(title).includes(`\`${path}\``));
		expect(found.length).toBeGreaterThan(2);
		expect(missing).toEqual([]);
	});

	test("and all of them exist", () => {
		const named = [...page.matchAll(/`([a-z]+\/src\/[\w./-]+\.tsx?)`/g)].map(([, path]) => path ?? "");
		expect(named.length).toBeGreaterThan(100);
		expect(named.filter((path) => !existsSync(join(packages, path)))).toEqual([]);
	});
});
