package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sessionls/sessionls/index/transcript"
)

// Find looks for a known source on disk, as it is now. An error that wraps
// fs.ErrNotExist says that it is not there, or in no folder that is looked into.
func Find(ctx context.Context, rd transcript.Reader, env transcript.Env, known transcript.Source) (transcript.Source, error) {
	var trouble error
	for _, p := range placesFor(rd, env) {
		if !transcript.Within(p.Root.Path, known.Path) {
			continue
		}
		src, err := p.find(ctx, known)
		switch {
		case err == nil:
			return src, nil
		case ctx.Err() != nil:
			return src, ctx.Err()
		case !errors.Is(err, fs.ErrNotExist):
			trouble = errors.Join(trouble, err)
		}
	}
	if trouble != nil {
		return transcript.Source{}, fmt.Errorf("look for %s: %w", known.Path, trouble)
	}
	return transcript.Source{}, fmt.Errorf("look for %s: %w", known.Path, fs.ErrNotExist)
}

// find looks for a source below the place's root.
func (p Place) find(ctx context.Context, known transcript.Source) (found transcript.Source, err error) {
	same := func(s transcript.Source) bool { return s.Path == known.Path && s.Key == known.Key }
	t := &target{agent: &agent{reader: p.Reader, env: p.Env}}
	t.locator, _ = p.Reader.(transcript.Locator)
	loc, err := t.ask(ctx, p.Root, known.Path)
	if err == nil {
		for _, s := range loc.Sources {
			if same(s) {
				return s, nil
			}
		}
		return found, fs.ErrNotExist
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("looking for a transcript ended unexpectedly: %v", r)
		}
	}()
	root, there := p.Root, false
	root.Only = known.Path
	err = p.Reader.Discover(ctx, p.Env, root, func(s transcript.Source) error {
		if same(s) {
			found, there = s, true
		}
		return nil
	}, func(string, error) {})
	if err == nil && !there {
		err = fs.ErrNotExist
	}
	return found, err
}
