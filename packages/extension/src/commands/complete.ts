/** What is offered while `/subagent …` is typed: first the subcommands, then what each of them can be about. Pure. */
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import { sanitize } from "@pi-subagents/progress";
import { clip } from "../render/fit.ts";
import type { Offer, Subcommand } from "./subcommand.ts";

const DESCRIPTION_COLUMNS = 80;

export function complete(subcommands: readonly Subcommand[], typed: string): AutocompleteItem[] {
	const [name = "", argument] = splitOnce(typed);
	const named = subcommands.filter((each) => each.name.startsWith(name.toLowerCase()));
	const offers =
		argument === undefined
			? named.map(({ name: value, about }) => ({ value, label: value, description: about }))
			: (named.find((each) => each.name === name.toLowerCase())?.offers?.() ?? [])
					.filter((offer) => begins(offer, argument))
					.map((offer) => ({ ...offer, value: `${name} ${offer.value}` }));
	// An offer of what is already there would take the Enter key for itself.
	return offers.filter(({ value }) => value.toLowerCase() !== typed.toLowerCase()).map(item);
}

function splitOnce(typed: string): [string, string?] {
	const space = typed.indexOf(" ");
	return space < 0 ? [typed] : [typed.slice(0, space), typed.slice(space + 1).trimStart()];
}

function begins({ value, alias }: Offer, argument: string): boolean {
	return [value, alias ?? ""].some((word) => word.toLowerCase().startsWith(argument.toLowerCase()));
}

function item({ value, label, description }: Omit<Offer, "alias">): AutocompleteItem {
	return { value, label: sanitize(label), description: clip(sanitize(description), DESCRIPTION_COLUMNS) };
}
