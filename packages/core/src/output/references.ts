/** Resolves the references of a JSON Schema. Nothing is fetched: they must point inside the schema. Pure. */
import { quoted } from "../base/error.ts";
import { isObject } from "../base/values.ts";
import { SchemaFault, type SchemaNode } from "./keywords.ts";

/** Base for relative ids; no schema can name it. */
const NOWHERE = "schema://inside.invalid/";

export interface Located extends SchemaNode {
	/** The base of its references. */
	base: string;
}

export class References {
	/** Schemas by address, and by address and anchor. */
	readonly #known = new Map<string, unknown>();
	readonly #targets = new Map<Record<string, unknown>, Record<string, unknown>[]>();

	static baseOf({ schema, path }: SchemaNode, outer: string = NOWHERE): string {
		const id = idOf(schema);
		return id === undefined ? outer : addressOf(urlOf(id, outer, `${path}/$id`));
	}

	/** Add every schema before resolving any reference. */
	add({ schema, path, base }: Located): void {
		if (path === "" || idOf(schema) !== undefined) this.#known.set(base, schema);
		for (const name of [schema.$anchor, schema.$dynamicAnchor])
			if (typeof name === "string") this.#known.set(`${base}#${name}`, schema);
	}

	/** Throws a `SchemaFault` for a reference that points nowhere or outside. */
	check({ schema, path, base }: Located): void {
		const targets = (["$ref", "$dynamicRef"] as const).flatMap((word) => {
			const reference = schema[word];
			if (typeof reference !== "string") return [];
			const target = this.#find(reference, base, `${path}/${word}`);
			return isObject(target) ? [target] : [];
		});
		this.#targets.set(schema, targets);
	}

	/** The targets of a checked schema's references. */
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

/** Its own address. Draft-07 ids that are anchors are not supported by the validator. */
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
		return fragment; // a broken escape resolves to nothing, which is reported
	}
}

function valueAt(value: unknown, pointer: string): unknown {
	const parts = pointer.split("/").slice(1);
	return parts.reduce<unknown>((at, part) => {
		const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
		return typeof at === "object" && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
	}, value);
}
