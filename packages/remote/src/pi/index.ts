export { type LazyRemoteOptions, lazyRemoteRunner } from "./runner.lazy.ts";
