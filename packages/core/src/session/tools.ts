/** The tools that a session child can have: pi's own. */

const EVERYWHERE = ["read", "bash", "edit", "write", "grep", "find", "ls"];

export function sessionTools(platform: string = process.platform): string[] {
	return platform === "win32" ? [...EVERYWHERE, "powershell"] : [...EVERYWHERE];
}
