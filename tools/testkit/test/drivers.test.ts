/** Each driver against pi, in a full run against each pi there is, with the scripted server as its model. */
import { describe, expect, onTestFinished, test } from "vitest";
import {
	assistantTexts,
	type Bench,
	callTool,
	converse,
	createBench,
	fail,
	gatePis,
	hang,
	lastUserSays,
	runJson,
	runPrint,
	say,
	startRpc,
	startTui,
	when,
} from "../src/index.ts";

const rules = [
	converse(lastUserSays("read the note"), callTool("read", { path: "note.txt" }), ({ lastToolResults }) =>
		say(`The note says: ${lastToolResults[0]?.text}`),
	),
	when(lastUserSays("fail"), fail("no such luck")),
	when(lastUserSays("hang"), hang()),
	when(lastUserSays("separator"), say("one\u2028line")),
	when(lastUserSays("hello"), say("Hello from the model")),
];

const EXTENSION = `
	import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
	export default function (pi: ExtensionAPI): void {
		pi.registerCommand("ask", {
			handler: async (_args, ctx) => {
				const answer = await ctx.ui.confirm("Sure?", "Really");
				ctx.ui.notify(\`answered \${answer}\`, "info");
			},
		});
		pi.on("session_start", (_event, ctx) => ctx.ui.setWidget("w", ["a widget line"]));
	}
`;

async function bench(): Promise<Bench> {
	const created = await createBench({ rules, files: { "note.txt": "buy milk", "ext/ask.ts": EXTENSION } });
	onTestFinished(created.close);
	return created;
}

describe.each(await gatePis())("pi $version", (pi) => {
	test("print mode prints the answer", async () => {
		const { env } = await bench();
		expect(await runPrint({ env, pi }, "hello")).toEqual({
			stdout: "Hello from the model\n",
			stderr: "",
			code: 0,
			signal: null,
		});
	});

	test("print mode says that the model failed", async () => {
		const { env } = await bench();
		const { stdout, stderr, code } = await runPrint({ env, pi }, "fail");
		expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
		expect(stderr).toContain("no such luck");
	});

	test("a prompt may look like an option", async () => {
		const { env } = await bench();
		expect((await runPrint({ env, pi }, "--hello")).stdout).toBe("Hello from the model\n");
	});

	test("it is the version that it is said to be", async () => {
		const { env } = await bench();
		// Where the version goes differs between the versions, and so does whether it goes to stdout or stderr.
		const { stdout, stderr } = await runPrint({ env, pi, args: ["--version"] }, "");
		expect(`${stdout}${stderr}`.trim()).toBe(pi.version);
	});

	test("json mode gives the events of a tool call and its result", async () => {
		const { env } = await bench();
		const { events, stderr, code } = await runJson({ env, pi }, "read the note");
		expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
		expect(events[0]?.type).toBe("session");
		const calls = events.filter((event) => event.type === "tool_execution_start");
		expect(calls.map(({ toolName, args }) => ({ toolName, args }))).toEqual([
			{ toolName: "read", args: { path: "note.txt" } },
		]);
		expect(assistantTexts(events)).toEqual(["The note says: buy milk"]);
	});

	test("lines end at LF only", async () => {
		const { env } = await bench();
		expect(assistantTexts((await runJson({ env, pi }, "separator")).events)).toEqual(["one\u2028line"]);
	});

	test("rpc mode answers commands and runs prompts one after the other", async () => {
		const { env } = await bench();
		const rpc = startRpc({ env, pi });
		const state = await rpc.send({ type: "get_state" });
		expect(state).toMatchObject({ success: true, data: { model: { id: env.model } } });
		expect(assistantTexts(await rpc.prompt("hello"))).toEqual(["Hello from the model"]);
		expect(assistantTexts(await rpc.prompt("read the note"))).toEqual(["The note says: buy milk"]);
		expect(await rpc.close()).toEqual({ code: 0, signal: null });
	});

	test("rpc mode answers the dialogs of an extension", async () => {
		const { env } = await bench();
		const rpc = startRpc({ env, pi, extensions: ["ext/ask.ts"] });
		const accepted = rpc.send({ type: "prompt", message: "/ask" });
		const dialog = await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "confirm");
		if (dialog.type !== "extension_ui_request") throw new Error("not a dialog");
		rpc.answer({ type: "extension_ui_response", id: dialog.id, confirmed: true });
		await rpc.waitFor((event) => event.type === "extension_ui_request" && event.method === "notify");
		expect(await accepted).toMatchObject({ success: true });
		expect(rpc.events).toContainEqual(expect.objectContaining({ method: "notify", message: "answered true" }));
	});

	test("the terminal shows what is typed, what the model answers and what extensions draw", async () => {
		const { env } = await bench();
		const tui = await startTui({ env, pi, extensions: ["ext/ask.ts"] }, { cols: 80, rows: 24 });
		await tui.waitForText("a widget line");
		tui.type("hello");
		await tui.waitFor((screen) => screen.some((line) => line.includes("hello")));
		tui.press("enter");
		const screen = await tui.waitForText(/Hello from the model/);
		expect(screen).toHaveLength(24);
		expect(screen).toContain(" Hello from the model"); // without the blanks that pi writes after it
		expect(tui.scrollback()).toContain("Hello from the model");
		expect(tui.raw).toContain("\x1b[");
		tui.press("ctrl+d");
		expect(await tui.exit).toMatchObject({ exitCode: 0 });
	});

	test("escape in the terminal aborts the request", async () => {
		const { env, server } = await bench();
		const tui = await startTui({ env, pi });
		tui.submit("hang");
		await server.nextRequest();
		tui.press("escape");
		expect(await server.nextRequest((request) => request.aborted)).toMatchObject({ lastUserText: "hang" });
		await tui.waitForText("aborted");
	});

	test("a terminal that is resized gets redrawn", async () => {
		const { env } = await bench();
		const tui = await startTui({ env, pi }, { cols: 80, rows: 24 });
		const ruleOf = (screen: string[]) => Math.max(...screen.map((line) => (/^─+$/.test(line) ? line.length : 0)));
		expect(ruleOf(tui.screen())).toBe(80);
		tui.resize(60, 20);
		await tui.waitFor((screen) => ruleOf(screen) === 60);
		expect(tui.screen()).toHaveLength(20);
	});
});
