/** Where a command writes. Imports nothing, so that the package's types need no other package. */
export interface Output {
	write(text: string): unknown;
	isTTY?: boolean;
	columns?: number;
	rows?: number;
}
