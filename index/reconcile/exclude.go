package reconcile

import (
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sessionls/sessionls/contract"
)

// Excluder tells which transcripts stay out of the index, by globs of their
// path or of a folder the session worked in. A pattern that matches a folder
// matches everything below it. "*" stays within a segment, "**" does not.
// Spellings of one Windows folder (contract.PathKey) are one folder, in any
// case of letters.
type Excluder struct {
	patterns []string
	keys     []string // the same in lower case, for the keys of Windows paths
	foreign  []string // those of keys that are Windows paths themselves
	mark     string
}

// NewExcluder reads the patterns. "~" stands for home; a pattern that does not
// begin at a root may begin in any folder. No patterns give nil, which excludes
// nothing.
func NewExcluder(home string, patterns []string) (*Excluder, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	e := &Excluder{}
	sum := fnv.New64a()
	for _, p := range patterns {
		glob := p
		if rest, ok := strings.CutPrefix(strings.ReplaceAll(p, `\`, "/"), "~"); ok && (rest == "" || rest[0] == '/') {
			if home == "" {
				return nil, fmt.Errorf("exclude: %q: the home folder is not known", p)
			}
			glob = strings.TrimRight(home, `/\`) + rest
		}
		slashed := strings.TrimRight(strings.ReplaceAll(glob, `\`, "/"), "/")
		anchored := strings.HasPrefix(slashed, "/") || hasDrive(slashed)
		if !anchored && !strings.HasPrefix(slashed, "**") {
			slashed = "**/" + slashed
		}
		if strings.TrimLeft(p, `/\*`) == "" || !doublestar.ValidatePattern(slashed) {
			return nil, fmt.Errorf("exclude: %q is no usable glob", p)
		}
		e.patterns = append(e.patterns, slashed)
		key := slashed
		if anchored {
			key = flat(contract.PathKey(glob))
		}
		if low := strings.ToLower(key); doublestar.ValidatePattern(low) {
			e.keys = append(e.keys, low)
			if key != slashed {
				e.foreign = append(e.foreign, low)
			}
		}
		sum.Write([]byte(slashed + "\n"))
	}
	e.mark = fmt.Sprintf("%s%x", excludedMark, sum.Sum64())
	return e, nil
}

func hasDrive(s string) bool { return len(s) >= 2 && s[1] == ':' }

// excludedMark begins the note on a source that was left out because of the
// folder its session ran in. The rest names the set of patterns, so that
// another set has it looked at again.
const excludedMark = "excluded by the configuration "

func (e *Excluder) note() string {
	if e == nil {
		return ""
	}
	return e.mark
}

// Match reports whether a path, or a folder it lies in, is excluded.
func (e *Excluder) Match(name string) bool {
	if e == nil || name == "" {
		return false
	}
	slashed := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if matchUp(e.patterns, slashed) {
		return true
	}
	key := path.Clean(flat(contract.PathKey(name)))
	keys := e.keys
	if key == slashed {
		keys = e.foreign // a POSIX path: its letters count
	}
	return len(keys) > 0 && matchUp(keys, strings.ToLower(key))
}

// MatchAny reports whether one of the folders is excluded.
func (e *Excluder) MatchAny(folder string, more []string) bool {
	return e != nil && (e.Match(folder) || slices.ContainsFunc(more, e.Match))
}

// flat gives the key of a share a root that a path can be cleaned to.
func flat(key string) string {
	if rest, ok := strings.CutPrefix(key, "//"); ok {
		return "/unc:/" + rest
	}
	return key
}

func matchUp(patterns []string, name string) bool {
	for {
		for _, p := range patterns {
			if doublestar.MatchUnvalidated(p, name) {
				return true
			}
		}
		up := path.Dir(name)
		if up == name || up == "." {
			return false
		}
		name = up
	}
}
