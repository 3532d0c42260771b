/** How to reach the engine of a fleet: its address, and files with secrets that only their owner may read. */
import { createHmac } from "node:crypto";
import { isIP } from "node:net";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { checkServerIdentity } from "node:tls";
import { codeOf, isMissing } from "@pi-subagents/core/internal/base";
import { openPlain } from "@pi-subagents/core/internal/files";
import { Refused } from "../link/link.ts";

/** As a user writes it in the settings, and as the worker gets it in its arguments. */
export interface FleetAccess {
	/** `nats://host:4222` or `tls://host:4222`. */
	nats: string;
	/** Names the user's part of the engine: the subjects and streams begin with it. Default: `main`. */
	fleet?: string;
	/** A file with the token that the engine wants. */
	tokenFile?: string;
	/** A file with the seed of an nkey that the engine knows. */
	nkeyFile?: string;
	/** A file with the key that seals messages, the same on both sides. Default: derived from the token. */
	keyFile?: string;
	/** A file with the certificate of the authority that signed the engine's. */
	caFile?: string;
}

export interface OpenedAccess {
	servers: string[];
	fleet: string;
	/** Both sides seal their messages with it. */
	key: Buffer;
	token?: string;
	seed?: string;
	/** Undefined only for an engine on this machine. */
	tls?: { ca?: string; checkServerIdentity: typeof checkServerIdentity };
}

const MAX_BYTES = 64 * 1024;
const MIN_SECRET = 16;

/** Throws `Refused` if something is wrong with it, and says what to do. */
export async function openAccess(access: FleetAccess): Promise<OpenedAccess> {
	const { nats, fleet = "main", tokenFile, nkeyFile, keyFile, caFile } = access;
	if (!/^[\w-]{1,32}$/.test(fleet))
		throw new Refused(`The fleet's name ${JSON.stringify(fleet)} may have letters, digits, "-" and "_", at most 32.`);
	const servers = nats.split(",").map((each) => serverOf(each.trim()));
	const [token, seed, key] = [
		tokenFile === undefined ? undefined : await readSecret(tokenFile, "the engine's token"),
		nkeyFile === undefined ? undefined : await readSecret(nkeyFile, "an nkey"),
		keyFile === undefined ? undefined : await readSecret(keyFile, "the fleet's key"),
	];
	const secret = key ?? token;
	if (secret === undefined)
		throw new Refused(
			"A fleet needs `tokenFile` or `keyFile`: without a secret that both sides have, anyone who reaches the engine could send orders.",
		);
	const isHere = servers.every(({ isLoopback }) => isLoopback);
	const ca = caFile === undefined ? undefined : await readNamed(caFile, "the certificate of an authority");
	const tls = { ...(ca !== undefined && { ca }), checkServerIdentity: identityOf(servers.map(({ host }) => host)) };
	return {
		servers: servers.map(({ url }) => url),
		fleet,
		// Never the secret itself, which may be the token that the engine gets.
		key: createHmac("sha256", secret).update("pi-subagents fleet").digest(),
		...(token !== undefined && { token }),
		...(seed !== undefined && { seed }),
		...((!isHere || ca !== undefined || nats.includes("tls://")) && { tls }),
	};
}

/** The address without its scheme. Away from this machine, TLS is required whatever the scheme says. */
function serverOf(address: string): { url: string; host: string; isLoopback: boolean } {
	const url = URL.canParse(address) ? new URL(address) : undefined;
	if (!url || !["nats:", "tls:"].includes(url.protocol) || url.hostname === "")
		throw new Refused(`${JSON.stringify(address)} is not an address of an engine, such as nats://127.0.0.1:4222.`);
	if (url.username !== "" || url.password !== "")
		throw new Refused("Put the engine's token in a file (`tokenFile`), not in its address.");
	const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
	const host = url.hostname.replace(/^\[|\]$/g, "");
	return { url: `${url.hostname}:${url.port || "4222"}`, host, isLoopback };
}

/** For an engine that is named by its IP address, the client would accept a certificate for "localhost" and no other. */
function identityOf(hosts: readonly string[]): typeof checkServerIdentity {
	return (name, certificate) => {
		if (hosts.includes(name)) return checkServerIdentity(name, certificate);
		const problems = hosts.filter((host) => isIP(host) > 0).map((host) => checkServerIdentity(host, certificate));
		return problems.includes(undefined) ? undefined : (problems[0] ?? checkServerIdentity(name, certificate));
	};
}

async function readSecret(given: string, what: string): Promise<string> {
	const secret = (await readNamed(given, what, { isSecret: true })).trim();
	if (secret.length >= MIN_SECRET) return secret;
	throw new Refused(`${expanded(given)} should hold ${what}, with at least ${MIN_SECRET} characters.`);
}

async function readNamed(given: string, what: string, { isSecret = false } = {}): Promise<string> {
	const path = expanded(given);
	const noSmallFile = () => new Refused(`${path} should hold ${what}, and is no small file.`);
	try {
		const file = await openPlain(path, { followsLinks: true });
		try {
			const { size, mode } = await file.stat();
			if (size > MAX_BYTES) throw noSmallFile();
			if (isSecret && process.platform !== "win32" && (mode & 0o077) !== 0)
				throw new Refused(`${path} holds ${what}, and others may read it. Run: chmod 600 ${path}`);
			const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
			return buffer.toString("utf8", 0, bytesRead);
		} finally {
			await file.close();
		}
	} catch (error) {
		if (isMissing(error)) throw new Refused(`${path} does not exist; it should hold ${what}.`);
		if (codeOf(error) === "EINVAL" || codeOf(error) === "ENXIO") throw noSmallFile();
		throw error;
	}
}

function expanded(path: string): string {
	const full = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
	if (!isAbsolute(full))
		throw new Refused(`Write ${JSON.stringify(path)} as a whole path, or one that begins with ~/.`);
	return full;
}
