/**
 * What ties a wrapper in a window to this process: a socket, on which it gets its environment, says its result, and which
 * tells each side that the other is gone.
 *
 * A window has the environment of the tmux server, not ours, and ours holds the keys of the user's providers. Given to
 * tmux as arguments, they could be read by everybody on the machine, and those that start a server stay readable for as
 * long as it lives; tmux's own variables would hand them to windows of others; in a file they would lie on the disk, for
 * ever if we died at that moment. On a socket in a directory of ours they are nowhere but in the two processes.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bestEffort, type Report } from "../best-effort.ts";
import { hearLastLine } from "../process/last-line.ts";

export interface Tie {
	/** Of the socket. It can be used once. */
	readonly path: string;
	/** Resolves when the wrapper has its environment. */
	readonly taken: Promise<"taken">;
	/** Resolves when the wrapper, or the tie, is gone, with the last line that the wrapper said on it. */
	readonly ended: Promise<string | undefined>;
	isHeld(): boolean;
	close(): void;
}

/** Sockets have short paths, about a hundred bytes with the name. */
const MAX_DIR_BYTES = 70;

export async function offerTie(env: Readonly<Record<string, string | undefined>>, report: Report): Promise<Tie> {
	const parent = Buffer.byteLength(tmpdir()) > MAX_DIR_BYTES ? "/tmp" : tmpdir();
	const dir = await mkdtemp(join(parent, "pi-subagents-")); // nobody else may enter it
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
		socket.unref(); // only the manager decides whether our process goes on
		socket.on("error", ignore); // what follows it says enough
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
	server.unref();
	return {
		path,
		taken: taken.promise,
		ended: ended.promise,
		isHeld: () => held !== undefined && !held.destroyed,
		close() {
			if (held) held.destroy();
			else withdraw();
		},
	};
}

const ignore = (): void => undefined;
