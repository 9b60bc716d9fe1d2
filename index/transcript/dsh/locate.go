package dsh

import (
	"context"
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
)

// Concerns implements transcript.Locator: logs, and whatever may be a folder.
func (reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	return len(transcript.Below(root.Path, path)) <= 2 || logName.MatchString(filepath.Base(path))
}

// Locate implements transcript.Locator. The scope is the session's folder: a
// log of a newer generation ends those of older ones.
func (rd reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	if on := transcript.Below(root.Path, path); len(on) > 2 {
		path = filepath.Join(root.Path, on[0], on[1])
	}
	return transcript.LocateBelow(ctx, rd, env, root, path)
}

// Folders implements transcript.Locator.
func (reader) Folders(transcript.Env, transcript.Root, transcript.Source) []string { return nil }
