/** Kept out of the other commands: few sessions write a report. */

import { once } from "@pi-subagents/core";

export const loadReport = once(() => import("@pi-subagents/report"));
