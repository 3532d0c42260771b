/** Where a command writes. In a file that imports nothing: the types of this package need no other one. */
export interface Output {
	write(text: string): unknown;
	isTTY?: boolean;
	columns?: number;
	rows?: number;
}
