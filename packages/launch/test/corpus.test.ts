/** Every generated agent file of another program can be launched, whatever providers the user has. */
import { resolveSpec } from "@pi-subagents/core";
import { parsePreset } from "@pi-subagents/presets";
import { expect, test } from "vitest";
import { corpus } from "../../presets/test/imports/corpus.ts";

const providers: Record<string, readonly string[]> = {
	anthropic: ["claude-haiku-4-5", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-opus-4-8"],
	copilot: ["claude-sonnet-4.5", "claude-opus-4.8", "gpt-3.5-turbo", "gpt-5-mini", "gpt-5"],
	router: ["anthropic/claude-sonnet-4", "anthropic/claude-sonnet-4.5", "openai/gpt-5", "openai/gpt-5-mini"],
	ollama: ["llama3:8b"],
};

test.each(Object.keys(providers))(
	"all files of the corpus launch with %s, those that name a model on one of that kind",
	(provider) => {
		const models = (providers[provider] ?? []).map((id) => ({ provider, id }));
		const session = { provider, id: models.at(-1)?.id ?? "" };
		for (const { path, text } of corpus({ nth: 5 })) {
			const source = { kind: "import", flavour: "claude", inProject: false } as const;
			const { preset } = parsePreset(text, { path: `/x/${path}`, source });
			if (preset === undefined) throw new Error(`not read: ${text}`);
			const spec = resolveSpec({
				request: { task: "Help." },
				preset,
				defaults: {},
				parent: { model: session },
				facts: {
					models,
					tools: ["read", "bash", "edit", "write", "grep", "find", "ls"].map((name) => ({ name, isActive: true })),
					cwd: { path: "/x", kind: "directory", isAsked: false },
					isProjectTrusted: false,
				},
			});
			const tier = /sonnet|opus|haiku/i.exec(preset.model ?? "")?.[0].toLowerCase();
			const hasTier = tier !== undefined && models.some(({ id }) => id.includes(tier));
			const isFallback = /gpt/.test(preset.model ?? "");
			if (hasTier && !isFallback) expect(spec.model, preset.model).toContain(tier);
			else if (!isFallback) expect(spec.model).toBe(`${provider}/${session.id}`);
			expect(spec.model).not.toContain("gpt-3.5");
		}
	},
);
