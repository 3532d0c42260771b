/** `owner-<n>.json`, in pi's own directory: who watches a run. The highest n counts; taking over means creating the next. */

import { identitySchema } from "@pi-subagents/core/internal/signals";
import { maybeText, type Of, schema, time } from "@pi-subagents/progress/schema";
import { Type } from "typebox";

export type OwnerFile = Of<typeof ownerSchema>;

export const ownerSchema = schema(() =>
	Type.Union([
		Type.Object({ type: Type.Literal("owned"), at: time, sessionId: maybeText, ...identitySchema() }),
		Type.Object({ type: Type.Literal("released"), at: time }),
	]),
);
