/** Which pis there are to test with, and what happens if the second cannot be fetched. */
import { expect, onTestFinished, test, vi } from "vitest";
import { availablePis, piUnderTest, secondPi } from "../src/index.ts";

const offline = () => Promise.reject(new Error("offline"));

test("the first pi is the one that the workspace depends on", async () => {
	expect((await availablePis())[0]).toEqual(piUnderTest());
	expect(piUnderTest()).toMatchObject({ version: "0.87.1", command: [process.execPath, expect.any(String)] });
});

test("a second pi that cannot be fetched is missed loudly", async () => {
	vi.stubEnv("CI", undefined);
	const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
	onTestFinished(() => {
		write.mockRestore();
		vi.unstubAllEnvs();
	});
	expect(await secondPi(offline)).toBeUndefined();
	expect(write).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("SKIPPING: pi 1.5.0 is not available"));
});

test("in CI it is an error", async () => {
	vi.stubEnv("CI", "true");
	onTestFinished(() => void vi.unstubAllEnvs());
	await expect(secondPi(offline)).rejects.toThrow("offline");
});
