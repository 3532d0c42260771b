import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { requireResources } from "../../../src/session/index.ts";
import { put, userWorld } from "../user-fixture.ts";

async function skilledWorld() {
	const world = await userWorld();
	await put(join(world.host.agentDir, "skills", "sew", "SKILL.md"), "---\nname: sew\ndescription: Sews.\n---\nSew.\n");
	const missing = (change: Partial<typeof world.spec>) =>
		requireResources(world.host, { ...world.spec, ...change }).then(
			() => undefined,
			({ code, message }) => ({ code, message }),
		);
	return { ...world, missing };
}

describe("before a launch", () => {
	test("a skill that is named and missing is an error that names those there are", async () => {
		await using world = await skilledWorld();
		expect(await world.missing({ skills: ["sew", "fly"] })).toEqual({
			code: "unsupported",
			message: 'The agent\'s preset asks for the skill "fly", but there is sew.',
		});
		expect(await world.missing({ skills: ["sew"] })).toBeUndefined();
	});

	test("so is an extension, and none is run to find that out", async () => {
		await using world = await skilledWorld();
		expect(await world.missing({ extensions: ["linter", "ghost"] })).toMatchObject({
			code: "unsupported",
			message: expect.stringContaining('the extension "ghost", but there is @acme/pi-bank, bank, linter.'),
		});
		expect(await world.missing({ extensions: ["linter"] })).toBeUndefined();
		expect(await world.logged()).toEqual([]);
	});

	test("what is not named cannot be missing", async () => {
		await using world = await skilledWorld();
		for (const each of [{}, { skills: true, extensions: true }, { skills: [], extensions: [] }, { skills: false }])
			expect(await world.missing(each)).toBeUndefined();
	});

	test("a skill may come from an extension, which only its run can tell", async () => {
		await using world = await skilledWorld();
		expect(await world.missing({ extensions: ["linter"], skills: ["fly"] })).toBeUndefined();
	});
});
