export { busEvents, eventsMarkdown, type FieldDoc, type FieldDocs } from "./events-docs.ts";
export { agentInfo, rpcMarkdown } from "./rpc-docs.ts";
export { foreignMarkdown, settingsJsonSchema, settingsMarkdown } from "./settings-docs.ts";
