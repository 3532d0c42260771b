/** The MCP server over HTTP, on a port of this machine. One that is locked wants a sign-in. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { answerTo } from "./answers.mjs";

export interface HttpServer extends AsyncDisposable {
	url: string;
}

export async function startHttpServer(name: string, { isLocked = false } = {}): Promise<HttpServer> {
	const server = createServer(async (request, response) => {
		if (isLocked) return response.writeHead(401, { "www-authenticate": "Bearer" }).end();
		if (request.method !== "POST") return response.writeHead(405).end(); // it never calls its client
		const answer = answerTo(name, JSON.parse(await text(request)));
		if (!answer) return response.writeHead(202).end();
		return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}/mcp`,
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
