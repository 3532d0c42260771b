export { showOffers } from "./offers.ts";
export { offerAgentsKey, offerMentions } from "./register.ts";
