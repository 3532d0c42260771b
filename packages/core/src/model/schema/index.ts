/** The definition of a run, for everything that checks, stores or sends one: spec, launch, events, questions. Needs `typebox`. */
export { lifeCycleSchemas } from "./events.ts";
export { agentIdentitySchema } from "./launch.ts";
export { givenSchema, limitsSchema, specSchema } from "./spec.ts";
export { type Travel, travelOf } from "./travel.ts";
