/** Names in files of runs that may stand in a sentence of ours. Pure. */

/** `provider/id`, in the characters of such names: it can hold no sentence. */
export function modelName(name: string | undefined): string | undefined {
	return name !== undefined && /^[\w@~][\w@~.:/+-]{0,199}$/.test(name) ? name : undefined;
}
