#!/usr/bin/env node
/**
 * `node scripts/performance.mjs`: writes the figures of the last complete `npm run bench` and `npm run bench:peers` into
 * `docs/performance.md`. They come from one machine on one day, so nothing fails if they change; `npm run bench` checks
 * the targets.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const page = join(root, "docs", "performance.md");
const sections = { figures: ["latest.json", figuresOf], peers: ["peers.json", peersOf] };

let text = readFileSync(page, "utf8");
for (const [name, [file, sectionOf]] of Object.entries(sections)) {
	const path = join(root, "bench/results", file);
	if (!existsSync(path)) continue; // keep the earlier figures
	const section = sectionOf(JSON.parse(readFileSync(path, "utf8")));
	const place = new RegExp(`(<!-- ${name} -->\\n).*(<!-- /${name} -->)`, "s");
	text = text.replace(place, (_, before, after) => `${before}${section}${after}`);
}
writeFileSync(page, text);

function figuresOf({ at, node, figures }) {
	const rows = figures.map(({ name, unit, ours, against, ratio, spread, target, ok }) => {
		const shown =
			typeof ratio === "number" ? `${ratio.toFixed(2)} (${spread.map((each) => each.toFixed(2)).join("–")})` : "–";
		return `| ${name} | ${size(ours)} ${unit} | ${plain(against.name)}: ${size(against.value)} ${unit} | ${shown} | ${target}${ok ? "" : " **missed**"} |`;
	});
	return `${when(at, node)}

| what | here | beside | ratio (middle half) | at most |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

function peersOf({ at, node, rounds, compared }) {
	const rows = compared.map(({ name, unit, floor, target, cells }) => {
		const { floor: least, ours, ...rivals } = cells;
		const wanted =
			target === undefined ? "" : "ratio" in target ? `×${target.ratio}` : `${target.value} ${unit}`.trim();
		const beside = floor && least.value !== "" ? `${floor}: ${cell(least, unit)}` : "";
		return `| ${name} | ${cell(ours, unit)} | ${beside} | ${wanted} | ${Object.values(rivals)
			.map((each) => cell(each, unit))
			.join(" | ")} |`;
	});
	return `${when(at, node)} At most ${rounds} rounds. \`×\` is our value divided by the other one: below 1, ours is smaller.

| what | pi-subagents | the least that does it | at most | in-process rival | process rival |
|---|---|---|---|---|---|
${rows.join("\n")}
`;
}

function cell({ value, ratio }, unit) {
	if (typeof value === "string") return value;
	const figure = `${size(value)} ${unit}`.trim();
	return ratio ? `${figure} (×${size(ratio.median)}; ${ratio.spread.map(size).join("–")})` : figure;
}

function when(at, node) {
	return `Measured ${at.slice(0, 10)} with Node ${node.replace("v", "")}, on two cores.`;
}

/** The page compares with what others do, not with whom. */
function plain(name) {
	return name.replace(/\brival(?:'s| (\d))/, (_, number) =>
		number ? `other extension ${number}` : "another extension's",
	);
}

function size(value) {
	return typeof value === "number" ? value.toFixed(value < 10 && value !== 0 ? 2 : 0) : "–";
}
