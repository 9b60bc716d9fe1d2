package copilot

import (
	"context"
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
)

// Concerns implements transcript.Locator: logs, the sheets beside them, and
// folders.
func (reader) Concerns(_ transcript.Env, _ transcript.Root, path string) bool {
	switch filepath.Ext(path) {
	case ".jsonl", ".json", ".yaml", "":
		return true
	}
	return false
}

// Locate implements transcript.Locator. A session's folder is looked at whole:
// its log is read together with the sheet beside it.
func (rd reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	if path == workspaceFile(path) {
		path = filepath.Join(filepath.Dir(path), eventsFile)
	}
	return transcript.LocateBelow(ctx, rd, env, root, path)
}

// Folders implements transcript.Locator.
func (reader) Folders(transcript.Env, transcript.Root, transcript.Source) []string { return nil }
