/** Runs pi from its start to its end; once more with another model where pi does not even know the one it was given. */
import type { Clock } from "../../clock.ts";
import { withModel } from "../arguments.ts";
import { identityOf } from "../identity.ts";
import type { Meta, PiLaunch } from "../layout.ts";
import { exitError, Tail } from "./exit-error.ts";
import type { Journal } from "./journal.ts";
import { type PiExit, PiProcess } from "./pi-process.ts";
import { isDelta, type Rpc } from "./rpc.ts";

export interface RunPiOptions {
	dir: string;
	meta: Meta & { launch: PiLaunch };
	clock: Clock;
	journal: Journal;
	rpc: Rpc;
	onStart: (pi: PiProcess) => void;
	/** The model to take instead; undefined if there is none. */
	nextModel: (error: string) => string | undefined;
}

/** `why` is how it ended, in words. */
export async function runPi(options: RunPiOptions): Promise<{ exit: PiExit; why: string }> {
	const { meta, nextModel } = options;
	let { launch } = meta;
	for (;;) {
		const stderr = new Tail();
		const exit = await untilEnded(options, launch, stderr);
		const [unknown] = (exit.code === 1 && UNKNOWN_MODEL.exec(stderr.text)) || [];
		const model = unknown === undefined ? undefined : nextModel(unknown);
		if (model === undefined) return { exit, why: exitError(exit, meta, stderr.text) };
		launch = { ...launch, args: withModel(launch.args, model) };
	}
}

/** As pi says it, before it begins. One of a provider that it knows it tries all the same. */
const UNKNOWN_MODEL = /Model "[^"\n]*" not found/;

async function untilEnded(
	{ dir, meta, clock, journal, rpc, onStart }: RunPiOptions,
	launch: PiLaunch,
	stderr: Tail,
): Promise<PiExit> {
	const pi = new PiProcess({
		launch,
		cwd: meta.cwd,
		runDir: dir,
		clock,
		onLine: (line) => {
			if (isDelta(line)) return;
			journal.stdout(line);
			rpc.hear(line);
		},
		onSkipped: (bytes) => rpc.skip(bytes),
		onStderr: (bytes) => {
			journal.stderr(bytes);
			stderr.push(bytes);
		},
	});
	onStart(pi);
	if (pi.pid !== undefined) journal.say({ type: "child_started", ...(await identityOf(pi.pid)) });
	return pi.ended;
}
