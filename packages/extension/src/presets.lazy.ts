/** Kept out of pi's start: the YAML parser alone takes longer to load than all the rest of us. */

type Library = typeof import("@pi-subagents/presets");

let library: Promise<Library> | undefined;

/** Once for all: what a bundle makes of `import()` copies every export at every call. */
export const loadPresets = (): Promise<Library> => {
	library ??= import("@pi-subagents/presets");
	return library;
};
