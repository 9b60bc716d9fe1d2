package gemini

import (
	"context"
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
)

// rootFile names the project in its own folder below tmp.
const rootFile = ".project_root"

// Concerns implements transcript.Locator: chats, what tells the folders of
// projects, and folders.
func (reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	tmp := chatsFolder(root)
	if filepath.Dir(path) == filepath.Dir(tmp) {
		return isMap(path) || path == tmp
	}
	on := transcript.Below(tmp, path)
	return len(on) < 2 || on[1] == "chats" || on[1] == rootFile
}

// isMap reports whether a file in the .gemini folder maps projects.
func isMap(path string) bool {
	name := filepath.Base(path)
	return name == "projects.json" || name == "trustedFolders.json"
}

// Locate implements transcript.Locator. What a map of projects says may be
// about any chat.
func (rd reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	tmp := chatsFolder(root)
	switch {
	case filepath.Dir(path) == filepath.Dir(tmp) && isMap(path), transcript.Within(path, tmp):
		return transcript.Located{}, transcript.ErrUnplaced
	case filepath.Base(path) == rootFile:
		path = filepath.Dir(path)
	}
	return transcript.LocateBelow(ctx, rd, env, root, path)
}

// Folders implements transcript.Locator: the maps lie beside the folder of
// projects.
func (reader) Folders(_ transcript.Env, root transcript.Root, src transcript.Source) []string {
	if src.Path != "" {
		return nil
	}
	return []string{filepath.Dir(chatsFolder(root))}
}
