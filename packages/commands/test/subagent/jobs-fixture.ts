/** `/subagent jobs` for tests of those who have real schedules to put behind it. */
import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { jobsCommand } from "../../src/subagent/jobs.ts";
import type { CommandDeps } from "../../src/subcommand.ts";
import { text } from "../fixture.ts";

/** Types what follows `/subagent jobs`; what one reads then. */
export async function typeJobs(deps: Omit<CommandDeps, "host">, rest: string, ctx: object): Promise<string> {
	const { run } = jobsCommand({ ...deps, host: {} as never });
	return text(await run(rest, ctx as ExtensionCommandContext), 120);
}
