export {
	isReply,
	type Method,
	PROTOCOL_VERSION,
	type Replies,
	type Reply,
	type Requests,
	replyChannel,
	requestChannels,
	type SpawnOptions,
} from "./protocol.ts";
