/** The system's code for an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
	return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The path does not exist, or cannot: something above it is not a directory. */
export function isMissing(error: unknown): boolean {
	return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** For `catch`: the value where something is missing. Any other error is thrown again. */
export function ifMissing<Value>(value: Value): (error: unknown) => Value {
	return (error) => {
		if (isMissing(error)) return value;
		throw error;
	};
}
