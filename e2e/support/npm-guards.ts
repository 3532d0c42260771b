/** Extensions from npm that guard pi, as their users install them. */
import { join } from "node:path";
import { installPackages, type PinnedPackage, workspaceCache } from "@pi-subagents-dev/testkit";

const PERMISSION_SYSTEM: readonly [PinnedPackage, ...PinnedPackage[]] = [
	{
		name: "@gotgenes/pi-permission-system",
		version: "20.7.3",
		integrity: "sha512-zlcEFUUH31laLNTMrEVMhg6wfIEMKE42RWSTBInRh8V/W79SmvIg+TYY/YJm/Whc+KIpHpu8GS6qxSZs977p1g==",
	},
	{
		name: "tree-sitter-bash",
		version: "0.25.1",
		integrity: "sha512-7hMytuYIMoXOq24yRulgIxthE9YmggZIOHCyPTTuJcu6EU54tYD+4G39cUb28kxC6jMf/AbPfWGLQtgPTdh3xw==",
	},
	{
		name: "web-tree-sitter",
		version: "0.26.9",
		integrity: "sha512-YJwSHANl6XFgeEjB8nitgj0qZYt5gkIesJ4w2srS2wcLB4GUa4xcOkM0YaMsU6WNR53YVIkDSY7Ej4pf3IXtCA==",
	},
	{
		name: "zod",
		version: "4.6.7",
		integrity: "sha512-g8W2D2kU6a8untc053fX1uVBKzM7yqAxW/3zwk83+6RyF2+SKOuV+c0wBDhUwzV1PaGapmZH+rmcUzPf+3CGwg==",
	},
];

/** The directory of its package. Undefined if npm cannot fetch it, which is an error in CI. */
export async function permissionSystem(): Promise<string | undefined> {
	const [{ name, version }] = PERMISSION_SYSTEM;
	try {
		return join(await installPackages(workspaceCache("permission-system"), PERMISSION_SYSTEM), "node_modules", name);
	} catch (error) {
		if (process.env.CI) throw error;
		process.stderr.write(`\nSKIPPING: ${name} ${version} is not available: ${String(error)}\n`);
		return undefined;
	}
}

/** Its settings, below pi's directory. */
export const permissionFiles = (permission: Record<string, unknown>): Record<string, string> => ({
	"extensions/pi-permission-system/config.json": JSON.stringify({ permission }),
});
