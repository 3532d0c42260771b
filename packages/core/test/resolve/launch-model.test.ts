import { describe, expect, test } from "vitest";
import type { PresetFields } from "../../src/index.ts";
import { type Change, errorOf, facts, preset, resolve } from "./fixture.ts";

describe("who decides the model", () => {
	const layers = {
		request: { model: "small" },
		defaults: { override: { model: "fake/large" } },
		preset: { model: "fake/small" },
	};

	test("the call, then the settings, then the preset, then the default, then the parent", () => {
		const chosen = (change: Change) => {
			const { model, origins } = resolve(change);
			return [model, origins.model];
		};
		expect(chosen(layers)).toEqual(["fake/small", "call"]);
		expect(chosen({ ...layers, request: {} })).toEqual(["fake/large", "settings"]);
		expect(chosen({ preset: layers.preset, defaults: { model: "fake/large" } })).toEqual(["fake/small", "preset"]);
		expect(chosen({ defaults: { model: "fake/small" } })).toEqual(["fake/small", "default"]);
		expect(chosen({})).toEqual(["fake/large", "parent"]);
	});

	test("a launch that requires a model does not inherit for the subagents directories: call, preset, or an error", () => {
		const request = { requiresModel: true };
		expect(resolve({ request: { ...request, model: "fake/small" } }, preset).model).toBe("fake/small");
		expect(resolve({ request, preset: { model: "small" } }, preset).model).toBe("fake/small");
		expect(errorOf({ request }, preset)).toEqual({
			code: "no_model",
			message:
				'No model: the call gives none and preset "scout" has no default. Pass `model`, or add one to /project/.pi/subagents/scout.md (`inherit` takes the session\'s). Available: fake/small, fake/large.',
		});
		expect(errorOf({ request: { ...request, model: "  " } }, preset)).toMatchObject({ code: "no_model" });
		const elsewhere = { ...preset, source: { ...preset.source, flavour: "agents" } };
		expect(resolve({ request }, elsewhere).model).toBe("fake/large");
		expect(resolve({ request }, { ...preset, source: { ...preset.source, kind: "package" } }).model).toBe("fake/large");
	});

	test("every other launch inherits the session's; a session without one is an error that says so", () => {
		expect(resolve({}, preset)).toMatchObject({ model: "fake/large", origins: { model: "parent" } });
		expect(errorOf({ parent: { model: undefined } }, preset)).toEqual({
			code: "no_model",
			message:
				'No model: the session has none to inherit, and neither the call nor preset "scout" names one. Choose one with /model, or pass `model`. Available: fake/small, fake/large.',
		});
	});

	test("a blank one in the call is none", () => {
		const { model, origins } = resolve({ request: { model: " " }, preset: { model: "small" } }, preset);
		expect([model, origins.model]).toEqual(["fake/small", "preset"]);
	});

	test("inherit takes the session's, everywhere, also over a weaker layer", () => {
		expect(resolve({ preset: { model: "inherit" } }, preset)).toMatchObject({
			model: "fake/large",
			origins: { model: "parent" },
		});
		expect(resolve({ request: { model: "Inherit" }, preset: { model: "small" } })).toMatchObject({
			model: "fake/large",
		});
	});

	test("a locked field keeps the call out, and says so", () => {
		const spec = resolve({ request: { model: "small" }, preset: { model: "large", locked: ["model"] } });
		expect([spec.model, spec.warnings]).toEqual([
			"fake/large",
			['Preset "scout" locks `model`, so the call\'s value was not used.'],
		]);
	});

	test("a name that no model has is an error", () => {
		expect(errorOf({ request: { model: "huge" } })).toMatchObject({ code: "unknown_model" });
		expect(errorOf({ preset: { model: "fake" } })).toMatchObject({ code: "unknown_model" });
	});

	describe("a file that names one which is not here", () => {
		const imported = { kind: "import", flavour: "claude", inProject: false };
		test.each<[string, Partial<PresetFields>, string, string]>([
			[
				"takes the first of its list that is",
				{ fallbackModels: ["huge", "small"] },
				"fake/small",
				"fake/small is used.",
			],
			[
				"and is imported runs on the session's model",
				{ source: imported },
				"fake/large",
				"the session's model is used: fake/large.",
			],
		])("%s, and says so", (_what, change, model, said) => {
			const spec = resolve({ preset: { model: "sonnet", ...change } });
			expect(spec.model).toBe(model);
			expect(spec.warnings[0]).toBe(`Preset "scout" asks for the model "sonnet", which is not available here; ${said}`);
		});

		test.each([
			["claude-3-5-sonnet-20241022", "router/anthropic/claude-sonnet-4.5"],
			["anthropic/claude-sonnet-4-5-20250929", "router/anthropic/claude-sonnet-4.5"],
			["openai/small", "fake/small"],
		])("and is imported runs on the nearest of its tier: %s", (wanted, model) => {
			const models = [...facts.models, { provider: "router", id: "anthropic/claude-sonnet-4.5" }];
			const spec = resolve({ preset: { model: wanted, source: imported }, facts: { models } });
			expect(spec.model).toBe(model);
		});

		test("is an error otherwise, and so is a call or a setting that names it, whatever the file is", () => {
			expect(errorOf({ preset: { model: "sonnet" } })).toMatchObject({ code: "unknown_model" });
			expect(errorOf({ request: { model: "sonnet" }, preset: { source: imported } })).toMatchObject({
				code: "unknown_model",
			});
			expect(
				errorOf({ defaults: { override: { model: "sonnet" } }, preset: { source: imported, model: "small" } }),
			).toMatchObject({ code: "unknown_model" });
		});
	});

	test("outside the user's enabled models: a call is refused or warned, a file is warned", () => {
		const message = "Model fake/large is not among your enabled models (fake/small).";
		expect(errorOf({ request: { model: "large" }, defaults: { scope: "deny" } })).toEqual({
			code: "model_out_of_scope",
			message,
		});
		expect(resolve({ request: { model: "large" }, defaults: { scope: "warn" } }).warnings).toEqual([message]);
		expect(resolve({ preset: { model: "large" }, defaults: { scope: "deny" } }).warnings).toEqual([message]);
		expect(resolve({ request: { model: "large" } }).warnings).toEqual([]);
	});
});

describe("thinking", () => {
	test("comes with a model's name, unless the call says otherwise", () => {
		expect(resolve({ preset: { model: "small:high", thinking: "off" } })).toMatchObject({
			thinking: "high",
			origins: { thinking: "preset" },
		});
		expect(resolve({ request: { model: "small:high", thinking: "max" } })).toMatchObject({
			thinking: "max",
			origins: { thinking: "call" },
		});
		expect(resolve({ preset: { thinking: "minimal" } })).toMatchObject({
			thinking: "minimal",
			origins: { thinking: "preset" },
		});
	});
});
