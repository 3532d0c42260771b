/**
 * The wrapper's end of the socket on which it gets its environment, where that of its own start is not its parent's. One
 * line: an object of variables. The socket then stays open for as long as both sides live.
 */
import { connect, type Socket } from "node:net";
import { Type } from "typebox";
import { Check } from "typebox/value";
import { parseJson } from "../read.ts";

const environmentSchema = Type.Record(Type.String(), Type.String());

/** Replaces the environment of this process. Rejects if nobody is there to give one: then nobody waits for the run. */
export async function takeEnvironment(path: string): Promise<Socket> {
	const socket = connect(path);
	const env = parseJson(await firstLine(socket));
	if (!Check(environmentSchema, env)) throw new Error(`${path} gave no environment`);
	for (const name of Object.keys(process.env)) delete process.env[name];
	Object.assign(process.env, env);
	return socket;
}

/** Leaves the socket flowing, so that its end is seen. */
function firstLine(socket: Socket): Promise<string> {
	const { promise, resolve, reject } = Promise.withResolvers<string>();
	let text = "";
	socket.setEncoding("utf8").on("data", (piece: string) => {
		text += piece;
		if (text.endsWith("\n")) resolve(text);
	});
	socket.on("error", reject);
	socket.once("close", () => reject(new Error("whoever started this run is gone")));
	return promise;
}
