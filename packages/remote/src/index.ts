/** Agents on other machines: a runner, the machines it reaches, and the port between the two sides. */
export type { Blobs, ControlMessage, GrowingName, Link, Marks, Piece, Work } from "./link/link.ts";
export type { Order } from "./link/order.ts";
export { createMachines, type Machine, type Machines, type MachinesOptions } from "./near/machines.ts";
export { type RemoteLimits, type RemoteRunner, type RemoteRunnerOptions, remoteRunner } from "./near/remote-runner.ts";
