/** Creates the faux model. A separate file, because importing pi takes most of a second. */
import {
	type AssistantMessageEventStream,
	createAssistantMessageEventStream,
	createFauxCore,
	createProvider,
	InMemoryCredentialStore,
	InMemoryModelsStore,
	type Model,
	type Provider,
	type SimpleStreamOptions,
	type TranscriptContext,
	type Usage,
} from "@earendil-works/pi-ai";
import { ModelRuntime } from "@earendil-works/pi-coding-agent";
import { usageOf } from "../script/reply.ts";
import { type RequestView, viewOf } from "../script/request.ts";
import { RequestLog } from "../script/request-log.ts";
import { answer, type Rule } from "../script/rules.ts";
import { messageOf, partsOfContext, wireUsage } from "./faux-messages.ts";
import type { FauxModel, FauxModelOptions } from "./faux-model.ts";

export async function createFauxModel(rules: readonly Rule[], options: FauxModelOptions): Promise<FauxModel> {
	const log = new RequestLog<RequestView>();
	const core = createFauxCore({
		provider: options.provider ?? "faux",
		models: [...(options.models ?? [])],
		tokenSize: { min: 4, max: 4 }, // by default pi-ai chooses chunk sizes at random
	});

	const stream = (model: Model<string>, context: TranscriptContext, streaming?: SimpleStreamOptions) => {
		const request = viewOf(log.entries.length + 1, partsOfContext(model.id, context));
		log.add(request);
		const reply = answer(rules, request);
		// All sessions share the core's queue; this reply is taken out before `stream` returns.
		core.setResponses([() => messageOf(reply, request, streaming?.signal)]);
		return withUsage(core.streamSimple(model, context, streaming), wireUsage(usageOf(reply, request), model));
	};

	const provider = createProvider({
		id: core.provider,
		auth: { apiKey: { name: "Faux", resolve: async () => ({ auth: {} }) } },
		models: core.models,
		api: { stream, streamSimple: stream },
	});
	return {
		provider,
		modelRuntime: await isolatedRuntime(provider),
		model: core.models[0],
		models: core.models,
		requests: log.entries,
		nextRequest: (condition = () => true, waiting) => log.next(condition, waiting),
	};
}

async function isolatedRuntime(provider: Provider): Promise<ModelRuntime> {
	const runtime = await ModelRuntime.create({
		credentials: new InMemoryCredentialStore(),
		modelsPath: null,
		modelsStore: new InMemoryModelsStore(),
	});
	runtime.registerNativeProvider(provider);
	await runtime.refresh({ allowNetwork: false });
	return runtime;
}

/** Replaces the faux core's own estimate in the final message with the numbers of the script. */
function withUsage(source: AssistantMessageEventStream, usage: Usage): AssistantMessageEventStream {
	const target = createAssistantMessageEventStream();
	const copy = async () => {
		for await (const event of source) {
			if (event.type === "done") target.push({ ...event, message: { ...event.message, usage } });
			else target.push(event);
		}
		target.end();
	};
	// The core reports failures as events, so only a bug in this file can throw.
	copy().catch((error: unknown) => queueMicrotask(() => Promise.reject(error)));
	return target;
}
