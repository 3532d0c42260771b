/** Presets that others register, beside the user's files; and the preset that stands in for one that is not there. */
import { parseDefinition } from "@pi-subagents/presets";
import { describe, expect, test } from "vitest";
import { createRuntimePresets } from "../src/runtime-presets.ts";
import { launching } from "./fixture.ts";

const role = (name: string, systemPrompt: string) => parseDefinition({ name, systemPrompt, tools: ["read"] });

describe("registered presets", () => {
	test("can be launched, below the user's files and above the built-in ones, until they are removed", async () => {
		const runtime = createRuntimePresets();
		const { resolve } = await launching({ lends: { registeredPresets: runtime.current } });
		await expect(resolve({ preset: "guest" })).rejects.toThrow('There is no preset "guest"');
		const remove = runtime.register({
			results: [role("guest", "Be a guest."), role("clerk", "Be a guest."), role("Explore", "Be a guest.")],
		});
		expect((await resolve({ preset: "guest" })).systemPrompt?.text).toBe("Be a guest.");
		expect((await resolve({ preset: "explore" })).systemPrompt?.text).toBe("Be a guest.");
		expect((await resolve({ preset: "clerk" })).systemPrompt?.text).toBe("Be tidy.");
		remove();
		await expect(resolve({ preset: "guest" })).rejects.toThrow('There is no preset "guest"');
	});

	test("that are exclusive leave only the built-in ones beside them", async () => {
		const runtime = createRuntimePresets();
		const { resolve } = await launching({ lends: { registeredPresets: runtime.current } });
		const remove = runtime.register({ results: [role("guest", "Be a guest.")], isExclusive: true });
		await expect(resolve({ preset: "clerk" })).rejects.toThrow(
			/There is no preset "clerk"\. .* Preset files are not used: another extension registered its presets/,
		);
		expect((await resolve({ preset: "Plan" })).type).toBe("Plan");
		remove();
		expect((await resolve({ preset: "clerk" })).type).toBe("clerk");
	});

	test("obey the user's settings", async () => {
		const runtime = createRuntimePresets();
		const settings = { agentOverrides: { guest: { disabled: true } } };
		const { resolve } = await launching({ settings, lends: { registeredPresets: runtime.current } });
		runtime.register({ results: [role("guest", "Be a guest.")] });
		await expect(resolve({ preset: "guest" })).rejects.toThrow("switched off");
	});
});

describe("the fallback", () => {
	test("is used with a note where the settings or the call name one, and never for a broken file", async () => {
		const set = await launching({ settings: { fallbackSubagent: "clerk" } });
		const { type, warnings } = await set.resolve({ preset: "nobody" });
		expect(type).toBe("clerk");
		expect(warnings).toEqual(['There is no preset "nobody": "clerk" is used instead (fallbackSubagent).']);
		await expect(set.resolve({ preset: "nobody", fallbackPreset: false })).rejects.toThrow("There is no preset");
		await expect(set.resolve({ preset: "nobody", fallbackPreset: "nowhere" })).rejects.toThrow(
			/"nobody".*"nowhere", does not exist either/,
		);
		const unset = await launching({});
		await expect(unset.resolve({ preset: "nobody" })).rejects.toThrow("There is no preset");
		expect((await unset.resolve({ preset: "nobody", fallbackPreset: "Plan" })).type).toBe("Plan");
		const broken = await launching({ fields: "toolz: read" });
		await expect(broken.resolve({ fallbackPreset: "Plan" })).rejects.toThrow('"clerk" cannot be used');
	});
});
