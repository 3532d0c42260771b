/** An MCP server with two tools, `reverse-text` and `add`, without its transport: one message in, its answer out. */

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

const methods = (name) => ({
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
});

/** Undefined for a notification, which has no answer. */
export function answerTo(name, { id, method, params }) {
	if (id === undefined) return undefined;
	const known = methods(name)[method];
	const answer = known
		? { result: known(params ?? {}) }
		: { error: { code: -32601, message: `unknown method ${method}` } };
	return { jsonrpc: "2.0", id, ...answer };
}
