/** An answer is always a JSON object, but scripts ask for lists and texts as well: these travel as its `value`. Pure. */

type Schema = Readonly<Record<string, unknown>>;

/** The schema that the agent gets, and the answer as the script wants it. */
export function wrapped(schema: Schema | undefined): {
	schema: Schema | undefined;
	unwrap: (data: unknown) => unknown;
} {
	const isPlain = schema === undefined || typeof schema.type !== "string" || schema.type === "object";
	// References would no longer lead where they did.
	if (isPlain || JSON.stringify(schema).includes('"$ref"')) return { schema, unwrap: (data) => data };
	return {
		schema: { type: "object", properties: { value: schema }, required: ["value"], additionalProperties: false },
		unwrap: (data) => (typeof data === "object" && data !== null && "value" in data ? data.value : data),
	};
}
