/** Tools that are there are used quietly; those that are not are missed loudly. */
import { expect, onTestFinished, test, vi } from "vitest";
import { requireTool } from "../src/index.ts";

test("a tool on the path is there", () => {
	expect(requireTool("node")).toBe(true);
});

test("a missing tool is reported on stderr", () => {
	const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
	onTestFinished(() => void write.mockRestore());
	expect(requireTool("no-such-tool")).toBe(false);
	expect(write).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("SKIPPING: no-such-tool is not installed"));
});

test("a missing tool that is required is an error", () => {
	vi.stubEnv("REQUIRE_TOOLS", "tmux, no-such-tool");
	onTestFinished(() => void vi.unstubAllEnvs());
	expect(() => requireTool("no-such-tool")).toThrow("REQUIRE_TOOLS names no-such-tool");
});
