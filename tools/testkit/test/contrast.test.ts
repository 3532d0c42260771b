import { expect, test } from "vitest";
import { faintTexts } from "../src/drivers/contrast.ts";

test("text is faint where its colour is close to the one behind it, be that the terminal's or its own", async () => {
	const rgb = (layer: 38 | 48, colour: string) => `\x1b[${layer};2;${colour}m`;
	const raw = `plain ${rgb(38, "190;190;190")}grey ──\x1b[0m ${rgb(48, "40;40;40")}${rgb(38, "190;190;190")}light\x1b[0m`;
	const look = { cols: 40, rows: 3, background: "#ffffff", foreground: "#000000" };
	expect(await faintTexts(raw, look)).toEqual(["grey: #bebebe on #ffffff (1.9)"]);
	expect(await faintTexts(raw, { ...look, background: "#101010" })).toEqual(["plain: #000000 on #101010 (1.1)"]);
});
