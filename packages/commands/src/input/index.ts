export { offerMentions } from "./register.ts";
