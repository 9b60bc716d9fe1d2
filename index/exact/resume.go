package exact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/transcript"
)

// Argv is the command line that continues a session, nil if its agent has none,
// or none for a session of that format, or the id could be taken for something
// else than an id.
func (e *Engine) Argv(agent, sessionID, format string) []string {
	if some, ok := e.byAgent[agent].(transcript.Selective); ok && !some.Resumes(format) {
		return nil
	}
	return e.RemoteArgv(agent, sessionID)
}

// RemoteArgv is Argv for a session of another host, which says itself whether it
// is one that can be continued.
func (e *Engine) RemoteArgv(agent, sessionID string) []string {
	rd := e.byAgent[agent]
	if rd == nil || unsafeID(sessionID) {
		return nil
	}
	return rd.ResumeArgs(sessionID)
}

func unsafeID(id string) bool {
	return id == "" || strings.HasPrefix(id, "-") || strings.ContainsFunc(id, unicode.IsControl)
}

// maxForFolder is the size of a transcript beyond which it is not read for the
// last folder alone, in bytes.
const maxForFolder = 128 << 20

// ResumePlan answers resumePlan.
func (e *Engine) ResumePlan(ctx context.Context, request contract.ResumePlanRequest) (contract.ResumePlanResponse, error) {
	var none contract.ResumePlanResponse
	var header contract.Header
	err := e.View(ctx, func(snap *store.Snapshot) error {
		x, err := Resolve(ctx, snap, request.SessionName)
		if err == nil {
			header = Header(x, e.Now())
		}
		return err
	})
	if err != nil {
		return none, err
	}
	p := &plan{e: e, out: contract.ResumePlanResponse{Agent: header.Agent, SessionID: header.SessionID, Cwd: header.Cwd}}
	p.command(header, request.Shell)
	if err := p.folder(ctx, header); err != nil {
		return none, err
	}
	p.look(header)
	return p.out, nil
}

type plan struct {
	e   *Engine
	out contract.ResumePlanResponse
}

func (p *plan) warn(code contract.ResumeWarningCode, format string, args ...any) {
	p.out.Warnings = append(p.out.Warnings, contract.ResumeWarning{Code: code, Message: fmt.Sprintf(format, args...)})
}

func (p *plan) command(h contract.Header, shell contract.Shell) {
	label := h.Agent
	if rd := p.e.byAgent[h.Agent]; rd != nil {
		label = rd.Agent().Label
	}
	p.out.Argv = p.e.Argv(h.Agent, h.SessionID, h.Format)
	switch {
	case unsafeID(h.SessionID):
		p.warn(contract.WarnUnsafeID, "the id of the session could be taken for something else than an id")
		return
	case p.out.Argv == nil:
		p.warn(contract.WarnNoCommand, "%s cannot continue this session from a command line", label)
		return
	}
	line, ok := Quote(shell, p.out.Argv)
	if ok {
		p.out.Command = &line
	} else {
		p.warn(contract.WarnUnsafeShell, "the command cannot be written safely for %s", shell)
	}
	if h.Relation == contract.RelationSubagent {
		p.warn(contract.WarnSubagent, "this is a sub-agent: what is continued may be the session that started it")
	}
	if h.Active {
		p.warn(contract.WarnActive, "the session may be open elsewhere: it was written to a moment ago")
	}
}

// folder is the one where the agent looks for the session, else the last one that
// the session worked in.
func (p *plan) folder(ctx context.Context, h contract.Header) error {
	if p.out.Argv == nil || h.Presence != contract.PresencePresent {
		return nil
	}
	if info, err := os.Stat(h.SourcePath); err != nil || info.Size() > maxForFolder {
		return nil
	}
	err := p.e.with(ctx, contract.SessionName{Agent: h.Agent, SessionID: h.SessionID}, func(l *log) error {
		if l.outline.folder != "" {
			p.out.Cwd = &l.outline.folder
		}
		return nil
	})
	var known *contract.Error
	if err != nil && ctx.Err() == nil && errors.As(err, &known) {
		return nil // a plan can be made without
	}
	return err
}

// look fills in the checks.
func (p *plan) look(h contract.Header) {
	is := func(yes bool) *bool { return &yes }
	there := h.Presence == contract.PresencePresent
	if there {
		_, err := os.Stat(h.SourcePath)
		there = err == nil
	}
	p.out.Checks.Transcript = is(there)
	if cwd := p.out.Cwd; cwd != nil {
		info, err := os.Stat(*cwd)
		p.out.Checks.Directory = is(err == nil && info.IsDir())
	}
	if p.out.Argv == nil {
		return
	}
	_, err := p.e.LookPath(p.out.Argv[0])
	p.out.Checks.Binary = is(err == nil)
	if err != nil {
		p.warn(contract.WarnNoBinary, "%s is not on the PATH", p.out.Argv[0])
	}
	switch d := p.out.Checks.Directory; {
	case d == nil:
		p.warn(contract.WarnNoDirectory, "the folder of the session is not known")
	case !*d:
		p.warn(contract.WarnNoDirectory, "the folder of the session is not there any more: %s", *p.out.Cwd)
	}
	if !there {
		p.warn(contract.WarnNoTranscript, "the transcript is not there: the agent will not find the session")
	}
}
