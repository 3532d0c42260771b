export { nextRuns, type ParseOptions, parseSchedule, type Schedule, ScheduleError } from "./schedule.ts";
