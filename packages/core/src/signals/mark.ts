/** The variable that everything a run starts inherits; its value is the directory of the run. */
export const RUN_MARK = "PI_SUBAGENTS_RUN_DIR";
