package cline

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/vscode"
)

// Kinds of root.
const (
	kindSessions = "sessions" // a folder of sessions
	kindStorage  = "storage"  // what an extension, or a host of it, keeps
	kindUser     = "user"     // a User folder of an editor
)

// extensions are the names of the folders in which editors keep what is
// Cline's: those of the extension and of its nightly releases.
var extensions = []string{"saoudrizwan.claude-dev", "saoudrizwan.cline-nightly"}

func isExtension(name string) bool {
	for _, e := range extensions {
		if strings.EqualFold(name, e) {
			return true
		}
	}
	return false
}

// Roots lists the folder of sessions, which three variables move, the tasks beside
// it, and the User folders of VS Code and the editors built from it.
func (*reader) Roots(env transcript.Env) []transcript.Root {
	var roots []transcript.Root
	data := env.Var("CLINE_DATA_DIR")
	if dir := env.Var("CLINE_DIR"); data == "" && dir != "" {
		data = filepath.Join(dir, "data")
	}
	if data == "" && env.Home != "" {
		data = filepath.Join(env.Home, ".cline", "data")
	}
	sessions := env.Var("CLINE_SESSION_DATA_DIR")
	if sessions == "" && data != "" {
		sessions = filepath.Join(data, "sessions")
	}
	if sessions != "" {
		roots = append(roots, transcript.Root{Path: sessions, Kind: kindSessions})
	}
	if data != "" {
		roots = append(roots, transcript.Root{Path: data, Kind: kindStorage})
	}
	for _, dir := range vscode.AllUserDirs(env) {
		roots = append(roots, transcript.Root{Path: dir, Kind: kindUser})
	}
	for _, dir := range env.Extra {
		roots = append(roots, configured(dir, env.GOOS)...)
	}
	return roots
}

// configured makes roots of a folder that a person named: a home folder, .cline or
// its data folder, a folder of sessions or tasks, the storage of the extension, or
// an editor's data or User folder. Only what is there counts, so that nobody is
// told that half of it is missing.
func configured(dir, goos string) []transcript.Root {
	var candidates []transcript.Root
	add := func(kind string, paths ...string) {
		for _, p := range paths {
			candidates = append(candidates, transcript.Root{Path: p, Kind: kind})
		}
	}
	for _, data := range []string{filepath.Join(dir, ".cline", "data"), filepath.Join(dir, "data"), dir} {
		if isDir(filepath.Join(data, "sessions")) {
			add(kindSessions, filepath.Join(data, "sessions"))
		}
		if isDir(filepath.Join(data, tasksFolder)) {
			add(kindStorage, data)
		}
	}
	for _, user := range append(vscode.UserDirsBelow(dir, goos), filepath.Join(dir, "User"), filepath.Join(dir, "data", "User"), dir) {
		if isDir(filepath.Join(user, storageFolder)) || isDir(filepath.Join(user, profilesFolder)) {
			add(kindUser, user)
		}
	}
	if filepath.Base(dir) == tasksFolder {
		add(kindStorage, filepath.Dir(dir))
	}
	var roots []transcript.Root
	for _, r := range candidates {
		if isDir(r.Path) {
			r.Configured = true
			roots = append(roots, r)
		}
	}
	if len(roots) > 0 {
		return roots
	}
	return []transcript.Root{{Path: dir, Kind: kindSessions, Configured: true}}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
