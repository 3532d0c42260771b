export type { SessionHost } from "./open.ts";
export { sessionRunner } from "./runner.ts";
export { sessionTools } from "./tools.ts";
