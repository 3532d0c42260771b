export { type HandClock, handClock } from "./clock.ts";
export {
	type ChildScript,
	type ConformanceCase,
	type CreateFixture,
	type RunnerFixture,
	runnerConformance,
} from "./conformance.ts";
export { type FakeRun, type FakeRunner, fakeRunner, sampleSpec } from "./fake-runner.ts";
