/** ARCHITECTURE names the files on the path of a call and of an event. Each must exist, and follow from the one before. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../support/packages/packed.ts";

interface Row {
	number: number;
	path: string;
	/** Row numbers, or `pi`. */
	callers: number[];
	/** The type that the file implements, where its caller does not import it. */
	port: string | undefined;
	/** The file that passes this one to its caller, where nothing else connects them. */
	wiring: string | undefined;
}

const architecture = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const read = (path: string) => readFileSync(join(root, "packages", path), "utf8");

function rowsOf(title: string): Row[] {
	const section = architecture.split(/^## /m).find((text) => text.startsWith(title)) ?? "";
	return [...section.matchAll(/^\| (\d+) \| `([^`]+)` \| ([^|]+) \|/gm)].map(([, number, path = "", by = ""]) => ({
		number: Number(number),
		path,
		callers: [...by.matchAll(/\b\d+\b/g)].map(Number),
		port: /as `(\w+)`/.exec(by)?.[1],
		wiring: /wired in `([^`]+)`/.exec(by)?.[1],
	}));
}

/** What a file declares and exports. */
function declaredIn(path: string): string[] {
	const exported = /^export (?:async |abstract )*(?:class|const|function|interface|type) (\w+)/gm;
	return [...read(path).matchAll(exported)].map(([, name = ""]) => name);
}

/** Whether a file imports something that the other one declares: directly, or through the entry of its package. */
function imports(path: string, other: string): boolean {
	const statements = read(path).matchAll(/^(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"([^"]+)";/gm);
	return [...statements].some(([, list = "", target = ""]) => {
		if (target.startsWith(".")) return resolve("/", dirname(path), target) === resolve("/", other);
		const names = list.split(",").map(
			(name) =>
				name
					.trim()
					.replace(/^type /, "")
					.split(" as ")[0] ?? "",
		);
		return (
			target.startsWith(`@pi-subagents/${other.split("/")[0]}`) &&
			declaredIn(other).some((name) => names.includes(name))
		);
	});
}

describe.each(["The path of a call", "The path of an event"])("%s", (title) => {
	const rows = rowsOf(title);

	test("is numbered from one", () => {
		expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
		expect(rows.length).toBeGreaterThan(4);
	});

	test.each(rows)("$number: $path follows from row $callers", ({ path, callers, port, wiring }) => {
		expect(existsSync(join(root, "packages", path)), "exists").toBe(true);
		for (const number of callers) {
			const caller = rows.find((row) => row.number === number)?.path ?? "";
			const isConnected = wiring
				? [caller, path].every((file) => imports(wiring, file))
				: port
					? [caller, path].every((file) => names(file, port))
					: imports(caller, path);
			expect(isConnected, `${caller} → ${path} ${port ?? wiring ?? ""}`).toBe(true);
		}
	});
});

function names(path: string, word: string): boolean {
	return new RegExp(`\\b${word}\\b`).test(read(path));
}

test("every package has a row", () => {
	const table = /^\| package \|.*?(?=\n\n)/ms.exec(architecture)?.[0] ?? "";
	const named = [...table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(
		([, cell = ""]) => cell.match(/\w+/g) ?? [],
	);
	expect(named.sort()).toEqual(readdirSync(join(root, "packages")).sort());
});

test("every path that ARCHITECTURE and CONTRIBUTING name exists", () => {
	const texts = [architecture, readFileSync(join(root, "CONTRIBUTING.md"), "utf8")];
	const paths = texts.flatMap((text) => [...text.matchAll(/`((?:\w+\/)(?:src|test)(?:\/[\w.-]+)*)`/g)]);
	const missing = paths
		.map(([, path = ""]) => path)
		.filter((path) => ![join(root, "packages", path), join(root, path)].some(existsSync));
	expect(missing).toEqual([]);
});
