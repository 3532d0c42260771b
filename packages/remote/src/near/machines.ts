/** The machines that the user defined, and one link to each, made when it is first needed. */
import { lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { AgentError, type Clock, type Report, systemClock } from "@pi-subagents/core";
import { quoted } from "@pi-subagents/core/internal/base";
import type { Link } from "../link/link.ts";
import { NatsLink } from "../nats/near-link.ts";
import { StdioLink } from "../stdio/near.ts";
import { builtWorker, VERSION } from "../version.ts";

/** How to reach a machine. */
export interface Machine {
	/** Where ssh connects to: `host`, `user@host`, or a name from the user's ssh configuration. */
	ssh?: string;
	/** More options for ssh, as separate words. */
	sshOptions?: readonly string[];
	/** The worker's program there. Default: `pi-subagents-worker`, found on the PATH. */
	worker?: string;
	/** Instead of `ssh`, a fleet: the address of its NATS engine, `nats://host:4222` or `tls://host:4222`. */
	nats?: string;
	/** Names the user's part of the engine. Default: `main`. */
	fleet?: string;
	/** Files with secrets: the engine's token, the seed of an nkey, the key that both sides seal messages with. */
	tokenFile?: string;
	nkeyFile?: string;
	keyFile?: string;
	/** The certificate of the authority that signed the engine's certificate. */
	caFile?: string;
	/** Only workers that have all these labels. */
	labels?: readonly string[];
}

export interface MachinesOptions {
	/** pi's directory on this machine. */
	agentDir: string;
	/** How the worker on this machine starts pi. Default: `pi`. */
	pi?: { command: string; args: readonly string[] };
	/** Its program, if that is not beside this code, and its environment, if that is not ours. */
	worker?: string;
	env?: Readonly<Record<string, string | undefined>>;
	/** More variables for that worker, as they are now. Another value means another worker. */
	variables?: () => Readonly<Record<string, string>>;
	clock?: Clock;
	report?: Report;
}

export interface Machines {
	linkTo(name: string): Link | undefined;
	/** Ends all connections. */
	close(): void;
}

/** The machine that is always there: a worker on this one, over a pipe. */
const LOCAL = "local";

export function createMachines(machines: () => Readonly<Record<string, Machine>>, options: MachinesOptions): Machines {
	const links = new Map<string, { made: string; link: ClosableLink }>();
	return {
		linkTo(name) {
			const defined = Object.hasOwn(machines(), name) ? machines()[name] : undefined;
			const addresses = [defined?.ssh, defined?.nats].filter((address) => address !== undefined);
			// One without an address must not mean this machine.
			if (name !== LOCAL && addresses.length === 0) return undefined;
			if (addresses.length > 1)
				throw new AgentError("bad_request", `Machine ${quoted(name)} has both \`ssh\` and \`nats\`. Keep one.`);
			const made = JSON.stringify([defined ?? {}, name === LOCAL ? options.variables?.() : undefined]);
			const known = links.get(name);
			if (known?.made === made) return known.link; // a changed definition gets a new connection
			const link = linkFor(name, defined ?? {}, options);
			links.set(name, { made, link });
			return link;
		},
		close() {
			for (const { link } of links.values()) link.close();
			links.clear();
		},
	};
}

type ClosableLink = Link & { close(): void };

function linkFor(name: string, machine: Machine, options: MachinesOptions): ClosableLink {
	const { clock = systemClock, report = () => undefined, agentDir, pi, env } = options;
	const { nats, labels = [], ...access } = machine;
	if (nats !== undefined) return new NatsLink({ name, access: { ...access, nats }, labels, clock, report });
	const common = { name, version: VERSION, clock, report };
	if (machine.ssh !== undefined) return new StdioLink({ ...common, ...sshCommand(machine.ssh, machine) });
	const words = pi ? [pi.command, ...pi.args].flatMap((word) => ["--pi", word]) : [];
	const args = [options.worker ?? builtWorker(), "--stdio", "--agent-dir", agentDir, ...words];
	const variables = { ...(env ?? process.env), ...asScript(), ...options.variables?.() };
	return new StdioLink({ ...common, command: process.execPath, args, env: variables });
}

/** A compiled JavaScript program runs scripts only with this variable. */
function asScript(): Record<string, string> {
	return /^(?:node|bun)(?:\.exe)?$/i.test(basename(process.execPath)) ? {} : { BUN_BE_BUN: "1" };
}

/**
 * The system's ssh, without a terminal and without questions. Connections of one user share one login for a minute.
 * The command line of the other machine has only words from the user's own settings.
 */
function sshCommand(target: string, { sshOptions = [], worker = "pi-subagents-worker" }: Machine) {
	const dir = socketDir();
	const options = {
		BatchMode: "yes",
		...(dir !== undefined && { ControlMaster: "auto", ControlPath: join(dir, "%C"), ControlPersist: "60" }),
		ServerAliveInterval: "5",
		ServerAliveCountMax: "3",
		ConnectTimeout: "15",
		ForwardAgent: "no",
		ForwardX11: "no",
		ClearAllForwardings: "yes",
	};
	return {
		command: "ssh",
		args: [
			"-T",
			...Object.entries(options).flatMap(([key, value]) => ["-o", `${key}=${value}`]),
			...sshOptions,
			"--",
			target,
			`${worker} --stdio`,
		],
		hint: (code: number | null) => sshHint(code, worker),
	};
}

/** Sockets have short names: %C has 40 characters, to which ssh adds 17 while it connects. */
const MAX_SOCKET_DIR = 103 - 1 - 40 - 17;

/**
 * Where shared logins have their sockets: a directory that only this user can enter, since ssh trusts any process that
 * listens there. Undefined if there is none; then each connection logs in.
 */
function socketDir(): string | undefined {
	const uid = process.getuid?.();
	const dir = join(tmpdir(), `pi-ssh-${uid}`);
	if (uid === undefined || dir.length > MAX_SOCKET_DIR) return undefined;
	try {
		mkdirSync(dir, { recursive: true, mode: 0o700 });
		const found = lstatSync(dir);
		return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0 ? dir : undefined;
	} catch {
		return undefined; // a file has the name, or nothing can be written there
	}
}

function sshHint(code: number | null, worker: string): string | undefined {
	if (code === 127)
		return `${worker} is not installed there, or not on the PATH of a login without a terminal: npm install -g @pi-subagents/remote`;
	return undefined;
}
