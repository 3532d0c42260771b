/** Which of many things changed last: moving one to the front costs the same however many there are. */

interface Node {
	readonly id: string;
	seq: number;
	earlier: Node | undefined;
	later: Node | undefined;
}

export class Recency {
	readonly #nodes = new Map<string, Node>();
	#latest: Node | undefined;

	touch(id: string, seq: number): void {
		const node: Node = this.#nodes.get(id) ?? { id, seq, earlier: undefined, later: undefined };
		this.#nodes.set(id, node);
		node.seq = seq;
		if (node === this.#latest) return;
		if (node.earlier) node.earlier.later = node.later;
		if (node.later) node.later.earlier = node.earlier;
		node.earlier = this.#latest;
		node.later = undefined;
		if (this.#latest) this.#latest.later = node;
		this.#latest = node;
	}

	/** Those touched after `seq`, the latest first. */
	since(seq: number): string[] {
		const ids: string[] = [];
		for (let node = this.#latest; node && node.seq > seq; node = node.earlier) ids.push(node.id);
		return ids;
	}
}
