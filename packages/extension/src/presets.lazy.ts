/** Kept out of pi's start: the YAML parser alone takes longer to load than all the rest of us. */

export const loadPresets = () => import("@pi-subagents/presets");
