/** Where the references of a JSON Schema lead. Nothing is ever fetched: they must lead to something inside it. Pure. */
import { quoted } from "../error.ts";
import { isObject, type Place, SchemaFault } from "./keywords.ts";

/** Relative ids need something to be relative to; no schema can name it. */
const NOWHERE = "schema://inside.invalid/";

export interface Located extends Place {
	/** What references in it are relative to. */
	base: string;
}

export class References {
	/** Whole schemas by their address, and parts of them by address and anchor. */
	readonly #known = new Map<string, unknown>();
	readonly #targets = new Map<Record<string, unknown>, Record<string, unknown>[]>();

	static baseOf({ schema, path }: Place, outer: string = NOWHERE): string {
		const id = idOf(schema);
		return id === undefined ? outer : addressOf(urlOf(id, outer, `${path}/$id`));
	}

	/** Must be called with every schema before any is looked up. */
	add({ schema, path, base }: Located): void {
		if (path === "" || idOf(schema) !== undefined) this.#known.set(base, schema);
		for (const name of [schema.$anchor, schema.$dynamicAnchor])
			if (typeof name === "string") this.#known.set(`${base}#${name}`, schema);
	}

	/** Throws a `SchemaFault` for a reference that leads nowhere or outside. */
	check({ schema, path, base }: Located): void {
		const targets = (["$ref", "$dynamicRef"] as const).flatMap((word) => {
			const reference = schema[word];
			if (typeof reference !== "string") return [];
			const target = this.#find(reference, base, `${path}/${word}`);
			return isObject(target) ? [target] : [];
		});
		this.#targets.set(schema, targets);
	}

	/** What a schema that was checked refers to. */
	of(schema: Record<string, unknown>): readonly Record<string, unknown>[] {
		return this.#targets.get(schema) ?? [];
	}

	#find(reference: string, base: string, path: string): unknown {
		const url = urlOf(reference, base, path);
		const address = addressOf(url);
		const whole = this.#known.get(address);
		if (whole === undefined)
			throw new SchemaFault(
				path,
				`${quoted(reference)} leads outside of the schema, and nothing is fetched; put what it means under $defs and refer to it with "#/$defs/…"`,
			);
		const fragment = decode(url.hash.slice(1));
		const isPointer = fragment === "" || fragment.startsWith("/");
		const target = isPointer ? valueAt(whole, fragment) : this.#known.get(`${address}#${fragment}`);
		if (isObject(target) || typeof target === "boolean") return target;
		throw new SchemaFault(path, `${quoted(reference)} leads to nothing in the schema`);
	}
}

/** The address that it gives itself. Draft-07 also knows ids that are anchors; those are not understood by the validator. */
function idOf({ $id }: Record<string, unknown>): string | undefined {
	return typeof $id === "string" && !$id.startsWith("#") ? $id : undefined;
}

/** Without the fragment. */
function addressOf({ href }: URL): string {
	return href.replace(/#.*$/, "");
}

function urlOf(reference: string, base: string, path: string): URL {
	const url = URL.parse(reference, base);
	if (!url) throw new SchemaFault(path, `${quoted(reference)} is no address`);
	return url;
}

function decode(fragment: string): string {
	try {
		return decodeURIComponent(fragment);
	} catch {
		return fragment; // half an escape: it leads to nothing, and that is said
	}
}

function valueAt(value: unknown, pointer: string): unknown {
	const parts = pointer.split("/").slice(1);
	return parts.reduce<unknown>((at, part) => {
		const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
		return typeof at === "object" && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
	}, value);
}
