/**
 * An MCP server over stdio with two tools: `reverse-text` and `add`. `node server.mjs <name> <log> [silent]` appends its
 * name to the log when it starts; a silent one never answers.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [name = "server", log, mode] = process.argv.slice(2);
if (log) appendFileSync(log, `${name}\n`);

const number = { type: "number" };
const tools = [
	{
		name: "reverse-text",
		description: "Reverses a text.",
		inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
		run: ({ text }) => [...String(text)].reverse().join(""),
	},
	{
		name: "add",
		description: "Adds two numbers.",
		inputSchema: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
		run: ({ a, b }) => String(a + b),
	},
];

const methods = {
	initialize: ({ protocolVersion }) => ({
		protocolVersion,
		capabilities: { tools: {} },
		serverInfo: { name, version: "1.0.0" },
	}),
	ping: () => ({}),
	"tools/list": () => ({ tools: tools.map(({ run: _, ...tool }) => tool) }),
	"tools/call": ({ name: wanted, arguments: given }) => ({
		content: [{ type: "text", text: tools.find((tool) => tool.name === wanted).run(given) }],
	}),
};

for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	if (mode === "silent" || id === undefined) continue;
	const answer = methods[method]
		? { result: methods[method](params ?? {}) }
		: { error: { code: -32601, message: `unknown method ${method}` } };
	process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
