/** Kept out of the other commands: few sessions write a report or open the dashboard. */

import { once } from "@pi-subagents/core/internal/base";

export const loadReport = once(() => import("@pi-subagents/report"));
export const loadDashboard = once(() => import("@pi-subagents/report/dashboard"));
