package cursor

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
)

// isState reports whether a file is a store of the editor or its log. The copy
// that it keeps beside it is neither.
func isState(name string) bool { return strings.TrimSuffix(name, "-wal") == stateFile }

// Concerns implements transcript.Locator: stores and their logs, transcripts, what
// tells folders, and the folders on the way to them.
func (*reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	on := transcript.Below(root.Path, path)
	if len(on) == 0 {
		return true
	}
	switch root.Kind {
	case kindUser:
		return concernsUser(on)
	case kindProjects:
		return len(on) == 1 || on[1] == scriptsFolder || len(on) == 2 && on[1] == trustedFile
	}
	name := on[len(on)-1]
	deep := 2 // chats/<hash>/<id>/store.db
	if root.Kind == kindACP {
		deep = 1
	}
	return len(on) <= deep || len(on) == deep+1 && (strings.TrimSuffix(name, "-wal") == storeFile || name == metaFile)
}

func concernsUser(on []string) bool {
	switch on[0] {
	case globalFolder:
		return len(on) == 1 || len(on) == 2 && isState(on[1])
	case workspaceFolder:
		return len(on) <= 2 || len(on) == 3 && (isState(on[2]) || on[2] == windowFile)
	case profilesFolder:
		return len(on) <= 2 || on[2] != profilesFolder && concernsUser(on[2:])
	}
	return false
}

// Locate implements transcript.Locator. Of a shared store the conversations are
// looked at that its newest rows belong to: that is where somebody writes. What
// tells the folders of windows and projects may be about any conversation.
func (rd *reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	on := transcript.Below(root.Path, path)
	if len(on) == 0 {
		return transcript.Located{}, transcript.ErrUnplaced
	}
	name := on[len(on)-1]
	switch {
	case root.Kind == kindUser && !isState(name), root.Kind == kindProjects && len(on) == 2 && name == trustedFile:
		return transcript.Located{}, transcript.ErrUnplaced
	case root.Kind == kindUser:
		path = strings.TrimSuffix(path, "-wal")
		if filepath.Base(filepath.Dir(path)) != globalFolder {
			return transcript.LocateBelow(ctx, rd, env, root, path)
		}
		return rd.locateShared(ctx, env, root, path)
	case root.Kind == kindChats && name == metaFile:
		// Other chats of the folder learn from it where that is.
		path = filepath.Join(root.Path, on[0])
	case root.Kind == kindACP && name == metaFile:
		path = filepath.Dir(path)
	}
	return transcript.LocateBelow(ctx, rd, env, root, strings.TrimSuffix(path, "-wal"))
}

func (rd *reader) locateShared(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		if absent(err) {
			err = nil
		}
		return transcript.Located{Scope: path}, err
	}
	w := rd.walk(ctx, env, root, nil, func(string, error) {})
	found, err := w.sources(path, "", true)
	return transcript.Located{Sources: found}, err
}

// Folders implements transcript.Locator: the stores are followed before anything
// is in them.
func (*reader) Folders(_ transcript.Env, root transcript.Root, src transcript.Source) []string {
	if src.Path != "" || root.Kind != kindUser {
		return nil
	}
	return []string{filepath.Join(root.Path, globalFolder), filepath.Join(root.Path, workspaceFolder)}
}
