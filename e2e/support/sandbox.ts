/** The sandbox of docs/sandboxes.md with real bubblewrap: the recipe as the page has it, and the way to the model. */
import { writeFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./packages/packed.ts";
import type { Scene } from "./scene.ts";

const page = await readFile(fileURLToPath(new URL("../../docs/sandboxes.md", import.meta.url)), "utf8");
const workspace = fileURLToPath(new URL("../../", import.meta.url));
/** With what the page says to add where Node and pi lie in a place that the recipe hides, as in a clone below /tmp. */
const recipe = (/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "").replace('"--tmpfs", "{agentDir}",', (hidden) =>
	workspace.startsWith("/tmp/") ? `${hidden} "--ro-bind", "${workspace}", "${workspace}",` : hidden,
);
const forwarder = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? "";

export interface Sandbox {
	/** The settings with it, as the page has them. */
	recipe: string;
	/** Writes the recipe, or another text, as the user's settings. */
	settle(text?: string): void;
	close(): void;
}

/** Makes the launcher `offline` of this scene's user, the socket that leads to the model, and the repository that it needs. */
export async function offerSandbox({ env, server }: Scene): Promise<Sandbox> {
	const { home, agentDir, cwd } = env;
	await run("git", ["init", "--quiet"], { cwd });
	const modelPort = new URL(server.baseUrl).port;
	await mkdir(join(home, ".pi"), { recursive: true });
	await writeFile(join(home, ".pi/forward.mjs"), forwarder);
	const bridge = await listening(
		createServer((near) => {
			const far = connect(Number(modelPort), "127.0.0.1");
			near.pipe(far).pipe(near);
			near.on("error", () => far.destroy());
			far.on("error", () => near.destroy());
		}),
		join(home, ".pi/model.sock"),
	);
	const own = recipe.replace("11434", modelPort);
	const settle = (text = own) => writeFileSync(join(agentDir, "subagents.json"), text);
	settle();
	return { recipe: own, settle, close: () => void bridge.close() };
}

export function listening(server: Server, where: number | string): Promise<Server> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		const done = () => resolve(server);
		if (typeof where === "string") server.listen(where, done);
		else server.listen(where, "127.0.0.1", done);
	});
}
