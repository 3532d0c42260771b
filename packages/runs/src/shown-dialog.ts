/**
 * Binds the user's answer to the dialog that was shown. A dialog reaches the user's pi through the log of the run, where
 * an agent in a sandbox can write: with other words under the same id, a harmless yes would answer a guard.
 */
import { createHash } from "node:crypto";

/** The same for the dialog that the wrapper wrote and for the one that was read. */
export function digestOfDialog(dialog: unknown): string {
	return createHash("sha256")
		.update(JSON.stringify(dialog) ?? "")
		.digest("hex");
}
