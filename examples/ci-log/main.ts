/** Turns the JSON lines of pi into a CI log: one line for each thing done, the answer, what it cost, and an exit code. */
import {
	createDescriber,
	createLineSplitter,
	formatCost,
	formatCount,
	formatTokens,
	normalize,
	sanitizeBlock,
} from "@pi-subagents/progress";

const describe = createDescriber({
	phrases: { deploy: { call: "Deploying {service}", failed: "Deploy of {service} failed" } },
});
const total = { tools: 0, failed: 0, tokens: 0, cost: 0 };
let answer: string | undefined;
let failure: string | undefined;

const lines = createLineSplitter({
	onLine(text) {
		for (const event of normalize(parse(text))) {
			const line = describe(event);
			if (event.type === "tool_call") total.tools++;
			if (event.type === "tool_result" && event.isError) {
				total.failed++;
				console.log(`warning: ${line}`);
			} else if (event.type === "usage") {
				total.tokens += event.usage.input + event.usage.output;
				total.cost += event.usage.cost;
			} else if (event.type === "assistant_text" && event.stopReason === "stop") answer = event.text;
			else if (event.type === "assistant_text" && event.error !== undefined) failure = line;
			else if (line !== undefined && event.type !== "tool_result") console.log(line);
		}
	},
});
for await (const bytes of process.stdin) lines.push(bytes);
lines.end();

console.log(`\n${sanitizeBlock(answer ?? "")}\n`);
console.log(
	[
		`${formatCount(total.tools, "tool")}, ${total.failed} failed`,
		`${formatTokens(total.tokens)} tokens`,
		formatCost(total.cost),
	].join(" · "),
);
if (answer === undefined) {
	console.error(`error: ${failure ?? "the agent gave no answer"}`);
	process.exitCode = 1;
}

/** Whatever else a program prints between the events is none of them. */
function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
