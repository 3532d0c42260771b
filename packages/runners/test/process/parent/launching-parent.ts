/** A parent of its own: starts the run that its argument describes, says what it hears, and does not end by itself. */
import { processRunner } from "../../../src/process/index.ts";

const { options, spec, detaches } = JSON.parse(process.argv[2] ?? "{}");
const run = processRunner({ ...options, isProjectTrusted: () => false }).start(spec, (event) => {
	process.stdout.write(`${JSON.stringify(event)}\n`);
});
const alive = setInterval(() => undefined, 1e6);
if (detaches) {
	process.stdin.once("data", () => {
		run.detach?.();
		clearInterval(alive);
		process.stdin.destroy();
	});
}
