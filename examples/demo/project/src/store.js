/** Keeps parcels by their number. */
export class Store {
	#parcels = new Map();

	add(number, status = "accepted") {
		this.#parcels.set(number, { number, status, history: [status] });
	}

	move(number, status) {
		const parcel = this.#parcels.get(number);
		parcel.status = status;
		parcel.history.push(status);
	}

	find(number) {
		return this.#parcels.get(number);
	}
}
