/**
 * The extensions of a session as its pi runs them, with all that they have registered so far. pi does not offer this; it
 * is read from the object behind the context that every handler gets, which both supported versions have.
 */
import { type ExtensionContext, ExtensionRunner, type LoadExtensionsResult } from "@earendil-works/pi-coding-agent";
import { isObject } from "@pi-subagents/core/internal/base";

type Extension = LoadExtensionsResult["extensions"][number];

/** What an extension has registered. */
export type Registered = Pick<Extension, "handlers" | "tools" | "flags">;

/** An extension that pi runs. Its path is no file if it was given as code. */
export type RunningExtension = Registered & Pick<Extension, "resolvedPath" | "sourceInfo">;

/** In the order in which pi runs their handlers. Undefined if it cannot be found out. */
export function runningExtensions(
	ctx: Partial<Pick<ExtensionContext, "hasUI">>,
): readonly RunningExtension[] | undefined {
	const runner = runnerBehind(ctx);
	const extensions: unknown = runner && Reflect.get(runner, "extensions");
	return Array.isArray(extensions) && extensions.every(isRunning) ? extensions : undefined;
}

/** `hasUI` of a context asks its runner, which is all that is needed to see it. */
function runnerBehind(ctx: Partial<Pick<ExtensionContext, "hasUI">>): ExtensionRunner | undefined {
	const { prototype } = ExtensionRunner;
	const { hasUI } = prototype;
	let found: ExtensionRunner | undefined;
	prototype.hasUI = function (this: ExtensionRunner) {
		found = this;
		return hasUI.call(this);
	};
	try {
		void ctx.hasUI;
	} finally {
		prototype.hasUI = hasUI;
	}
	return found;
}

function isRunning(value: unknown): value is RunningExtension {
	return (
		isObject(value) &&
		typeof value.resolvedPath === "string" &&
		isObject(value.sourceInfo) &&
		[value.handlers, value.tools, value.flags].every((each) => each instanceof Map)
	);
}
