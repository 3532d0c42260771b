/** What almost every end-to-end test starts with: a scripted server and a pi environment that uses it. */
import { createPiEnv, type PiEnv, type PiEnvOptions } from "./pi/pi-env.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./server/model-server.ts";

export interface Bench extends AsyncDisposable {
	readonly server: ModelServer;
	readonly env: PiEnv;
	/** For vitest's `onTestFinished`: ends the pi processes, removes the files, closes the server. */
	close(): Promise<void>;
}

export async function createBench(options: ModelServerOptions & Omit<PiEnvOptions, "server">): Promise<Bench> {
	const server = await startModelServer(options);
	const env = await createPiEnv({ ...options, server });
	const close = async () => {
		await env.cleanup(); // first, or pi would report that its model is gone
		await server.close();
	};
	return { server, env, close, [Symbol.asyncDispose]: close };
}
