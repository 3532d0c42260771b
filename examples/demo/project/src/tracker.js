import { Store } from "./store.js";

/** Answers "where is my parcel?" in one sentence. */
export function createTracker(store = new Store()) {
	return {
		store,
		whereIs(number) {
			const parcel = store.find(number);
			return parcel ? `Parcel ${number} is ${parcel.status}.` : `Parcel ${number} is unknown.`;
		},
	};
}
