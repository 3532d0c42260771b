/** What becomes of each thing that needs handles when there are none: a failure that is told, and nothing that ends pi. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const FEW = 64;
const PARENT = fileURLToPath(new URL("./handles-parent.ts", import.meta.url));

test.skipIf(process.platform === "win32")(
	"what cannot be started without handles fails with a clear error",
	async () => {
		const node = [process.execPath, "--conditions=@pi-subagents/source", "--no-warnings", PARENT];
		const { stdout } = await promisify(execFile)("sh", ["-c", `ulimit -n ${FEW}; exec "$@"`, "sh", ...node]);
		const why = (program: string) =>
			`spawn ${program} EMFILE: this process has too many files and connections open. Wait until agents have ended, or raise \`ulimit -n\``;
		expect(JSON.parse(stdout)).toEqual({
			identity: { without: process.platform === "linux" ? null : expect.anything(), later: "string" },
			wrapper: `Error: The agent's process could not be started: ${why(process.execPath)}`,
			pi: why(process.execPath),
			git: `GitNotStarted: git could not be started: ${why("git")}`,
			tryGit: true,
			tmux: `Error: tmux could not be started: ${why("tmux")}`,
			answer: { problem: expect.stringContaining("EMFILE") },
			files: [],
			tie: expect.stringMatching(/EMFILE|closed/),
			afterwards: "it worked",
		});
	},
);
