/** Kept out of pi's start: most sessions have no jobs, and cron takes time to load. */

export const loadSchedule = () => import("@pi-subagents/schedule");
