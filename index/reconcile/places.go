package reconcile

import (
	"path/filepath"
	"slices"

	"github.com/sessionls/sessionls/index/transcript"
)

// Place is a root with its reader, for watching it.
type Place struct {
	Reader transcript.Reader
	Env    transcript.Env
	Root   transcript.Root

	near []string // folders elsewhere in which changes show
}

// Places lists the roots of all agents as a pass with this configuration looks
// into them.
func Places(cfg Config) []Place {
	var out []Place
	for _, rd := range cfg.Readers {
		env := cfg.Env
		env.Extra = cfg.Roots[rd.Agent().ID]
		out = append(out, placesFor(rd, env)...)
	}
	return out
}

func placesFor(rd transcript.Reader, env transcript.Env) []Place {
	roots, _ := Roots(rd, env) // a reader's panic shows in the sweeps
	out := make([]Place, len(roots))
	for i, root := range roots {
		out[i] = Place{Reader: rd, Env: env, Root: root}
		out[i].near = out[i].Folders(transcript.Source{})
	}
	return out
}

// Concerns reports whether a change at path may be of interest here, as far as
// names tell: it lies below the root, is a folder above it, or lies in one of
// the folders that the reader names besides.
func (p Place) Concerns(path string) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = true // the pass finds out
		}
	}()
	below := transcript.Within(p.Root.Path, path)
	if !below && transcript.Within(path, p.Root.Path) {
		return true
	}
	l, ok := p.Reader.(transcript.Locator)
	if !ok {
		return below
	}
	return (below || slices.Contains(p.near, filepath.Dir(path))) && l.Concerns(p.Env, p.Root, path)
}

// Folders names the folders besides the one a source lies in, and those between
// it and the root, in which changes of it show; of the zero source those of the
// root.
func (p Place) Folders(src transcript.Source) (folders []string) {
	defer func() {
		if recover() != nil {
			folders = nil // only less is watched
		}
	}()
	if l, ok := p.Reader.(transcript.Locator); ok {
		return l.Folders(p.Env, p.Root, src)
	}
	return nil
}
