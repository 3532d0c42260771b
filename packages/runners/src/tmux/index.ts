/** Runs that live in tmux windows, where a person can watch them and end them. */
export { type TmuxRunnerOptions, tmuxRunner } from "./runner.ts";
