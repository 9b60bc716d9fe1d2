package vscode

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// workspaceFile tells the folder of a window.
const workspaceFile = "workspace.json"

// chatExtension is the folder of the Copilot extension, in whatever case.
const chatExtension = "GitHub.copilot-chat"

// Concerns implements transcript.Locator: chats, the files that tell a
// window's folder, and folders. The store beside them changes with every
// keystroke in an editor and concerns nothing.
func (reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case ".json", ".jsonl", "":
		return true
	}
	return strings.EqualFold(name, chatExtension) || transcript.Within(path, root.Path)
}

// Locate implements transcript.Locator.
func (rd reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	if filepath.Base(path) == workspaceFile {
		path = filepath.Dir(path)
	}
	return transcript.LocateBelow(ctx, rd, env, root, path)
}

// Folders implements transcript.Locator.
func (reader) Folders(transcript.Env, transcript.Root, transcript.Source) []string { return nil }
