/** Where it is noted that a command of an agent reached beyond its checkout. One line each. */
export function flagsFile(root: string): string {
	return `${root}.flags`;
}
