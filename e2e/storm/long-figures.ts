/** What the samples of a long run say: how much each finished agent leaves behind, early and late. Pure. */
import type { Sample } from "./long-watch.ts";

/** Of one half of a run. */
export interface HalfFigures {
	agents: number;
	/** What the heap grew by for each finished agent, pi's own share included. */
	heapPerAgent: number;
	/** Of that, what the session's entries would take as text. */
	sessionPerAgent: number;
	mostDescriptors: number;
	mostResources: number;
	listeners: number;
	mostTimers: number;
	frames: number;
	/** The median of the samples, each a median of its own. */
	frameMs: number;
}

/** The first sample was taken before any agent, the second when everything was warm: growth counts from there. */
export function halvesOf([, ...samples]: readonly Sample[]): [early: HalfFigures, late: HalfFigures] {
	const middle = samples.length >> 1;
	return [figuresOf(samples.slice(0, middle + 1)), figuresOf(samples.slice(middle))];
}

/** From the first of the samples to the last. */
export function figuresOf(samples: readonly Sample[]): HalfFigures {
	const [first, last] = [samples[0], samples.at(-1)];
	if (!first || !last || first === last) throw new Error("There are too few samples to compare.");
	const since = samples.slice(1);
	const agents = last.agents - first.agents;
	const most = (value: (sample: Sample) => number) => Math.max(...since.map(value));
	return {
		agents,
		heapPerAgent: (last.heapMegabytes - first.heapMegabytes) / agents,
		sessionPerAgent: (last.session.megabytes - first.session.megabytes) / agents,
		mostDescriptors: most(({ descriptors }) => descriptors ?? 0),
		mostResources: most(({ resources }) => Object.values(resources).reduce((sum, count) => sum + count, 0)),
		listeners: last.listeners,
		mostTimers: most(({ timers }) => timers),
		frames: since.reduce((sum, { frames }) => sum + frames.count, 0),
		frameMs: median(since.map(({ frames }) => frames.medianMs)),
	};
}

function median(values: readonly number[]): number {
	return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}
