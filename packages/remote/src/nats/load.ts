/** Loads the NATS packages when a fleet is first used: users without a fleet neither load nor install them. */
import { fileURLToPath, pathToFileURL } from "node:url";
import { requireOwnBuild } from "@pi-subagents/core/internal/files";
import { commandText } from "@pi-subagents/core/shell";
import { Refused } from "../link/link.ts";

export type NatsPackages = typeof import("./packages.ts");

/** `bundled`: a file that has them all, beside the worker's program. */
export async function loadNats(bundled?: string): Promise<NatsPackages> {
	if (bundled !== undefined) return import(pathToFileURL(requireOwnBuild(bundled, import.meta.url)).href);
	try {
		const [transport, jetstream, objects] = await Promise.all([
			import("@nats-io/transport-node"),
			import("@nats-io/jetstream"),
			import("@nats-io/obj"),
		]);
		return { ...transport, ...jetstream, ...objects };
	} catch (error) {
		throw missing(error, fileURLToPath(import.meta.url));
	}
}

/** What to install, and where this file would find it. */
export function missing(error: unknown, file: string): unknown {
	const code = error instanceof Error && "code" in error ? error.code : undefined;
	if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return error;
	const [root = "."] = file.split(/[\\/]node_modules[\\/]/);
	const command = installation(root === file ? undefined : commandText([root]));
	return new Refused(`A fleet needs three packages that are not installed. Run: ${command}`);
}

/** What to type, with the directory as a word of a shell. */
export function installation(prefix: string | undefined): string {
	const where = prefix === undefined ? "" : ` --prefix ${prefix}`;
	return `npm install${where} @nats-io/transport-node@3 @nats-io/jetstream@3 @nats-io/obj@3`;
}
