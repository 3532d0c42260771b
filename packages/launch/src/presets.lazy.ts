/** Kept out of pi's start: the YAML parser alone takes longer to load than the rest of the extension. */

import { once } from "@pi-subagents/core/internal/base";

/** Once for all: what a bundle makes of `import()` copies every export at every call. */
export const loadPresets = once(() => import("@pi-subagents/presets"));
