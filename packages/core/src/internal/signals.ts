/** Internal: which process is which, and signals to it. Not part of the versioned interface. */

export {
	identityIn,
	identityOf,
	identitySchema,
	isAlive,
	isSame,
	ownIdentity,
	type ProcessIdentity,
} from "../signals/identity.ts";
export { RUN_MARK } from "../signals/mark.ts";
export {
	controlPath,
	processesDir,
	pruneProcesses,
	type RunPlace,
	RunProcesses,
	recordedRuns,
	type WrapperFile,
	wrapperSchema,
} from "../signals/run-processes.ts";
export {
	type EndSignal,
	isGroupLeft,
	killMarked,
	type Signalled,
	signalChild,
	signalChildGroup,
} from "../signals/signals.ts";
