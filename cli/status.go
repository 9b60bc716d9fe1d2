package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/contract"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell what is indexed and what is still due",
		Long: `Tell what is indexed and what is still due. These are the indexer's observations,
not a fresh look at the disk; "sessionls index" takes one.`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.run(func(ctx context.Context, _ []string) error {
		request := map[string]any{"executionHost": a.host}
		return a.withService(ctx, func(service Service) error {
			var status contract.Status
			if done, err := a.answered(ctx, service, "searchStatus", request, &status); done || err != nil {
				return err
			}
			a.showStatus(status)
			return nil
		})
	})
	return a.hostFlag(a.jsonFlag(cmd))
}

// phaseWords says a phase as a sentence.
func phaseWords(p contract.Status) (string, style) {
	switch p.Phase {
	case contract.PhaseIdle:
		switch {
		case !p.Decided:
			return "not decided yet: `sessionls search` or `sessionls enable` turns search on", warn
		case !p.Enabled:
			return "off (`sessionls enable` turns it on)", warn
		}
		return "on", good
	case contract.PhaseCurrent:
		return "current", good
	case contract.PhaseIndexing:
		return "indexing, or something is due", warn
	case contract.PhaseDegraded:
		return "degraded: something could not be read (see below)", warn
	case contract.PhaseClosed:
		return "closed", warn
	}
	return cleanLine(string(p.Phase)), plainStyle
}

func (a *app) showStatus(p contract.Status) {
	s := a.screen
	row := func(name, value string, look style) { s.line(span{pad(name, 12), dim}, span{value, look}) }
	phase, look := phaseWords(p)
	if host := contract.Host(a.host); a.elsewhere() {
		row("host", cleanLine(a.host), bold)
		if !p.Enabled {
			phase = "not switched on there: its user decides, with " + host.Invocation("enable")
		}
	}
	row("search", phase, look)
	if !p.Enabled {
		return
	}
	row("sessions", thousands(int64(p.Sessions)), bold)
	row("events", thousands(p.Events), plainStyle)
	files := count(p.FilesIndexed, "file", "files") + " read"
	if p.FilesDue > 0 {
		files += ", " + thousands(int64(p.FilesDue)) + " due"
	}
	if p.FilesFailed > 0 {
		files += ", " + thousands(int64(p.FilesFailed)) + " failed"
	}
	row("transcripts", files, plainStyle)
	row("index", size(p.IndexBytes)+fmt.Sprintf(", generation %d", p.Generation), plainStyle)
	if p.LastReconcileAt != nil {
		row("looked", s.since(p.LastReconcileAt)+"; at everything: "+s.since(p.LastSweepCompletedAt), plainStyle)
	}
	row("writer", map[contract.Writer]string{
		contract.WriterThis: "this process", contract.WriterOther: "another process", contract.WriterNone: "none running",
	}[p.Writer], plainStyle)
	if g := p.Progress; g != nil {
		row("progress", fmt.Sprintf("%s of %s, %d of %d files", size(g.BytesDone), size(g.BytesTotal), g.FilesDone, g.FilesTotal), plainStyle)
	}

	if len(p.Agents) > 0 {
		s.say("")
		table := [][]string{{"agent", "sessions", "events", "failed", "looked in"}}
		for _, agent := range p.Agents {
			table = append(table, []string{
				cleanLine(agent.Label), thousands(int64(agent.Sessions)), thousands(agent.Events),
				thousands(int64(agent.Failed)), cleanLine(strings.Join(agent.Roots, ", ")),
			})
		}
		s.table(table, []bool{false, true, true, true, false})
	}
	if len(p.Notices) > 0 {
		s.say("")
	}
	for _, notice := range p.Notices {
		s.line(span{"note: ", dim}, span{cleanLine(notice), plainStyle})
	}
	if len(p.DegradedRoots) > 0 || p.FilesFailed > 0 {
		s.say("")
		a.tellTrouble(p)
	}
}

// since is when something happened: as an age on a terminal, as a time elsewhere.
func (s *screen) since(ms *int64) string {
	if ms == nil || s.pretty {
		return agoOrNever(ms, s.now)
	}
	return contract.InstantOf(time.UnixMilli(*ms)).String()
}

// table prints rows under a head, in columns as wide as their widest cell; right
// says which ones stand on the right. The last column is cut at the edge of a
// terminal.
func (s *screen) table(rows [][]string, right []bool) {
	widths := make([]int, len(right))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], textWidth(c))
		}
	}
	for n, row := range rows {
		look := plainStyle
		if n == 0 {
			look = dim
		}
		var out strings.Builder
		for i, c := range row {
			if i > 0 {
				out.WriteString("  ")
			}
			switch {
			case right[i]:
				out.WriteString(strings.Repeat(" ", widths[i]-textWidth(c)) + c)
			case i == len(row)-1:
				if s.pretty {
					c = truncate(c, max(10, s.width-textWidth(out.String())))
				}
				out.WriteString(c)
			default:
				out.WriteString(pad(c, widths[i]))
			}
		}
		s.line(span{strings.TrimRight(out.String(), " "), look})
	}
}
