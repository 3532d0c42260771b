/**
 * Connects a wrapper in a window to this process: a socket on which it gets its environment, sends its result, and
 * which shows each side that the other is gone.
 *
 * A window has the tmux server's environment, not ours, and ours contains the user's API keys. As arguments to tmux
 * they would be readable by everyone on the machine, and for as long as the server lives if they start one; tmux's own
 * variables would pass them to other windows; a file would leave them on disk, forever if we died then. On a socket in
 * a private directory they are only in the two processes.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "@pi-subagents/core";
import { bestEffort } from "@pi-subagents/core/internal/base";
import { hearLastLine } from "@pi-subagents/core/internal/files";

export interface EnvSocket {
	/** The socket's path. It can be used once. */
	readonly path: string;
	/** Resolves when the wrapper has its environment. */
	readonly taken: Promise<"taken">;
	/** Resolves when the wrapper or the connection is gone, with the last line that the wrapper sent. */
	readonly ended: Promise<string | undefined>;
	close(): void;
}

/** Socket paths are limited to about a hundred bytes. */
const MAX_DIR_BYTES = 70;

export async function offerEnvSocket(
	env: Readonly<Record<string, string | undefined>>,
	report: Report,
): Promise<EnvSocket> {
	const parent = Buffer.byteLength(tmpdir()) > MAX_DIR_BYTES ? "/tmp" : tmpdir();
	const dir = await mkdtemp(join(parent, "pi-subagents-")); // private to the user
	const path = join(dir, "tie");
	const taken = Promise.withResolvers<"taken">();
	const ended = Promise.withResolvers<string | undefined>();
	const server = createServer();
	let held: Socket | undefined;
	const withdraw = () => {
		server.close();
		void bestEffort("removing a socket", report, () => rm(dir, { recursive: true, force: true }));
	};
	server.once("connection", (socket) => {
		held = socket;
		withdraw();
		socket.unref(); // only the manager keeps our process alive
		socket.on("error", ignore); // `close` follows
		const said = hearLastLine(socket);
		socket.once("close", () => ended.resolve(said()));
		socket.write(`${JSON.stringify(env)}\n`, (error) => error ?? taken.resolve("taken"));
	});
	try {
		server.listen(path);
		await once(server, "listening");
	} catch (error) {
		withdraw();
		throw error;
	}
	// Without free handles a connection is refused and reported here. The wrapper is gone then, which its waiter sees.
	server.on("error", (error) => report(`A window could not be reached: ${error.message}`));
	server.unref();
	return {
		path,
		taken: taken.promise,
		ended: ended.promise,
		close() {
			if (held) held.destroy();
			else withdraw();
		},
	};
}

const ignore = (): void => undefined;
