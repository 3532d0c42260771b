/**
 * The extension of ours through which a child process loads its guards, so that they hold there as in a session: pi
 * would go on where one fails. It comes first: what it refuses, nothing after it sees.
 *
 * It stays TypeScript: only pi's loader gives it pi's modules.
 */
import { existsSync } from "node:fs";
import type { ExtensionAPI, ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { guardedApi } from "../../extensions/guarded-api.ts";
import { lendImport } from "../../extensions/lent-import.ts";
import { noticeMessage } from "../pi/tunnel.ts";
import { dismissEarlyDialogs } from "./early-dialogs.ts";
import { type GuardFile, readGuards } from "./guard-wish.ts";

export default async function guardsEntry(pi: ExtensionAPI): Promise<void> {
	dismissEarlyDialogs(pi);
	for (const guard of readGuards(process.env)) {
		const run = await load(guard);
		await run(
			guardedApi(pi, guard, {
				fail: (why, { ui }) => ui.notify(noticeMessage({ failed: why })),
				sharesProviders: false,
			}),
		);
	}
}

/** An error ends pi before the child has begun. */
async function load({ name, path }: GuardFile): Promise<ExtensionFactory> {
	try {
		return await (await lendImport())(path);
	} catch (error) {
		const said = error instanceof Error ? error.message : String(error);
		const why = existsSync(path)
			? said
			: "its file is not there; a launcher must show it to the agent, see docs/sandboxes.md";
		throw new Error(`${name} guards agents and could not be loaded (${path}: ${why}), so the agent was not launched.`);
	}
}
