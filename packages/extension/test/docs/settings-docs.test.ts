import { fileURLToPath } from "node:url";
import { choicesOf, type Shape, settingsShape } from "@pi-subagents/launch";
import { settingsJsonSchema, settingsMarkdown } from "@pi-subagents-dev/docs";
import { expect, test } from "vitest";
import { readSettings } from "../../../launch/test/fixture.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Both are written anew by `vitest run test/docs/settings-docs.test.ts --update`.
test("docs/settings.md is what the schema says", async () => {
	await expect(settingsMarkdown()).toMatchFileSnapshot(file("../../../../docs/settings.md"));
});

test("settings.schema.json is what the schema says", async () => {
	await expect(settingsJsonSchema()).toMatchFileSnapshot(file("../../settings.schema.json"));
});

test("the example of the docs has no problem", () => {
	const example = /```json\n(.*?)```/s.exec(settingsMarkdown())?.[1] ?? "";
	expect(readSettings([{ path: "example", text: example }])).toMatchObject({
		settings: { maxConcurrent: 4, retention: { days: 30, megabytes: 500 } },
		problems: [],
	});
});

test("every setting, and every value to choose from, has words for docs and menus", () => {
	const check = (key: string, shape: Shape) => {
		expect(shape.title, key).toMatch(/^\w[^.`]{2,30}$/);
		expect(shape.description, key).toMatch(/^[A-Z].*\.$/);
		for (const option of choicesOf(shape)) expect(option.description, key).toMatch(/^\S.*[^.]$/);
		for (const [name, part] of Object.entries(shape.properties ?? {})) check(`${key}.${name}`, part);
	};
	for (const [key, shape] of Object.entries(settingsShape.properties ?? {})) check(key, shape);
});

test("editors let a file set only some keys, and complain about unknown ones", () => {
	const { properties, additionalProperties, required } = JSON.parse(settingsJsonSchema());
	expect([additionalProperties, required, properties.retention.required]).toEqual([false, undefined, undefined]);
	expect(Object.keys(properties)).toEqual(["$schema", ...Object.keys(settingsShape.properties ?? {})]);
});
