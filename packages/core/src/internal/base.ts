/** Internal: small helpers that our own packages share. Not part of the versioned interface. Loads without Node and pi. */
export { bestEffort, messageOf } from "../base/best-effort.ts";
export { countDown, sleep, wholeMs } from "../base/clock.ts";
export { clip, quoted } from "../base/error.ts";
export { codeOf, ifMissing, isMissing } from "../base/error-code.ts";
export { parseJson } from "../base/json.ts";
export { nameKey, normalName, visibleName } from "../base/names.ts";
export { Pacer } from "../base/pacer.ts";
export { isShortage, untilSpawned, whyNotStarted } from "../base/spawn-error.ts";
export { untilStopped, within } from "../base/timeouts.ts";
export { defined, isObject, once } from "../base/values.ts";
