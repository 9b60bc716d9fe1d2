package pi

import (
	"context"
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
)

// Concerns implements transcript.Locator: transcripts, and folders.
func (Reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	return filepath.Ext(path) == ".jsonl" || len(transcript.Below(root.Path, path)) < depth
}

// Locate implements transcript.Locator.
func (rd Reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	return transcript.LocateBelow(ctx, rd, env, root, path)
}

// Folders implements transcript.Locator: a session is one file.
func (Reader) Folders(transcript.Env, transcript.Root, transcript.Source) []string { return nil }
