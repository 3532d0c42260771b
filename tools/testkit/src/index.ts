/** The test bench: scripted models, an isolated pi, and drivers for each of its modes. */
export { type Bench, createBench } from "./bench.ts";
export { faintTexts } from "./drivers/contrast.ts";
export { assistantTexts, type PiEvent } from "./drivers/events.ts";
export type { Key } from "./drivers/keys.ts";
export type { ExitStatus } from "./drivers/pi-process.ts";
export { type FilmOptions, film, type Mark, type PictureOptions, picture } from "./drivers/picture.ts";
export { type JsonResult, type PrintResult, pipeToPrint, runJson, runPrint } from "./drivers/print.ts";
export { type Frame, replay } from "./drivers/replay.ts";
export { type PiRpc, startRpc, type WaitForEvent } from "./drivers/rpc.ts";
export type { WaitForScreen } from "./drivers/screen.ts";
export type { PiTarget } from "./drivers/target.ts";
export { startTerminal, type Terminal, type TerminalExit, type TerminalOptions } from "./drivers/terminal.ts";
export { startTui, type TuiOptions } from "./drivers/tui.ts";
export { type FauxModel, type FauxModelOptions, fauxModel } from "./faux/faux-model.ts";
export { gateCases, isFullRun } from "./full-run.ts";
export { onceInRun } from "./once-in-run.ts";
export { installPackages, type PinnedPackage } from "./pi/install-packages.ts";
export { type PiBinary, piUnderTest } from "./pi/pi-binary.ts";
export { createPiEnv, FAKE_PROVIDER, type FakeModelDefinition, type PiEnv, type PiEnvOptions } from "./pi/pi-env.ts";
export { availablePis, gatePis, secondPi } from "./pi/second-pi.ts";
export { requireTool } from "./require-tool.ts";
export {
	callTool,
	callTools,
	cutOff,
	type Fault,
	fail,
	garbage,
	hang,
	httpError,
	type Reply,
	type ReplyOptions,
	type ReplyUsage,
	rateLimited,
	say,
	type ToolCallReply,
} from "./script/reply.ts";
export {
	describeRequest,
	type MessageView,
	type RequestView,
	type ToolCallView,
	type ToolResultView,
	type ToolView,
} from "./script/request.ts";
export {
	all,
	converse,
	lastUserSays,
	modelIs,
	offersTool,
	once,
	onTurn,
	otherwise,
	type ReplySource,
	type RequestPredicate,
	type Rule,
	systemPromptSays,
	toolReturned,
	when,
} from "./script/rules.ts";
export {
	type ModelServer,
	type ModelServerOptions,
	type ServedRequest,
	startModelServer,
} from "./server/model-server.ts";
export { putStrange, STRANGE_KINDS, type StrangeFile, type StrangeKind } from "./strange-files.ts";
export { createTempDir, type TempDir } from "./temp-dir.ts";
export { createGate, type Gate, patienceMs, slowdown, until } from "./wait.ts";
export { workspaceCache } from "./workspace-cache.ts";
