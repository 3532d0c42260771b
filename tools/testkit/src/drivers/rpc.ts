/** RPC mode: commands in, responses and events out, until closed. */
import type { RpcCommand, RpcExtensionUIResponse, RpcResponse } from "@earendil-works/pi-coding-agent";
import { Signal, type WaitOptions, whenImpatient } from "../wait.ts";
import { LineSplitter, type PiEvent, parseLine } from "./events.ts";
import { type ExitStatus, startProcess } from "./pi-process.ts";
import { commandOf, type PiTarget } from "./target.ts";

export interface WaitForEvent {
	readonly timeoutMs?: number;
	/** Only events from this index on, such as `rpc.events.length` before something was sent. */
	readonly from?: number;
}

export interface PiRpc extends AsyncDisposable {
	/** Of pi's process, which leads a group of its own. */
	readonly pid: number | undefined;
	/** All events so far; responses are not among them. */
	readonly events: readonly PiEvent[];
	readonly stderr: string;
	/** The response, whether pi accepted the command or not. For a prompt that is before the run. */
	send(command: RpcCommand): Promise<RpcResponse>;
	/** Sends a prompt and waits until the agent has settled; the events from the prompt on. */
	prompt(message: string): Promise<readonly PiEvent[]>;
	/** Answers a dialog of an extension. */
	answer(response: RpcExtensionUIResponse): void;
	/** The first event, already seen or still to come, for which the condition holds. */
	waitFor<T extends PiEvent>(condition: (event: PiEvent) => event is T, options?: WaitForEvent): Promise<T>;
	waitFor(condition: (event: PiEvent) => boolean, options?: WaitForEvent): Promise<PiEvent>;
	/** Closes pi's input, which ends it; kills it if that does not. */
	close(): Promise<ExitStatus>;
}

export function startRpc(target: PiTarget): PiRpc {
	const inbox = new RpcInbox();
	const pi = startProcess(target.env, commandOf(target, { mode: ["--mode", "rpc"] }), {
		stdin: "pipe",
		onStdout: (text) => inbox.receive(text),
	});
	pi.child.stdin?.on("error", () => {}); // pi is gone; waits fail through `closed`
	void pi.closed.then(({ code, signal }) => inbox.end(`pi has exited with ${signal ?? code}`));

	const waiting = (what: string, timeoutMs = target.timeoutMs): WaitOptions => ({
		...(timeoutMs === undefined ? {} : { timeoutMs }),
		describe: () => `${what}; events so far: ${typesOf(inbox.events)}\n--- stderr\n${pi.stderr}`,
	});
	const write = (message: object) => void pi.child.stdin?.write(`${JSON.stringify(message)}\n`);
	let sent = 0;
	const send = (command: RpcCommand) => {
		const id = command.id ?? `test-${++sent}`;
		write({ ...command, id });
		return inbox.response(id, waiting(`No response to ${JSON.stringify(command)}`));
	};
	const waitFor = (condition: (event: PiEvent) => boolean, options: WaitForEvent = {}) =>
		inbox.event(condition, { ...waiting("No such event", options.timeoutMs), from: options.from ?? 0 });
	const prompt = async (message: string) => {
		const from = inbox.events.length;
		const response = await send({ type: "prompt", message });
		if (!response.success) throw new Error(`pi refused the prompt: ${response.error}`);
		const settled = await waitFor((event) => event.type === "agent_settled", { from });
		return inbox.events.slice(from, inbox.events.indexOf(settled) + 1);
	};
	const close = async () => {
		pi.child.stdin?.end();
		const stopTimer = whenImpatient(() => void pi.end()); // tests look at how it ended
		const status = await pi.closed;
		stopTimer();
		return status;
	};
	return {
		pid: pi.child.pid,
		events: inbox.events,
		get stderr() {
			return pi.stderr;
		},
		send,
		prompt,
		answer: write,
		waitFor: waitFor as PiRpc["waitFor"],
		close,
		[Symbol.asyncDispose]: async () => void (await close()),
	};
}

/** Their types in order; a type that comes several times in a row is written once, with the number. */
function typesOf(events: readonly PiEvent[]): string {
	const runs: { type: string; count: number }[] = [];
	for (const { type } of events) {
		const last = runs.at(-1);
		if (last?.type === type) last.count++;
		else runs.push({ type, count: 1 });
	}
	return runs.map(({ type, count }) => (count === 1 ? type : `${type}×${count}`)).join(" ") || "(none)";
}

/** Sorts the output of pi in rpc mode: responses by the id of their command, and events in order. */
class RpcInbox {
	readonly events: PiEvent[] = [];
	readonly #responses = new Map<string, RpcResponse>();
	readonly #lines = new LineSplitter();
	readonly #signal = new Signal();

	receive(text: string): void {
		try {
			for (const line of this.#lines.push(text)) this.#sort(parseLine(line) as PiEvent | RpcResponse);
			this.#signal.changed();
		} catch (error) {
			this.#signal.end(String(error));
		}
	}

	response(id: string, options: WaitOptions): Promise<RpcResponse> {
		return this.#signal.waitFor(() => this.#responses.get(id), options);
	}

	event(condition: (event: PiEvent) => boolean, options: WaitOptions & { readonly from: number }): Promise<PiEvent> {
		return this.#signal.waitFor(() => this.events.slice(options.from).find(condition), options);
	}

	end(reason: string): void {
		this.#signal.end(reason);
	}

	#sort(message: PiEvent | RpcResponse): void {
		if (message.type === "response") this.#responses.set(message.id ?? "", message);
		else this.events.push(message);
	}
}
