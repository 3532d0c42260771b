/** Extensions that are evaluated once more in the same process, as an agent needs them. */
import { createServer } from "node:net";
import { join } from "node:path";
import { createTempDir } from "@pi-subagents-dev/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { contained } from "../../src/extensions/contained.ts";
import { importFresh } from "../../src/extensions/fresh-import.ts";
import { put } from "../session/user-fixture.ts";

async function tempDir(): Promise<string> {
	const dir = await createTempDir("fresh-");
	onTestFinished(() => dir.remove());
	return dir.path;
}

/** ES modules that import CommonJS modules, which re-export and require each other, as `css-what` and `simple-git` do. */
async function mixedPackages(dir: string): Promise<string> {
	const at = (...path: string[]) => join(dir, "node_modules", ...path);
	await put(at("select", "package.json"), '{ "name": "select", "type": "module", "main": "index.js" }');
	await put(
		at("select", "index.js"),
		'import whole, { parse, Kind, count } from "what";\nexport const select = () => [parse(), Kind.Element, whole.Kind === Kind, count];',
	);
	await put(at("what", "package.json"), '{ "name": "what", "main": "index.js" }');
	await put(
		at("what", "index.js"),
		`var star = (m) => { for (var p in m) if (p !== "default") exports[p] = m[p]; };
Object.defineProperty(exports, "__esModule", { value: true });
star(require("./types"));
exports.count = (globalThis.whatCount = (globalThis.whatCount ?? 0) + 1);
var parse_1 = require("./parse");
Object.defineProperty(exports, "parse", { enumerable: true, get: function () { return parse_1.parse; } });
__exportStar(require("./types"), exports);
function __exportStar(m) { star(m); }
`,
	);
	await put(
		at("what", "types.js"),
		'Object.defineProperty(exports, "__esModule", { value: true });\nvar Kind;\n(function (Kind) { Kind["Element"] = "element"; })(Kind || (exports.Kind = Kind = {}));',
	);
	await put(
		at("what", "parse.js"),
		'var types_1 = require("./types");\nvar table = new Map([[1, types_1.Kind.Element]]);\nexports.parse = () => table.get(1);',
	);
	return put(
		join(dir, "index.ts"),
		'import { select } from "select";\nexport default (pi: any) => pi.found(select());\n',
	);
}

test("packages in which ES modules import CommonJS modules load again, each time with modules of their own", async () => {
	const path = await mixedPackages(await tempDir());
	const seen: unknown[][] = [];
	for (let count = 0; count < 3; count++) {
		const factory = await importFresh(path);
		await factory({ found: (value: unknown[]) => seen.push(value) } as never);
	}
	const first = Number(seen[0]?.[3]);
	expect(seen).toEqual([first, first + 1, first + 2].map((count) => ["element", "element", true, count]));
});

describe("what an extension throws where nobody waits for it", () => {
	const cases: [string, string][] = [
		["in a timer", 'setTimeout(() => { throw new Error("late trouble"); }, 0);'],
		["in the next tick", 'process.nextTick(() => { throw new Error("late trouble"); });'],
		["in a microtask", 'queueMicrotask(() => { throw new Error("late trouble"); });'],
		["in a promise", 'void Promise.reject(new Error("late trouble"));'],
	];
	test.each(cases)("%s refuses the extension and ends nothing", async (_where, code) => {
		without("unhandledRejection"); // pi has no such listener
		const path = await put(join(await tempDir(), "gate.ts"), `${code}\nexport default () => undefined;\n`);
		await expect(importFresh(path)).rejects.toThrow("late trouble");
		expect(process.hasUncaughtExceptionCaptureCallback()).toBe(false);
	});

	test("in an event of a program that it starts", async () => {
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, resolve));
		onTestFinished(() => void server.close());
		const address = server.address();
		const port = typeof address === "object" ? address?.port : undefined;
		const listens = () => void createServer().listen(port);
		await expect(contained("/nowhere/", listens)).rejects.toThrow("EADDRINUSE");
	});

	test("of someone else reaches those who listen for it", async () => {
		const heard: string[] = [];
		without("uncaughtException");
		process.on("uncaughtException", ({ message }) => heard.push(message));
		const { promise: foreign, resolve: told } = Promise.withResolvers<void>();
		const { promise: go, resolve: start } = Promise.withResolvers<void>();
		void go.then(() =>
			setImmediate(() => {
				setImmediate(told);
				throw new Error("not the extension's");
			}),
		);
		await contained("/nowhere/", async () => {
			start();
			await foreign;
		});
		expect(heard).toEqual(["not the extension's"]);
	});
});

/** Takes the test runner's listeners away until the test has ended. */
function without(event: "uncaughtException" | "unhandledRejection"): void {
	const emitter: NodeJS.EventEmitter = process;
	const others = emitter.rawListeners(event) as (() => void)[];
	emitter.removeAllListeners(event);
	onTestFinished(() => {
		emitter.removeAllListeners(event);
		for (const each of others) emitter.on(event, each);
	});
}

test("a file of the extension is read again", async () => {
	const path = await put(join(await tempDir(), "gate.ts"), "export default () => 1;\n");
	expect(await (await importFresh(path))({} as never)).toBe(1);
	await put(path, "export default () => 2;\n");
	expect(await (await importFresh(path))({} as never)).toBe(2);
});
