/** GitHub bills requests made by a user; a child's requests are made by an agent. */
const PROVIDER = "github-copilot";
const HEADER = "X-Initiator";

/** Marks a request to this provider as an agent's; headers for others stay as they are. */
export function countAsAgent(provider: string | undefined, headers: Record<string, string | null>): void {
	if (provider !== PROVIDER) return;
	for (const name of Object.keys(headers)) if (name.toLowerCase() === HEADER.toLowerCase()) delete headers[name];
	headers[HEADER] = "agent";
}
