package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/reconcile"
	"github.com/sessionls/sessionls/index/store"
)

// Report is what doctor found: what is where, what is wrong, how to mend it.
type Report struct {
	Policy   contract.Policy `json:"policy"`
	Index    IndexReport     `json:"index"`
	Config   ConfigReport    `json:"config"`
	Kept     KeptReport      `json:"kept"`
	Agents   []AgentReport   `json:"agents"`
	Failures []Failure       `json:"failures"`
	// MoreFailures is true when the list was cut.
	MoreFailures bool `json:"moreFailures,omitzero"`
	// Problems are what a person should see to, most important first; none
	// when all is well.
	Problems []Problem       `json:"problems"`
	Versions VersionReport   `json:"versions"`
	Writer   contract.Writer `json:"writer"`
}

// Problem is something wrong and what to do about it.
type Problem struct {
	What string `json:"what"`
	Mend string `json:"mend"`
}

// IndexReport describes the database.
type IndexReport struct {
	Path       string `json:"path"`
	Exists     bool   `json:"exists"`
	Bytes      int64  `json:"bytes"`
	Generation int64  `json:"generation"`
	Identity   string `json:"identity"`
	Sessions   int    `json:"sessions"`
	Events     int64  `json:"events"`
	// Error is why it cannot be used, or what the check found; "" if whole.
	Error string `json:"error,omitzero"`
	// Aside is a database that could not be used and was set aside.
	Aside string `json:"aside,omitzero"`
}

// KeptReport counts sessions whose transcripts cannot be read now, and those that
// the user had forgotten.
type KeptReport struct {
	// Missing are proven gone: the kept copy answers for them.
	Missing int `json:"missing"`
	// Unverifiable lie where nothing can be proven now.
	Unverifiable int `json:"unverifiable"`
	// Forgotten are sessions that stay out of the index.
	Forgotten int `json:"forgotten"`
}

// ConfigReport describes the configuration file.
type ConfigReport struct {
	Path     string   `json:"path"`
	Exists   bool     `json:"exists"`
	Error    string   `json:"error,omitzero"`
	Warnings []string `json:"warnings"`
}

// AgentReport says where an agent's transcripts were looked for.
type AgentReport struct {
	Agent    string        `json:"agent"`
	Label    string        `json:"label"`
	Places   []PlaceReport `json:"places"`
	Sessions int           `json:"sessions"`
	Events   int64         `json:"events"`
	Failed   int           `json:"failed"`
	// Unreadable are transcripts of which not one record can be read, Silent
	// those that can be read and hold no conversation.
	Unreadable FileList `json:"unreadable"`
	Silent     FileList `json:"silent"`
}

// FileList counts files and names the first of them.
type FileList struct {
	Count int      `json:"count"`
	Paths []string `json:"paths"`
}

// maxListed bounds FileList.Paths.
const maxListed = 10

func (l *FileList) add(path string) {
	if l.Count++; len(l.Paths) < maxListed {
		l.Paths = append(l.Paths, path)
	}
}

// PlaceReport is one folder (or database) that was looked into.
type PlaceReport struct {
	Path       string `json:"path"`
	Configured bool   `json:"configured,omitzero"`
	Found      bool   `json:"found"`
	// Sources is how many transcripts are there; nil if they were not counted,
	// for want of consent or because the place could not be read.
	Sources *int `json:"sources"`
	// Reason is why it was not found or could not be read.
	Reason string `json:"reason,omitzero"`
}

// Failure is a transcript that could not be read, or not whole.
type Failure struct {
	Agent   string `json:"agent"`
	Path    string `json:"path"`
	Key     string `json:"key,omitzero"`
	Reason  string `json:"reason"`
	Skipped int    `json:"skipped,omitzero"` // records that could not be read
	HeldOut bool   `json:"heldOut"`          // not tried again until it changes
}

// VersionReport names what the program is made of.
type VersionReport struct {
	Go     string `json:"go"`
	SQLite string `json:"sqlite"`
	System string `json:"system"`
}

// maxFailures bounds Report.Failures.
const maxFailures = 200

// Doctor looks at everything once: the places agents write to (only whether
// they exist, without the user's consent), the index and its integrity, policy,
// configuration and lock. It changes nothing.
func (s *Service) Doctor(ctx context.Context) (Report, error) {
	r := Report{
		Versions: VersionReport{Go: runtime.Version(), SQLite: store.EngineVersion(), System: runtime.GOOS + "/" + runtime.GOARCH},
		Index:    IndexReport{Path: s.paths.Index()}, Config: ConfigReport{Path: s.paths.ConfigFile(), Warnings: []string{}},
		Failures: []Failure{}, Problems: []Problem{},
		Writer: s.writer(s.watch.see()),
	}
	problem := func(mend, format string, args ...any) {
		r.Problems = append(r.Problems, Problem{What: fmt.Sprintf(format, args...), Mend: mend})
	}
	var err error
	if r.Policy, err = s.policy.load(); err != nil {
		problem("run 'sessionls enable' or 'sessionls disable' to write it anew", "%v", err)
	} else if !r.Policy.Allows() {
		problem("run 'sessionls enable'", "searching is not enabled, so nothing is read")
	}
	_, statErr := os.Stat(r.Config.Path)
	r.Config.Exists = statErr == nil
	user, _, warnings, err := loadConfig(r.Config.Path, s.env.Home, s.agentIDs())
	if err != nil {
		r.Config.Error = err.Error()
		problem("correct the file; 'sessionls config' explains every key. Until then nothing is read, since it may exclude what must not be", "%v", err)
	}
	r.Config.Warnings = append(r.Config.Warnings, warnings...)
	for _, w := range warnings {
		problem("correct or remove it", "%s", w)
	}
	forgotten, err := s.tombstones.load()
	if err != nil {
		problem("run 'sessionls clear', which has nothing forgotten any more. Until then nothing is read, since it may name what must not be", "%v", err)
	}
	r.Kept.Forgotten = forgotten.Len()
	barren := map[string]*AgentReport{}
	glance, err := s.doctorIndex(ctx, &r, barren, problem)
	if err != nil {
		return r, err
	}
	if s.env.Home == "" {
		problem("set HOME", "the home folder is not known")
	}
	for _, rd := range s.readers {
		agent := rd.Agent()
		counts := glance.Agents[agent.ID]
		a := AgentReport{Agent: agent.ID, Label: agent.Label, Places: []PlaceReport{}, Sessions: counts.Sessions, Events: counts.Events, Failed: counts.Failed,
			Unreadable: FileList{Paths: []string{}}, Silent: FileList{Paths: []string{}}}
		if b := barren[agent.ID]; b != nil {
			a.Unreadable.Count, a.Silent.Count = b.Unreadable.Count, b.Silent.Count
			a.Unreadable.Paths, a.Silent.Paths = append(a.Unreadable.Paths, b.Unreadable.Paths...), append(a.Silent.Paths, b.Silent.Paths...)
		}
		env := s.env
		env.Extra = user.Roots[agent.ID]
		roots, err := reconcile.Roots(rd, env)
		if err != nil {
			problem("report this as a fault of sessionls", "%v", err)
		}
		for _, root := range roots {
			if err := ctx.Err(); err != nil {
				return r, contract.Aborted(err)
			}
			place := PlaceReport{Path: root.Path, Configured: root.Configured}
			_, err := os.Stat(root.Path)
			place.Found = err == nil
			if err == nil && r.Policy.Allows() && r.Config.Error == "" {
				var n int
				if n, err = reconcile.Count(ctx, rd, env, root); err == nil {
					place.Sources = &n
				}
			}
			switch {
			case errors.Is(err, fs.ErrNotExist):
				place.Reason = "not there"
				if root.Configured {
					problem("correct roots."+agent.ID+" in "+r.Config.Path, "the configured folder %s is not there", root.Path)
				}
			case err != nil:
				place.Reason = firstLine(err.Error())
				problem("see who owns it and whether you may read it", "%s cannot be read: %s", root.Path, place.Reason)
			}
			a.Places = append(a.Places, place)
		}
		r.Agents = append(r.Agents, a)
	}
	return r, nil
}

// doctorIndex looks at the database. In barren it notes the files of each agent
// that hold no session.
func (s *Service) doctorIndex(ctx context.Context, r *Report, barren map[string]*AgentReport, problem func(string, string, ...any)) (store.Glance, error) {
	var none store.Glance
	r.Index.Bytes = store.Bytes(r.Index.Path)
	if aside := store.Aside(r.Index.Path); aside != "" {
		r.Index.Aside = aside
		problem("delete it if you do not want to look into it; 'sessionls clear' does, too", "an index that could not be used was set aside as %s", aside)
	}
	use, release, err := s.handles.acquire(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		if r.Policy.Allows() {
			problem("run 'sessionls index'", "there is no index yet")
		}
		return none, nil
	}
	r.Index.Exists = true
	unusable := func(err error) (store.Glance, error) {
		if ctx.Err() != nil {
			return none, contract.Aborted(ctx.Err())
		}
		r.Index.Error = err.Error()
		problem("run 'sessionls clear' and 'sessionls index'; transcripts are never touched", "the index cannot be used: %v", err)
		return none, nil
	}
	if err != nil {
		return unusable(err)
	}
	defer release()
	glance, err := use.status.Glance(ctx)
	if err == nil {
		err = use.status.Check(ctx)
	}
	if err != nil {
		return unusable(err)
	}
	r.Index.Generation, r.Index.Identity, r.Index.Sessions, r.Index.Events = glance.Generation, glance.Identity, glance.Sessions, glance.Events
	snap, err := use.search.Snapshot(ctx)
	if err != nil {
		return unusable(err)
	}
	troubles, err := snap.Troubles(ctx, maxFailures+1)
	presences, counting := snap.Presences(ctx)
	listing := snap.Barren(ctx, func(b store.Barren) {
		of := barren[b.Agent]
		if of == nil {
			of = &AgentReport{}
			barren[b.Agent] = of
		}
		if b.Unreadable {
			of.Unreadable.add(b.Path)
		} else {
			of.Silent.add(b.Path)
		}
	})
	if err = errors.Join(err, counting, listing, snap.Close()); err != nil {
		return unusable(err)
	}
	r.Kept.Missing, r.Kept.Unverifiable = presences[string(contract.PresenceMissing)], presences[string(contract.PresenceUnverifiable)]
	if len(troubles) > maxFailures {
		troubles, r.MoreFailures = troubles[:maxFailures], true
	}
	for _, t := range troubles {
		r.Failures = append(r.Failures, failureOf(t))
	}
	if glance.Failed > 0 {
		problem("see the reasons under failures; a file is tried again when it changes, and all are with 'sessionls index --full'", "%d transcripts could not be read", glance.Failed)
	}
	return glance, nil
}

func failureOf(t store.Trouble) Failure {
	f := Failure{Agent: t.Agent, Path: t.Path, Key: t.Key, Skipped: t.Bad, HeldOut: t.State == store.StateFailed && t.Fails >= reconcile.MaxFails}
	switch {
	case t.Error != "":
		f.Reason = t.Error
	case t.Partial != "":
		f.Reason = t.Partial
	default:
		f.Reason = fmt.Sprintf("records that could not be read: %d; the others were", t.Bad)
	}
	return f
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
