/** The NATS packages as one module. The worker's program has them in a file of its own; elsewhere they are optional peers. */
export { AckPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
export { Objm } from "@nats-io/obj";
export { connect, headers, nanos, nkeyAuthenticator } from "@nats-io/transport-node";
