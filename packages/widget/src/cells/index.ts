/** Lines for a terminal, from cells that are dropped, shortened and aligned to fit. */
export { type Cell, fill, fitCells, flow, lineOf, type Placed, within } from "./line.ts";
export { share, type Want } from "./share.ts";
export { clip, firstThatFits, type PlaceOptions, place, widest } from "./text.ts";
