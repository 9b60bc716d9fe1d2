package opencode

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// Concerns implements transcript.Locator: databases and their logs, and
// whatever lies in the trees.
func (reader) Concerns(_ transcript.Env, root transcript.Root, path string) bool {
	on := transcript.Below(root.Path, path)
	return len(on) == 0 || on[0] == "storage" || on[0] == "project" || databaseOf(on[0]) != ""
}

// databaseOf is the name of the database that a file belongs to, "" if none.
// What a journal held is in the database, too, once it counts.
func databaseOf(name string) string {
	if name = strings.TrimSuffix(name, "-wal"); isDatabase(name) {
		return name
	}
	return ""
}

// Locate implements transcript.Locator. Of a database the sessions of the last
// days are looked at: that is where somebody writes.
func (rd reader) Locate(ctx context.Context, env transcript.Env, root transcript.Root, path string) (transcript.Located, error) {
	on := transcript.Below(root.Path, path)
	if len(on) == 0 {
		return transcript.LocateBelow(ctx, rd, env, root, path)
	}
	if name := databaseOf(on[0]); name != "" && len(on) == 1 {
		return rd.locateDB(ctx, root, filepath.Join(root.Path, name))
	}
	storage := filepath.Join(root.Path, "storage")
	tree := layout{messages: filepath.Join(storage, "message"), parts: filepath.Join(storage, "part")}
	infos := []string{filepath.Join(storage, "session", "*")}
	if on[0] == "project" {
		if len(on) < 5 {
			return transcript.LocateBelow(ctx, rd, env, root, path)
		}
		info := filepath.Join(root.Path, on[0], on[1], "storage", "session", "info")
		tree, infos = layoutOf(filepath.Join(info, "x")), []string{info}
	}
	session := ""
	switch {
	case transcript.Within(path, tree.messages), transcript.Within(path, tree.parts):
		return transcript.Located{}, transcript.ErrUnplaced // all of them
	case transcript.Within(tree.messages, path):
		if below := transcript.Below(tree.messages, path); len(below) > 0 {
			session = below[0]
		}
	case transcript.Within(tree.parts, path):
		session = tree.sessionOfPart(path)
	default:
		return transcript.LocateBelow(ctx, rd, env, root, path)
	}
	if session == "" {
		return transcript.Located{}, nil
	}
	return rd.locateTree(ctx, env, root, infos, session)
}

func (rd reader) locateDB(ctx context.Context, root transcript.Root, path string) (transcript.Located, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return transcript.Located{Scope: path}, err
	}
	var loc transcript.Located
	err = discoverDB(ctx, rd.open, root.Path, path, true, func(s transcript.Source) error {
		loc.Sources = append(loc.Sources, s)
		return nil
	})
	return loc, err
}

// locateTree finds a session's own file in one of the folders.
func (rd reader) locateTree(ctx context.Context, env transcript.Env, root transcript.Root, infos []string, session string) (transcript.Located, error) {
	for _, pattern := range infos {
		dirs := []string{pattern}
		if up, any := strings.CutSuffix(pattern, "*"); any {
			dirs = nil
			entries, err := os.ReadDir(up)
			if err != nil {
				return transcript.Located{}, nil // records without a session
			}
			for _, e := range entries {
				dirs = append(dirs, filepath.Join(up, e.Name()))
			}
		}
		for _, dir := range dirs {
			path := filepath.Join(dir, session+".json")
			if _, err := os.Stat(path); err == nil {
				return transcript.LocateBelow(ctx, rd, env, root, path)
			}
		}
	}
	return transcript.Located{}, nil
}

// sessionOfPart tells the session that a part, or a folder of parts, belongs
// to: by the folder's name, or by what a part says of itself.
func (l layout) sessionOfPart(path string) string {
	below := transcript.Below(l.parts, path)
	if len(below) == 0 {
		return ""
	}
	if l.bySession {
		return below[0]
	}
	folder := filepath.Join(l.parts, below[0])
	names, _ := recordNames(folder)
	for _, name := range names[:min(len(names), maxTold)] {
		v := jsonv.Parse(transcript.ReadSmall(filepath.Join(folder, name+".json"), plainFile))
		if id := v.Get("sessionID").Str(); id != "" && id == filepath.Base(id) {
			return id
		}
	}
	// No part is left that could tell: look for the message.
	sessions, err := os.ReadDir(l.messages)
	if err != nil {
		return ""
	}
	for _, s := range sessions {
		if _, err := os.Stat(filepath.Join(l.messages, s.Name(), below[0]+".json")); err == nil {
			return s.Name()
		}
	}
	return ""
}

// maxTold bounds the parts that are asked for their session.
const maxTold = 4

// Folders implements transcript.Locator: a session of a tree changes in the
// folder of its messages and in that of the newest one's parts.
func (reader) Folders(_ transcript.Env, _ transcript.Root, src transcript.Source) []string {
	if src.Path == "" || src.Key != "" {
		return nil
	}
	l := layoutOf(src.Path)
	messages := filepath.Join(l.messages, src.SessionID)
	folders := []string{messages}
	if names, err := recordNames(messages); err == nil && len(names) > 0 {
		folders = append(folders, l.partDir(src.SessionID, names[len(names)-1]))
	}
	return folders
}
