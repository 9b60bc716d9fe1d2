package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const rootHelp = `sessionls finds the conversations you had with your coding agents: Claude Code, Codex,
Pi, DeepSeek Harness, Gemini CLI, OpenCode, Copilot CLI, VS Code Copilot Chat, Cursor and
Cline.

It reads the transcripts they leave on this machine, keeps one index of them, and answers
from a terminal and, as a language server, in an editor. Transcripts are never changed,
and nothing leaves this machine but a question that you ask another one (--host).`

const rootExamples = `  sessionls search tide table overflow
  sessionls search '"connection refused"' agent:codex since:7d
  sessionls show 3b0f7c52 --around 42`

func searchHelp() string {
	return `Find sessions by words, operators and filters. The words are looked for in messages, tool
calls and their output, titles, branches and projects. Sessions with the words as a phrase come
first, then those with all words, then those with some.

` + operatorHelp() + `
Quote for the shell what it would take for itself: sessionls search '"exact phrase"'.

The first search builds the index, and is your consent to that. Later ones first read what is
new, unless another sessionls is doing so right now; --fresh waits for that, too.

Into a pipe each session is one line of columns with tabs between them: agent:id, time, project,
title, role#number, snippet; the total and remarks go to standard error. --color always gives the
terminal's layout anyway.

Exit codes: 0 found, 1 nothing found, 2 wrong usage or malformed cursor, 3 search is not
available, 4 failed or stale cursor, 130 interrupted. Errors are told on standard error, also with --json;
on standard output stands the answer or nothing.`
}

const searchExamples = `  sessionls search tide table overflow
  sessionls search 'why does the parser panic' --scope conversation
  sessionls search '"context deadline exceeded"' --agent claude,codex --since 2w
  sessionls search migration --path . --sort newest
  sessionls search role:user file:store.go not:test
  sessionls search --agent pi --limit 5            # the newest sessions of an agent
  sessionls search retry --json | jq '.hits[].sessionId'`

const showHelp = `Read a session: who said what, with tool calls and their output folded to a line or two. On a
terminal it is shown through $PAGER (less); --no-pager or PAGER=cat does without.

` + sessionHelp + ` A search tells the ids, and the number of the event that matched.`

const sessionHelp = `SESSION is an id, 8 or more characters of its beginning, or either with its agent before it,
such as claude:3b0f7c52.`

const eventsHelp = `List the events of a session, one a line: what each is, when it was, whether the model still sees
it, which tool was called, and how its text begins. An event with several conditions must satisfy
all of them; words after --type, --role, --tool and --surface are alternatives.

` + sessionHelp + `

Into a pipe each event is one line of columns with tabs between them: number, time, surface, role,
type, tool, first line of the text (with --text, the first that has it). With --json the events
come without their text, unless --text is given; "sessionls show --json" and "sessionls export
--format json" have all of it.`

const eventsExamples = `  sessionls events 3b0f7c52
  sessionls events 3b0f7c52 --text 'connection refused' --role tool
  sessionls events 3b0f7c52 --tool Bash --since today
  sessionls events 3b0f7c52 --surface shadowed --from 100 --to 200
  sessionls events 3b0f7c52 --type user/message | cut -f1,7`

const traceHelp = `Tell where a session came from and what came from it: forks, continuations and sub-agents, as a
tree with the session marked. With --event the same of one event: what it was made from, what it
led to, what replaced it when the session was compacted or rewound.

` + sessionHelp + `

Into a pipe each session is one line of columns with tabs between them: depth (0 is the session, -1
its parent), relation, agent:id, when it was begun, title. Each link of an event is one line, too:
replaced-by, replaces, made-from, led-to or inherited-from, and the other event's number.`

const traceExamples = `  sessionls trace 3b0f7c52
  sessionls trace 3b0f7c52 --event 42
  sessionls trace 3b0f7c52 --event id:a81b04c2     # the agent's own id of the event
  sessionls trace 3b0f7c52 --json | jq '.descendants | length'`

const resumeHelp = `Tell how to continue a session: the folder to go to and the command, with what was looked at and
what stands against it. With --exec sessionls goes there itself and becomes the agent; no shell
has a hand in that. It does not when the agent's program, the folder or the transcript is gone.

` + sessionHelp + `

Into a pipe goes the line for the shell alone.`

const resumeExamples = `  sessionls resume 3b0f7c52
  sessionls resume 3b0f7c52 --exec
  sessionls resume 3b0f7c52 --shell powershell
  sessionls resume 3b0f7c52 --json | jq -r '.argv[]'`

const exportHelp = `Write a whole session as Markdown for reading, or as JSON with each event's text and the agent's own
record of it. Without --output it goes to standard output.

With --output the file appears when it is whole; until then, and when it is interrupted, there is
none. It is readable by you alone. A name that ends in .json means --format json.

` + sessionHelp + `

The JSON is {"session": …, "events": […]} with an event on each line. Records of more than 16 MB are left
out of it and say so. Markdown holds no control characters, no HTML and no links of the transcript's.`

const exportExamples = `  sessionls export 3b0f7c52 | less
  sessionls export 3b0f7c52 --output session.md --tools full --thinking
  sessionls export 3b0f7c52 --output session.json
  sessionls export 3b0f7c52 --format json | jq -r '.events[] | select(.role == "user").text'`

const showExamples = `  sessionls show 3b0f7c52
  sessionls show claude:3b0f7c52 --around 42 --limit 20
  sessionls show 3b0f7c52 --full | less
  sessionls show 3b0f7c52 --json | jq -r '.events[].text'`

// operator is one operator of a query.
type operator struct{ name, form, meaning string }

// operators lists them in the order in which they are explained.
func operators() []operator {
	return []operator{
		{"not:", `not:WORD, not:"A PHRASE"`, "sessions without it"},
		{"agent:", "agent:claude", "only this agent"},
		{"repo:", "repo:tidewatch", "part of the last two folders of the session's path"},
		{"path:", "path:work/tide", "part of the session's folder or of the transcript's path"},
		{"branch:", "branch:main", "the Git branch"},
		{"file:", "file:parser.go", "a file that was read or edited"},
		{"role:", "role:user", "who said it: user, assistant, tool, system"},
		{"tool:", "tool:Bash", "which tool was called"},
		{"model:", "model:opus", "which model answered"},
		{"since:", "since:7d since:2026-11-01", "not older; also 12h, 2w, 3m, 1y, today, yesterday"},
		{"until:", "until:2w", "not newer"},
		{"is:", "is:fork", "root, fork, subagent, continuation, active, missing, automated"},
	}
}

// operatorHelp explains how a query is written.
func operatorHelp() string {
	var out strings.Builder
	out.WriteString("In a query\n")
	row := func(form, meaning string) { fmt.Fprintf(&out, "  %-26s %s\n", form, meaning) }
	row("some words", "any order; those with all of them come first")
	row(`"exact phrase"`, "exactly this, in every result")
	for _, op := range operators() {
		row(op.form, op.meaning)
	}
	out.WriteString(`Operators add up: a session must satisfy all of them. Everything else is text, also C++, a:b
and https://x. Without words the newest sessions are listed. A word that is nowhere is taken for a
misspelt one, or looked for inside others, and the answer says so; quoted it stays as it is.
`)
	return out.String()
}

// usageTemplate is cobra's, calmer: commands in groups, then flags, then one hint.
const usageTemplate = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} [command]{{else}}{{.UseLine}}{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}{{end}}
{{- if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) .IsAvailableCommand)}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{- if .HasAvailableInheritedFlags}}

Everywhere:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{- if .HasAvailableSubCommands}}

More: sessionls COMMAND --help, sessionls help query{{end}}
`

// helpCommand is cobra's help with the topic "query".
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [command | query]",
		Short:   "Explain a command, or how to write a query",
		Example: "  sessionls help search\n  sessionls help query",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			out := []string{"query\tHow to write a query"}
			for _, c := range cmd.Root().Commands() {
				if c.IsAvailableCommand() {
					out = append(out, c.Name()+"\t"+c.Short)
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				return root.Help()
			}
			if len(args) == 1 && args[0] == "query" {
				fmt.Fprint(a.out, operatorHelp())
				return nil
			}
			topic, rest, err := root.Find(args)
			if err != nil || topic == nil || topic == root || len(rest) > 0 {
				return usage("all commands: sessionls --help", "there is no help on %q", cleanLine(strings.Join(args, " ")))
			}
			return topic.Help()
		},
	}
}

// welcome is what a person gets who just types the name.
func (a *app) welcome() {
	s := a.screen
	s.line(span{"sessionls", bold}, span{text: " finds the conversations you had with your coding agents."})
	s.say("")
	for _, row := range [][2]string{
		{"sessionls search WORDS", "find sessions (the first time builds the index)"},
		{"sessionls show ID", "read one"},
		{"sessionls status", "what is indexed"},
		{"sessionls doctor", "what is found where, and what is wrong"},
		{"sessionls --help", "everything else"},
	} {
		s.line(span{"  " + pad(row[0], 26), accent}, span{text: row[1]})
	}
	s.say("")
	s.line(span{"Editors start it as a language server: its input is then not a terminal (or `sessionls serve`).", dim})
}
