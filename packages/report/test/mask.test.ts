/** Secrets in a report, however an agent spells them. */
import { cpuMs } from "@pi-subagents-dev/testkit/cpu-time";
import { describe, expect, test } from "vitest";
import { buildReport } from "../src/index.ts";
import { maskOf } from "../src/model/mask.ts";
import { ended, launched, log, said } from "./fixtures/runs.ts";

const KEY = 'sk-live/Very+secret=1? ä&"x"';
const PLAIN = "sk-ant-api03-Zz9_Yx8-Ww7";
const PEM = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7
VJTUt9Us8cKjMzEfYyjiWA4R4DMsFv3sXvKQmQhJm1oq4rYNLTDa
-----END PRIVATE KEY-----
`;

const bytesOf = (text: string) => Buffer.from(text);
const lowerEscapes = (text: string) => encodeURIComponent(text).replace(/%../g, (each) => each.toLowerCase());
const everyByte = (text: string) => [...bytesOf(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const wrapped = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, "g"), "$&\n");
const json = (value: unknown) => JSON.stringify(value).slice(1, -1);
const unicodeEscapes = (text: string) =>
	[...text].map((each) => `\\u${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join("");

const SPELLINGS: [string, (secret: string) => string][] = [
	["as it is", (secret) => secret],
	["at the beginning and the end of longer words", (secret) => `x${secret}x`],
	["in a URL", encodeURIComponent],
	["in a URL with lower-case escapes", lowerEscapes],
	["in a form, with + for a space", (secret) => new URLSearchParams({ q: secret }).toString()],
	["with every byte escaped", everyByte],
	["in a URL in a URL", (secret) => encodeURIComponent(encodeURIComponent(secret))],
	["in JSON", json],
	["in JSON in JSON", (secret) => json(json(secret))],
	["in JSON in a URL", (secret) => lowerEscapes(json(secret))],
	["in \\u escapes", unicodeEscapes],
	["in HTML", (secret) => secret.replaceAll("&", "&amp;").replaceAll('"', "&quot;")],
	["in Base64", (secret) => bytesOf(secret).toString("base64")],
	["in Base64 for URLs", (secret) => bytesOf(secret).toString("base64url")],
	["in Base64 with a line break at its end", (secret) => bytesOf(`${secret}\n`).toString("base64")],
	["in HTTP's basic authentication, after u:", (secret) => `Basic ${bytesOf(`u:${secret}`).toString("base64")}`],
	["in HTTP's basic authentication, after me:", (secret) => `Basic ${bytesOf(`me:${secret}`).toString("base64")}`],
	["in HTTP's basic authentication, after user:", (secret) => `Basic ${bytesOf(`user:${secret}`).toString("base64")}`],
	["in HTTP's basic authentication, before :x", (secret) => `Basic ${bytesOf(`${secret}:x`).toString("base64")}`],
	["in Base64 inside a document", (secret) => bytesOf(`{"token":"${secret}","a":1}`).toString("base64")],
	["in Base64 that is wrapped", (secret) => wrapped(bytesOf(`a: ${secret} ${secret}`).toString("base64"), 16)],
	["in hex", (secret) => bytesOf(secret).toString("hex")],
	["in upper-case hex", (secret) => bytesOf(secret).toString("hex").toUpperCase()],
	["split over lines", (secret) => wrapped(secret, 7)],
	["split over lines of a shell", (secret) => secret.replace(/.{7}/g, "$&\\\n  ")],
	["split over lines, in JSON", (secret) => json(wrapped(secret, 7))],
];

describe.each([
	["with characters that every format escapes", KEY],
	["of letters and digits", PLAIN],
	["that a variable ends with a line break", `${PLAIN}\n`],
])("a secret %s", (_what, secret) => {
	test.each(SPELLINGS)("is masked %s", (_how, spell) => {
		const mask = maskOf([secret]);
		const spelled = spell(secret.trim());
		const masked = mask(`before ${spelled} after`);
		expect(masked).toMatch(/^before .*\[masked\].* after$/s);
		// Nothing of it is left that could be decoded: at most a few bits at the edges of Base64.
		const left = masked.replace("before ", "").replace(" after", "").replaceAll("[masked]", "");
		expect(left.length).toBeLessThanOrEqual(Math.max(24, spelled.length - secret.trim().length));
		for (const decoded of [left, Buffer.from(left, "base64").toString(), Buffer.from(left, "hex").toString()])
			for (let at = 0; at + 6 <= secret.trim().length; at++) expect(decoded).not.toContain(secret.slice(at, at + 6));
	});
});

test("ordinary text stays as it is, to the byte", () => {
	const mask = maskOf([PLAIN, KEY, PEM, "short", "/home/ada/.Xauthority-file"]);
	for (const text of [
		"Reading a.ts",
		"100 % of \\d+ \\u00e4 %zz %4 \\",
		"ä ö \u{1F600} \ud800 end",
		"sk-ant-api",
		"short",
		"/home/ada",
		"/home/ada/.Xautho",
		`${"x".repeat(100)}…`,
	])
		expect(mask(text)).toBe(text);
});

test("each line of a key that has several is masked alone, and so is the whole of it", () => {
	const mask = maskOf([PEM]);
	expect(mask(`a\n${PEM}b`)).toBe("a\n[masked]\nb");
	expect(mask(JSON.stringify({ key: PEM }))).not.toMatch(/MII|VJT/);
	expect(mask(`  12 | ${PEM.split("\n")[2]}`)).toBe("  12 | [masked]");
	expect(mask(btoa(PEM.trim()))).toBe("[masked]");
});

test("the beginning of a secret is masked where a text was cut", () => {
	const mask = maskOf([PLAIN]);
	expect(mask(`curl -H 'Authorization: Bearer ${PLAIN.slice(0, 16)}`)).toBe("curl -H 'Authorization: Bearer [masked]");
	expect(mask(`Running curl ${PLAIN.slice(0, 16)}… (2 of 3)`)).toBe("Running curl [masked]… (2 of 3)");
	const run = launched("a1", { lines: log([1_000, said(`${"x".repeat(19_990)}${PLAIN} and more`)]) });
	expect(JSON.stringify(buildReport([run], { now: 0, secrets: [PLAIN] })).includes("sk-ant")).toBe(false);
});

test("a secret of any length is masked, in time that grows with the text", () => {
	const random = (length: number) =>
		Array.from({ length }, (_, index) => String.fromCharCode(33 + ((index * 7919 + (index >> 5) * 104_729) % 90))).join(
			"",
		);
	for (const length of [25_000, 131_000]) {
		const secret = random(length);
		const outcome = { status: "completed" as const, text: `It is ${secret}, or ${btoa(`u:${secret}`)}.` };
		const run = launched("a1", { end: ended({ outcome }) });
		const [agent] = buildReport([run], { now: 0, secrets: [secret] }).agents;
		expect(agent?.answer).toMatch(/^It is \[masked\], or .{0,4}\[masked\]\.$/);
	}
	// A repeated beginning is what makes careless searches slow.
	const mask = maskOf([`${"a".repeat(20_000)}b`, `${"ab".repeat(10_000)}c`]);
	const text = "ab".repeat(500_000);
	expect(cpuMs(() => void mask(text))).toBeLessThan(5_000);
});

test("several secrets, also inside one another, leave one mask each", () => {
	const mask = maskOf(["password-one", "word-one", "password-two"]);
	expect(mask("password-one, word-one and password-two")).toBe("[masked], [masked] and [masked]");
});
