import { fileURLToPath } from "node:url";
import { eventsMarkdown, rpcMarkdown } from "@pi-subagents-dev/docs";
import { expect, test } from "vitest";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Both are written anew by `vitest run test/docs/rpc-docs.test.ts --update`.
test("docs/events.md is what the table of events says", async () => {
	await expect(eventsMarkdown()).toMatchFileSnapshot(file("../../../../docs/events.md"));
});

test("docs/rpc.md is what the table of methods says", async () => {
	await expect(rpcMarkdown()).toMatchFileSnapshot(file("../../../../docs/rpc.md"));
});
