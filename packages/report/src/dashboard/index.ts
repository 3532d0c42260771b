/** The report of running agents, live in a browser on this machine. */
export type { DashboardClock, ReportSource } from "./readers.ts";
export { type Dashboard, type DashboardOptions, serveDashboard } from "./serve.ts";
