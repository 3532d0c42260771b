export { type Clock, systemClock } from "./clock.ts";
export { describeSchedule } from "./describe.ts";
export { type FileStoreOptions, fileJobStore } from "./file-store.ts";
export { type Job, JobError, type JobRun, type JobSpec, type Missed, NotBegun, type Overlap } from "./job.ts";
export { apply as applyEntry, type Entry as JobEntry, type StoredJob } from "./ledger.ts";
export { nextRuns, type ParseOptions, parseSchedule, type Schedule, ScheduleError } from "./schedule.ts";
export { type JobPatch, Scheduler, type SchedulerOptions } from "./scheduler.ts";
export { type JobStore, memoryJobStore, type Recorded } from "./store.ts";
