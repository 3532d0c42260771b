/** What `--help` prints. */
export const HELP = `Usage: pi-subagents <command> [options]

Sub-agents of pi, in all of your projects.

  list                    agents that need input, are working or are done (the default)
  watch                   the same, kept up to date until Ctrl+C
  show <agent>            one agent: task, question, result, where its files are
  logs <agent> [-f]       its transcript; -f follows it until it ends
  reply <agent> <text>    answer its question
  stop <agent>            stop it and wait until it has stopped
  attach <agent>          its tmux window, or else its transcript
  report [where]          an HTML page: what agents did, how long it took, what it cost
  trace [where]           the same as a Chrome trace, for Perfetto and speedscope
  replay [where]          plays a past tree again, as pi showed it

<agent> is an id, a name, or the beginning of one. The name of a preset lists its latest
agents; pi shows the preset itself (/subagent view <preset>, /subagent explain <preset>).
reply, stop and attach work for agents with their own process (detached ones, and those in tmux); for an agent inside
pi they name the process and session that hold it.
[where] is a project, a run's directory, or an agent, which includes its sub-agents; default: the current project.

  --json                  list, watch and show: JSON, one document per update
  --all                   list and watch: all that are done, not only the last 10
  --out <file>            report and trace: where to write; the path is printed
  --full                  report: with tool arguments, tool output, file contents and diffs
  --open                  report: open it in the browser
  --otlp                  trace: OpenTelemetry spans as OTLP/JSON instead
  --send                  trace: send these to OTEL_EXPORTER_OTLP_ENDPOINT, with OTEL_EXPORTER_OTLP_HEADERS
  --content               trace: spans with tasks, answers and errors
  --speed <number>        replay: 4 plays four times as fast
  --version, --help

Exit codes: 0 done, 1 could not be done, 2 wrong command line.
`;
