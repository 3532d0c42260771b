/** Where agents run: inside pi or not, on which machine, inside which program. */
import { Type } from "typebox";
import { choice } from "./kinds.ts";

/** Paths in the user's settings: whole, or from their home. */
const secretFile = (description: string) =>
	Type.Optional(Type.String({ maxLength: 1_000, pattern: "^(?:~?/|[A-Za-z]:\\\\)", description }));

/** How to reach a machine. */
const machine = Type.Object({
	/** Optional only here: a machine without an address cannot be reached. */
	ssh: Type.Optional(
		Type.String({
			minLength: 1,
			maxLength: 300,
			pattern: "^[^-\\s]\\S*$", // not an option
			description: "Where ssh connects to: a host, `user@host`, or a name from your ssh configuration.",
		}),
	),
	sshOptions: Type.Optional(
		Type.Array(Type.String({ maxLength: 300 }), {
			maxItems: 50,
			description: "More options for ssh, as separate words.",
		}),
	),
	worker: Type.Optional(
		Type.String({ maxLength: 1_000, description: "The worker's program there, if it is not on the PATH." }),
	),
	nats: Type.Optional(
		Type.String({
			maxLength: 1_000,
			pattern: "^(?:nats|tls)://[^\\s@]+$", // no token in it
			description: "Instead of `ssh`, a fleet: the address of its NATS engine, such as `nats://127.0.0.1:4222`.",
		}),
	),
	fleet: Type.Optional(
		Type.String({ pattern: "^[\\w-]{1,32}$", description: "Your part of the engine; `main` if it is absent." }),
	),
	labels: Type.Optional(
		Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
			maxItems: 20,
			description: "Only workers of the fleet that have all these labels.",
		}),
	),
	tokenFile: secretFile("A file that only you can read, with the engine's token."),
	nkeyFile: secretFile("The same, with the seed of an nkey that the engine knows."),
	keyFile: secretFile(
		"The same, with the key that seals the messages between you and the workers; derived from the token if absent.",
	),
	caFile: secretFile("The certificate of the authority that signed the engine's certificate."),
});

/** A program that agents run inside. Whole or not at all: one that is understood in part could confine less. */
const launcher = Type.Union([
	Type.Object(
		{
			command: Type.Array(Type.String({ minLength: 1, maxLength: 4_000, pattern: "^[^\\0]*$" }), {
				minItems: 1,
				maxItems: 500,
				description: "The program and its arguments; pi's own command follows.",
			}),
			env: Type.Optional(
				Type.Record(Type.String(), Type.String({ maxLength: 10_000 }), {
					description: "More variables for the program, and for what runs inside it.",
				}),
			),
		},
		{ additionalProperties: false },
	),
]);
export const runnerSettings = {
	runner: choice(
		{
			session: "inside pi",
			process: "in its own pi process",
			tmux: "in its own pi process, which you can watch in a tmux window",
		},
		{
			title: "Runner",
			description: "Where agents run if their preset does not say.",
			default: "session",
			limit: "first",
		},
	),
	machine: Type.String({
		maxLength: 100,
		title: "Machine",
		description: "The machine on which agents run if neither the call nor their preset names one; empty: this machine.",
		default: "",
		limit: "first",
	}),
	machines: Type.Record(Type.String(), machine, {
		title: "Machines",
		description:
			'Other machines that agents may run on, by a name of your choice: `{ "box": { "ssh": "me@box" } }`, or a fleet with `nats`. Only in your own settings; see docs/remote.md.',
		default: {},
		limit: "users",
	}),
	retry: choice(
		{ off: "it is reported as lost", lost: "it is run again from the start, once" },
		{
			title: "Retry",
			description: "What happens to an agent on another machine if that machine loses it and nothing of it is alive.",
			default: "off",
			limit: "none",
		},
	),
	launchers: Type.Record(Type.String(), launcher, {
		title: "Launchers",
		description:
			'Programs that agents can run inside, such as a sandbox, by a name of your choice: `{ "net": { "command": ["bwrap", …] } }`. A preset names one with `launcher`. Only in your own settings; see docs/sandboxes.md.',
		default: {},
		limit: "users",
	}),
};
