package claude

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf16"
)

// place is what a transcript's path says about it.
type place struct {
	path string
	stem string // file name without .jsonl
	// session is the main session's id as the path gives it: the uuid in the
	// file's own name, or for a sub-agent the folder that holds subagents/.
	// "" when only the records know.
	session string
	// agent is the sub-agent's id, "" for a main file.
	agent string
	// parentAgent is the sub-agent in whose own folder this one lies, "" mostly.
	parentAgent string
	// nested tells <session>/subagents/ from the layout of 2.0, where
	// agent-*.jsonl lies beside the main files.
	nested bool
	// copied marks a name with something after the uuid ("… 2.jsonl", a
	// synchronised folder's conflicted copy).
	copied bool
}

const (
	ext         = ".jsonl"
	agentPrefix = "agent-"
	subagents   = "subagents"
)

var uuidName = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

func placeOf(path string) place {
	p := place{path: path, stem: strings.TrimSuffix(filepath.Base(path), ext)}
	dir := filepath.ToSlash(filepath.Dir(path))
	if id, ok := strings.CutPrefix(p.stem, agentPrefix); ok && id != "" {
		p.agent = id
		i := strings.Index(dir+"/", "/"+subagents+"/")
		if i < 0 {
			return p
		}
		p.nested = true
		p.session = dir[strings.LastIndexByte(dir[:i], '/')+1 : i]
		for _, part := range strings.Split(dir[i:], "/") {
			if id, ok := strings.CutPrefix(part, agentPrefix); ok {
				p.parentAgent = id
			}
		}
		return p
	}
	if id := uuidName.FindString(p.stem); id != "" {
		p.session = id
		p.copied = len(p.stem) > len(id)
	}
	return p
}

// class prefers the current layout over the older one, and a file under its
// own name over a copy (formats.md §33).
func (p place) class() int {
	if p.agent != "" && !p.nested || p.copied {
		return 0
	}
	return 1
}

// sessionDir is the folder with a session's companions (tool-results/).
func (p place) sessionDir() string {
	if p.agent == "" {
		return strings.TrimSuffix(p.path, ext)
	}
	if !p.nested {
		return ""
	}
	dir := filepath.ToSlash(filepath.Dir(p.path))
	i := strings.Index(dir+"/", "/"+subagents+"/")
	return filepath.FromSlash(dir[:i])
}

// projectDir is the project folder that the transcript lies in.
func (p place) projectDir() string {
	if dir := p.sessionDir(); p.nested && dir != "" {
		return filepath.Dir(dir)
	}
	return filepath.Dir(p.path)
}

// maxProject is the length up to which a project folder's name is the whole path;
// what follows in longer ones differs between versions.
const maxProject = 200

// namesProject reports whether a folder gives a project folder its name: each
// UTF-16 unit that is no ASCII letter or digit becomes a dash (formats.md §3).
func namesProject(dir, name string) bool {
	if dir == "" {
		return false
	}
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(dir)) {
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	// A drive's letter is written in either case.
	if made := b.String(); len(made) > maxProject {
		return len(name) > maxProject && strings.EqualFold(name[:maxProject+1], made[:maxProject]+"-")
	}
	return strings.EqualFold(name, b.String())
}

// mainFile is the transcript of the session that a sub-agent belongs to.
func (p place) mainFile(session string) string {
	if dir := p.sessionDir(); p.nested && dir != "" {
		return dir + ext
	}
	return filepath.Join(filepath.Dir(p.path), session+ext)
}

// metaFile holds a sub-agent's description and depth.
func (p place) metaFile() string { return strings.TrimSuffix(p.path, ext) + metaExt }

// agentSession is the id of a sub-agent's session (lineage.md, head).
func agentSession(session, agent string) string { return session + "#" + agentPrefix + agent }

// mainSession strips what agentSession added.
func mainSession(id string) string {
	main, _, _ := strings.Cut(id, "#"+agentPrefix)
	return main
}
