/** The definition of a run, for everything that checks, stores or sends one. Needs `typebox`. */
export { agentIdentitySchema } from "./launch.ts";
export { specSchema } from "./spec.ts";
export { type Marked, type Travel, travelOf } from "./travel.ts";
