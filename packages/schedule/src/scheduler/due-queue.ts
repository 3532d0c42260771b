/** When each job must be checked next. A binary heap, so that the earliest is found quickly among many jobs. */

interface Item {
	id: string;
	at: number;
}

export class DueQueue {
	/** An item is valid while `#items` contains it; a replaced one is dropped when it reaches the top. */
	#heap: Item[] = [];
	readonly #items = new Map<string, Item>();

	set(id: string, at: number | undefined): void {
		if (at === undefined) {
			this.#items.delete(id);
			return;
		}
		if (this.#items.get(id)?.at === at) return;
		const item = { id, at };
		this.#items.set(id, item);
		this.#rise(item);
		// Otherwise replaced items that are far in the future would accumulate.
		if (this.#heap.length > 2 * this.#items.size + 100)
			this.#heap = [...this.#items.values()].sort((a, b) => a.at - b.at);
	}

	earliest(): number | undefined {
		for (let [first] = this.#heap; first; [first] = this.#heap) {
			if (this.#items.get(first.id) === first) return first.at;
			this.#pop();
		}
		return undefined;
	}

	/** Removes and returns everything up to `now`. */
	takeUntil(now: number): string[] {
		const ids: string[] = [];
		for (let at = this.earliest(); at !== undefined && at <= now; at = this.earliest()) {
			const { id } = this.#pop();
			this.#items.delete(id);
			ids.push(id);
		}
		return ids;
	}

	#rise(item: Item): void {
		let at = this.#heap.push(item) - 1;
		while (at > 0) {
			const up = (at - 1) >> 1;
			const above = this.#at(up);
			if (above.at <= item.at) break;
			this.#heap[at] = above;
			this.#heap[up] = item;
			at = up;
		}
	}

	#pop(): Item {
		const first = this.#at(0);
		const last = this.#heap.pop();
		if (last !== undefined && last !== first) this.#sink(last);
		return first;
	}

	#sink(item: Item): void {
		let at = 0;
		for (;;) {
			const left = 2 * at + 1;
			if (left >= this.#heap.length) break;
			const right = Math.min(left + 1, this.#heap.length - 1);
			const less = this.#at(right).at < this.#at(left).at ? right : left;
			if (this.#at(less).at >= item.at) break;
			this.#heap[at] = this.#at(less);
			at = less;
		}
		this.#heap[at] = item;
	}

	#at(index: number): Item {
		const item = this.#heap[index];
		if (!item) throw new Error(`The due queue has no item ${index}.`);
		return item;
	}
}
