export { offerAgentsKey, offerMentions } from "./register.ts";
