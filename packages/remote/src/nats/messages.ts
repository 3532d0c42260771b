/** What the two sides of a fleet say to each other besides the pieces of runs. Both check what they receive. */
import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";

/** Changes when an older side would misunderstand a newer one. */
export const FLEET_PROTOCOL = 1;

/** How often each side shows that it lives. */
export const FLEET_BEAT_MS = 1_000;

const count = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const name = Type.String({ pattern: "^[\\w-][\\w.-]{0,255}$" });
const words = Type.Array(Type.String({ maxLength: 300 }), { maxItems: 10_000 });

export const beatSchema = Type.Object({
	/** Stays the same for as long as the worker keeps its files. */
	worker: name,
	/** What people call it. */
	name,
	/** Another one for each process. */
	life: name,
	protocol: count,
	version: Type.String({ maxLength: 100 }),
	/** Workers that offer the same share a queue. */
	pool: name,
	slots: count,
	free: count,
	/** Only in an answer to a question: they may be many. */
	offer: Type.Optional(Type.Object({ labels: words, models: words })),
});
export type Beat = Static<typeof beatSchema>;
export type Offer = NonNullable<Beat["offer"]>;

export const orderSchema = Type.Object({
	protocol: count,
	/** When it was sent: an old one is not taken. */
	at: Type.Number(),
	key: name,
	/** Whom to ask for blobs. */
	near: name,
	/** The order, or the blob with it if it is too long. */
	order: Type.Optional(Type.Unknown()),
	blob: Type.Optional(name),
});
export type OrderMessage = Static<typeof orderSchema>;

export const claimSchema = Type.Object({ worker: name, life: name });
export type ClaimBody = Static<typeof claimSchema>;

export const refusalSchema = Type.Object({ why: Type.String(), isFinal: Type.Boolean() });
export type Refusal = Static<typeof refusalSchema>;

/** Pieces are counted from 1 in each epoch: the near side begins a new one whenever it may have missed something. */
export const envelopeSchema = Type.Object({ epoch: name, number: count, piece: Type.Unknown() });
export type Envelope = Static<typeof envelopeSchema>;

export const followAnswerSchema = Type.Object({ worker: name, life: name });

/** The queue of all workers that offer the same. */
export function poolOf({ labels, models }: Offer): string {
	const text = JSON.stringify([[...labels].sort(), [...models].sort()]);
	return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
