/** A tool result that is nothing but text for the model. */
export function told(text: string) {
	return { content: [{ type: "text" as const, text }], details: undefined };
}
