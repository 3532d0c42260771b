/**
 * The extension of ours that a child process loads if no one can answer its dialogs. A pi in RPC mode, which the child is
 * in any case, tells extensions that there is a user; this one takes that back, so that they decide by themselves. A
 * file apart from the child's other extension, because only this one needs pi's modules at run time.
 */
import { ExtensionRunner } from "@earendil-works/pi-coding-agent";

export default function noUserEntry(): void {
	// If a later pi decides it elsewhere, its dialogs are still dismissed at once: by the process that runs the child.
	if (typeof ExtensionRunner?.prototype?.hasUI === "function") ExtensionRunner.prototype.hasUI = () => false;
}
