/**
 * The MCP server over stdio. `node server.mjs <name> <log> [silent]` appends its
 * name to the log when it starts; a silent one never answers.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { answerTo } from "./answers.mjs";

const [name = "server", log, mode] = process.argv.slice(2);
if (log) appendFileSync(log, `${name}\n`);

for await (const line of createInterface({ input: process.stdin })) {
	const answer = mode === "silent" ? undefined : answerTo(name, JSON.parse(line));
	if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`);
}
