/** Published extensions that guard pi, as `pi install` would put them on the disk, with the packages that they need. */
import { join } from "node:path";
import { installPackages, type PinnedPackage, workspaceCache } from "@pi-subagents-dev/testkit";

const PERMISSIONS: readonly PinnedPackage[] = [
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
		version: "4.4.3",
		integrity: "sha512-ytENFjIJFl2UwYglde2jchW2Hwm4GJFLDiSXWdTrJQBIN9Fcyp7n4DhxJEiWNAJMV1/BqWfW/kkg71UDcHJyTQ==",
	},
];

const PLAN_MODE: readonly PinnedPackage[] = [
	{
		name: "pi-plan-mode",
		version: "0.2.4",
		integrity: "sha512-ACzOeFDAyOMwSoRNdMP0CReguQ/VN3Qm7QunWf91FKHZHWG4Rty3Q1dC3CaXIera21g6dWFtggBN28ni69g9DQ==",
	},
];

const PROCESSES: readonly PinnedPackage[] = [
	{
		name: "@aliou/pi-processes",
		version: "0.12.0",
		integrity: "sha512-Xf/lWTQ15M0ZJKjZrbmuhWHnJtSD5h9lQKVNJpwqy4njZhlqRwMLyJ55j16tOUDEujbTPPmZpBecBJPuQJ9R9Q==",
	},
	{
		name: "@aliou/pi-utils-settings",
		version: "0.19.2",
		integrity: "sha512-eN8FrLTPvSqsuvHT3fuM3jNbPm974bcGUbp00BaM68BeW1qRmZBtfrOA/03fFeoF1jyIE1rkMWXywUo+pkpHIg==",
	},
	{
		name: "@aliou/pi-utils-ui",
		version: "0.5.0",
		integrity: "sha512-3yM9HicP8iY5cwW9dDNRDPIlpFaXfE7PZQ/ZAN3wWxK5W01GDFCwpg/+Y8gATHS/hwHHOBNlgbgcjvER7c0WTA==",
	},
	{
		name: "@aliou/sh",
		version: "0.2.2",
		integrity: "sha512-fHcGEFDzRSv+z2r+ysWw47NlhaYrU2FujwMviWtyaZ71bHDXz8FI9VcP3jEkL5b2Otx2fc/QahyouaY0xV96Mw==",
	},
];

/** The directory of the first package, with the others where it finds them. */
async function installed(name: string, packages: readonly PinnedPackage[]): Promise<string> {
	const dir = await installPackages(workspaceCache(name), packages);
	return join(dir, "node_modules", packages[0]?.name ?? "");
}

export const permissionSystem = () => installed("guard-permissions", PERMISSIONS);
export const planMode = () => installed("guard-plan-mode", PLAN_MODE);
export const backgroundBlocker = () => installed("guard-processes", PROCESSES);
