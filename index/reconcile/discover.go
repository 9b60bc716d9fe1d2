package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// found is a source that is there.
type found struct {
	transcript.Source
	*agent
	known *known
	group []*found // the copies of its session, itself included; nil if alone
	tried bool     // read in this pass, or about to be
}

// agent is a reader and the machine as it sees it.
type agent struct {
	reader transcript.Reader
	env    transcript.Env
}

// Roots are the places where a reader looks. Without a home folder some would
// be relative to wherever the process was started; those are left out. The
// error is a reader's panic.
func Roots(rd transcript.Reader, env transcript.Env) (roots []transcript.Root, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("looking for the folders of %s ended unexpectedly: %v", rd.Agent().Label, r)
		}
	}()
	return slices.DeleteFunc(rd.Roots(env), func(r transcript.Root) bool { return !filepath.IsAbs(r.Path) }), nil
}

// place is a root while the pass looks at it.
type place struct {
	Root
	trouble     []trouble
	moreTrouble bool // than is kept
}

// maxTrouble bounds what is kept of a root's trouble.
const maxTrouble = 1000

// trouble is a folder or file below a root that could not be looked at.
type trouble struct {
	path string
	err  error
}

// discover lists the sources of all agents.
func (p *pass) discover(ctx context.Context) error {
	for _, rd := range p.cfg.Readers {
		if err := p.discoverAgent(ctx, rd); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) discoverAgent(ctx context.Context, rd transcript.Reader) error {
	id := rd.Agent().ID
	a := &agent{reader: rd, env: p.cfg.Env}
	a.env.Extra = p.cfg.Roots[id]
	roots, err := Roots(rd, a.env)
	if err != nil {
		p.cfg.Log.Error().Err(err).Msg("a reader panicked")
		p.degrade(rd.Agent().Label, err.Error())
		return nil // what is known of the agent stays as it is
	}
	p.result.Agents = append(p.result.Agents, id)
	seen := map[sourceKey]bool{}
	ids := newFileIDs(thereAre(roots) > 1)
	for _, root := range roots {
		pl := &place{Root: Root{Root: root, Agent: id}}
		p.places = append(p.places, pl)
		err := walk(ctx, rd, a.env, root, func(s transcript.Source) error {
			pl.Sources++
			k := keyOf(&s)
			if seen[k] || !ids.first(&s) {
				return nil
			}
			seen[k] = true
			p.sources = append(p.sources, &found{Source: s, agent: a})
			return nil
		}, func(path string, err error) {
			if pl.moreTrouble = pl.moreTrouble || len(pl.trouble) == maxTrouble; !pl.moreTrouble {
				pl.trouble = append(pl.trouble, trouble{path, err})
			}
			p.cfg.Log.Debug().Err(err).Str("agent", id).Str("path", path).Msg("a folder could not be looked at")
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.cfg.Log.Debug().Err(err).Str("agent", id).Str("root", root.Path).Msg("a root could not be listed")
		}
		pl.Err = err
	}
	return nil
}

// walk is Discover with a panic turned into an error: one agent's surprise must
// not keep the others from being found.
func walk(ctx context.Context, rd transcript.Reader, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("looking for sessions ended unexpectedly: %v\n%s", r, debug.Stack())
		}
	}()
	return rd.Discover(ctx, env, root, yield, report)
}

// Count counts the sources below a root.
func Count(ctx context.Context, rd transcript.Reader, env transcript.Env, root transcript.Root) (int, error) {
	n := 0
	err := walk(ctx, rd, env, root, func(transcript.Source) error { n++; return nil }, func(string, error) {})
	return n, err
}

// thereAre counts the roots that exist, or may.
func thereAre(roots []transcript.Root) (n int) {
	for _, root := range roots {
		if _, err := os.Stat(root.Path); !errors.Is(err, fs.ErrNotExist) {
			n++
		}
	}
	return n
}

// fileIDs finds files that are met under two roots. Readers take care of it
// within one root, so an agent with one root costs nothing.
type fileIDs struct {
	seen  map[string]string // file id and key to path
	paths map[string]string // path to file id
}

func newFileIDs(needed bool) *fileIDs {
	if !needed {
		return &fileIDs{}
	}
	return &fileIDs{seen: map[string]string{}, paths: map[string]string{}}
}

func (f *fileIDs) first(s *transcript.Source) bool {
	if f.seen == nil {
		return true
	}
	id, ok := f.paths[s.Path]
	if !ok {
		if info, err := os.Stat(s.Path); err == nil {
			id = transcript.FileID(info)
		}
		f.paths[s.Path] = id
	}
	if id == "" {
		return true
	}
	id += "\x00" + s.Key
	if other, ok := f.seen[id]; ok && other != s.Path {
		return false
	}
	f.seen[id] = s.Path
	return true
}

// placesOf are the roots of an agent at a path: one folder may be a root of
// several kinds.
func (p *pass) placesOf(agent, path string) []*place {
	var out []*place
	for _, pl := range p.places {
		if pl.Agent == agent && pl.Path == path {
			out = append(out, pl)
		}
	}
	return out
}

// The presences of contract.md §1, as the store keeps them.
const (
	present      = "present"
	missing      = "missing"
	unverifiable = "unverifiable"
)

// elsewhere reports whether a source lies where nothing was looked for in this
// pass, because its root is not configured any more or could not be named, and
// that root is still there: nothing is to be changed about it. Nothing below
// such a root is touched: it may be on a disk that does not answer.
func (p *pass) elsewhere(k *known) bool {
	if len(p.placesOf(k.agent, k.root)) > 0 {
		return false
	}
	there, ok := p.strange[k.root]
	if !ok {
		_, err := os.Lstat(k.root)
		there = err == nil
		p.strange[k.root] = there
	}
	return there
}

// presenceOf judges a known source that was not found; why explains what is
// unverifiable although its root could be listed. before is how many sources
// the root had.
//
// Gone is proven by a folder that can be listed and does not hold it. When the
// folder is gone, too, the nearest one above that is there must hold something
// else: an empty one may be where a disk is not mounted, and so may be a link
// to nothing.
func (p *pass) presenceOf(k *known, before int) (presence, why string) {
	places := p.placesOf(k.agent, k.root)
	if len(places) == 0 {
		return unverifiable, ""
	}
	others := 0
	for _, pl := range places {
		if pl.Err != nil || pl.moreTrouble {
			return unverifiable, ""
		}
		for _, t := range pl.trouble {
			if covers(t.path, k.path) {
				return unverifiable, ""
			}
		}
		others += pl.Sources
	}
	_, statErr := os.Stat(k.path)
	switch {
	case statErr == nil && k.key == "":
		return present, "" // it holds nothing to read now
	case statErr == nil:
		return missing, "" // deleted inside the shared store
	case !errors.Is(statErr, fs.ErrNotExist):
		return unverifiable, firstLine(statErr.Error())
	case isLink(k.path):
		return unverifiable, k.path + " is a link to nothing"
	}
	below, folder := k.path, filepath.Dir(k.path)
	for folder != filepath.Dir(folder) {
		if _, err := os.Stat(folder); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return unverifiable, firstLine(err.Error())
		}
		below, folder = folder, filepath.Dir(folder)
	}
	direct := below == k.path
	switch {
	case isLink(below):
		return unverifiable, below + " is a link to nothing"
	case folder == k.root && others == 0 && (!direct || before >= suddenly):
		if !p.emptied(k.agent, k.root) {
			return unverifiable, k.root + " is suddenly empty"
		}
	case !direct && isEmpty(folder):
		return unverifiable, below + " is not there"
	}
	return missing, ""
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// isEmpty reports whether a folder holds nothing, or cannot be listed.
func isEmpty(folder string) bool {
	f, err := os.Open(folder)
	if err != nil {
		return true
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	return err != nil || len(names) == 0
}

func covers(folder, path string) bool {
	return folder == path || strings.HasPrefix(path, strings.TrimRight(folder, `/\`)+string(filepath.Separator))
}

// reportRoots fills in the observations about roots once it is known what they
// held before.
func (p *pass) reportRoots(before map[[2]string]int, doubts map[[2]string]doubt) {
	for _, pl := range p.places {
		p.result.Roots = append(p.result.Roots, pl.Root)
		at := [2]string{pl.Agent, pl.Path}
		switch {
		case pl.Err != nil:
			gone := errors.Is(pl.Err, fs.ErrNotExist)
			if gone && before[at] == 0 && !pl.Configured {
				continue // that agent is not used here
			}
			reason := firstLine(pl.Err.Error())
			if n := before[at]; n > 0 {
				reason += fmt.Sprintf("; what was read from %s there before is kept", plural(n, "transcript"))
			}
			p.degrade(pl.Path, reason)
		case doubts[at].sources > 0:
			d := doubts[at]
			p.degrade(pl.Path, fmt.Sprintf("%s; what was read from %s below it before is kept", d.why, plural(d.sources, "transcript")))
		}
		for _, t := range pl.trouble {
			p.degrade(t.path, firstLine(t.err.Error()))
		}
	}
}

// doubt is what cannot be verified below a root that could be listed.
type doubt struct {
	sources int
	why     string // of one of them
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
