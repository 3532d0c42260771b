/**
 * Items in order, in a sorted array: finding a place takes O(log n) comparisons, and moving the rest is fast for the
 * tens of thousands that ever wait. Take an item out before its order changes.
 */
export class SortedList<T> {
	readonly #items: T[] = [];
	readonly #isBefore: (one: T, other: T) => boolean;

	constructor(isBefore: (one: T, other: T) => boolean) {
		this.#isBefore = isBefore;
	}

	get size(): number {
		return this.#items.length;
	}

	first(): T | undefined {
		return this.#items[0];
	}

	/** Behind those that are equal. */
	add(item: T): void {
		this.#items.splice(
			this.#firstIndex((other) => this.#isBefore(item, other)),
			0,
			item,
		);
	}

	/** Does nothing if the item is not in the list. */
	remove(item: T): void {
		let at = this.#firstIndex((other) => !this.#isBefore(other, item));
		for (; at < this.#items.length; at++) {
			const other = this.#items[at] as T;
			if (other === item) this.#items.splice(at, 1);
			if (other === item || this.#isBefore(item, other)) return;
		}
	}

	/** How many come before the item, whether or not it is in the list. */
	countBefore(item: T): number {
		return this.#firstIndex((other) => !this.#isBefore(other, item));
	}

	/** The first item that passes. All behind it must pass too. */
	find(passes: (item: T) => boolean): T | undefined {
		return this.#items[this.#firstIndex(passes)];
	}

	#firstIndex(passes: (item: T) => boolean): number {
		let low = 0;
		let high = this.#items.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (passes(this.#items[middle] as T)) high = middle;
			else low = middle + 1;
		}
		return low;
	}
}
