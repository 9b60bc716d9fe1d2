package reconcile

import (
	"fmt"
	"hash/fnv"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Excluder tells which transcripts stay out of the index, by globs of their
// path or of the session's working directory. A pattern that matches a folder
// matches everything below it. "*" stays within a segment, "**" does not.
type Excluder struct {
	patterns []string
	mark     string
}

// NewExcluder reads the patterns. "~/" stands for home; a pattern that does not
// begin at a root may begin in any folder. No patterns give nil, which excludes
// nothing.
func NewExcluder(home string, patterns []string) (*Excluder, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	e := &Excluder{}
	sum := fnv.New64a()
	for _, p := range patterns {
		glob := strings.TrimRight(strings.ReplaceAll(p, `\`, "/"), "/")
		if rest, ok := strings.CutPrefix(glob, "~/"); ok {
			glob = strings.TrimRight(strings.ReplaceAll(home, `\`, "/"), "/") + "/" + rest
		}
		if !strings.HasPrefix(glob, "/") && !strings.HasPrefix(glob, "**") && !hasDrive(glob) {
			glob = "**/" + glob
		}
		if strings.TrimLeft(p, "/*") == "" || !doublestar.ValidatePattern(glob) {
			return nil, fmt.Errorf("exclude: %q is no usable glob", p)
		}
		e.patterns = append(e.patterns, glob)
		sum.Write([]byte(glob + "\n"))
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
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	for {
		for _, p := range e.patterns {
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
