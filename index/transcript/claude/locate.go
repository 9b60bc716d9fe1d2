package claude

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// toolResults is the folder with outputs that are too long for a transcript.
const toolResults = "tool-results"

// metaExt ends the name of a sub-agent's description.
const metaExt = ".meta.json"

// Concerns implements transcript.Locator: transcripts, what belongs to them,
// and folders, whose names have no dot.
func (*Reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	name := filepath.Base(path)
	return !strings.Contains(name, ".") || strings.HasSuffix(name, ext) || strings.HasSuffix(name, metaExt) ||
		outputsOf(root, path) != "" || transcript.Within(path, root.Path)
}

// outputsOf is the folder of outputs that a path is or lies in, "" if none.
func outputsOf(root transcript.Root, path string) string {
	for dir := path; len(dir) > len(root.Path); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == toolResults {
			return dir
		}
	}
	return ""
}

// Locate implements transcript.Locator. What a transcript is read with lies
// under its own name: <session>/tool-results/ and agent-<id>.meta.json.
func (r *Reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	if dir := outputsOf(root, path); dir != "" {
		path = filepath.Dir(dir) + ext
	} else if stem, ok := strings.CutSuffix(path, metaExt); ok {
		path = stem + ext
	}
	loc, err := transcript.LocateBelow(ctx, r, env, root, path)
	if err != nil || strings.HasSuffix(path, ext) {
		return loc, err
	}
	// The folder of a session's companions is one of them.
	own, err := transcript.LocateBelow(ctx, r, env, root, path+ext)
	loc.Sources = append(loc.Sources, own.Sources...)
	return loc, err
}

// Folders implements transcript.Locator: outputs are written before the record
// that names them, so the transcript's own folder is enough.
func (*Reader) Folders(transcript.Env, transcript.Root, transcript.Source) []string { return nil }
