/** Tidies up at night, says hello in a second, and remembers both over restarts: the jobs are in files. */
import { fileJobStore, nextRuns, parseSchedule, Scheduler } from "@pi-subagents/schedule";

interface Work {
	say: string;
}

const scheduler = new Scheduler<Work>({
	store: fileJobStore("./jobs"),
	timeZone: "UTC",
	onDue(job) {
		console.log(`${job.name}: ${job.payload.say}`);
		greeted.resolve();
		return "said";
	},
});
const greeted = Promise.withResolvers<void>();
const alive = setInterval(() => undefined, 60_000); // a schedule alone keeps no process running

await scheduler.start();
if ((await scheduler.list()).length === 0) {
	await scheduler.add({ name: "tidy up", schedule: "30 3 * * *", payload: { say: "All clean." }, missed: "skip" });
}
await scheduler.add({ name: "greet", schedule: "+1s", payload: { say: "Hello." } });

const noon = Date.parse("2027-01-01T12:00:00Z");
const [next] = nextRuns(parseSchedule("30 3 * * *", { now: noon, timeZone: "UTC" }), noon, 1);
console.log(`On New Year's Day at noon, the next tidying up is at ${next?.toISOString()}`);

await greeted.promise;
await scheduler.stop();
clearInterval(alive);
for (const { name, runs, history } of await scheduler.list())
	console.log(`${name}: ${runs} runs ${history.at(-1)?.note ?? ""}`);
