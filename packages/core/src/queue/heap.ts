/**
 * A binary heap that tracks its members' positions, so that one can leave or move in O(log n). Call `put` right after
 * changing the order of a member.
 */
export class Heap<T> {
	readonly #items: T[] = [];
	readonly #places = new Map<T, number>();
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

	/** Adds the item, or moves it to its new position. */
	put(item: T): void {
		let place = this.#places.get(item);
		if (place === undefined) {
			place = this.#items.length;
			this.#items.push(item);
		}
		this.#sink(item, this.#rise(item, place));
	}

	/** Does nothing if the item is not in the heap. */
	remove(item: T): void {
		const place = this.#places.get(item);
		if (place === undefined) return;
		this.#places.delete(item);
		const last = this.#items.pop();
		if (last === undefined || place === this.#items.length) return; // the item was the last one
		this.#sink(last, this.#rise(last, place));
	}

	#rise(item: T, from: number): number {
		let place = from;
		while (place > 0) {
			const above = (place - 1) >> 1;
			const other = this.#items[above];
			if (other === undefined || !this.#isBefore(item, other)) break;
			this.#set(place, other);
			place = above;
		}
		return place;
	}

	#sink(item: T, from: number): void {
		let place = from;
		for (;;) {
			const below = this.#lesserBelow(place);
			const other = this.#items[below];
			if (other === undefined || !this.#isBefore(other, item)) break;
			this.#set(place, other);
			place = below;
		}
		this.#set(place, item);
	}

	#lesserBelow(place: number): number {
		const left = 2 * place + 1;
		const one = this.#items[left];
		const other = this.#items[left + 1];
		return one !== undefined && other !== undefined && this.#isBefore(other, one) ? left + 1 : left;
	}

	#set(place: number, item: T): void {
		this.#items[place] = item;
		this.#places.set(item, place);
	}
}
