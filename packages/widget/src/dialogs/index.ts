export { BusyView } from "./busy-view.ts";
export { clip, within } from "./fit-text.ts";
export type { DialogContext } from "./frame.ts";
export { InputView } from "./input-view.ts";
export { type Block, type Cell, fields, layout, type Paint, type Row, type Tone } from "./layout.ts";
export { ListView } from "./list-view.ts";
export { type DialogTheme, noteView } from "./note-view.ts";
export { ReadView } from "./read-view.ts";
export type { Choice, Decision, Item, ItemKey, Picked, Question, Screen, Work } from "./screen.ts";
