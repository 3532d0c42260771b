/**
 * What another machine says, in a sentence of ours: people and models read it as the words of that machine, and it can
 * neither end its quotation nor be longer than a sentence needs. Pure.
 */
import { clip } from "@pi-subagents/core/internal/base";
import { sanitize } from "@pi-subagents/progress";
import { Refused } from "./link.ts";

const MAX_QUOTED = 300;
/** Of why an order is refused: names of models, and what to do. */
const MAX_REFUSAL = 1_000;

/** To stand between quotation marks. */
export function quotable(text: string, most = MAX_QUOTED): string {
	return clip(sanitize(text.slice(0, 10 * most)).trim(), most).replaceAll('"', "'");
}

/** @example saidBy("box", "no space left") // 'box says: "no space left"' */
export function saidBy(machine: string, text: string, most?: number): string {
	return `${machine} says: "${quotable(text, most)}"`;
}

/** The error with which another side answered a request. Without a name for it, its words are made safe to show. */
export function toldError(machine: string | undefined, error: unknown, isFinal: boolean): Error {
	const words = String(error).slice(0, 10 * MAX_REFUSAL);
	const text = machine === undefined ? quotable(words, MAX_REFUSAL) : saidBy(machine, words, MAX_REFUSAL);
	return isFinal ? new Refused(text, words) : new Error(text);
}

/** A name or a version that a machine gives, if it can hold no sentence. */
export function plainWord(text: string): string | undefined {
	return /^[\w@~.:/+-]{1,100}$/.test(text) ? text : undefined;
}
