import assert from "node:assert/strict";
import { test } from "node:test";
import { createTracker } from "../src/tracker.js";

test("a new parcel is accepted", () => {
	const tracker = createTracker();
	tracker.store.add("42");
	assert.equal(tracker.whereIs("42"), "Parcel 42 is accepted.");
});

test("a parcel can move", () => {
	const tracker = createTracker();
	tracker.store.add("42");
	tracker.store.move("42", "on its way");
	assert.equal(tracker.whereIs("42"), "Parcel 42 is on its way.");
});
