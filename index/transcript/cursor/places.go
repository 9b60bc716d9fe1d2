package cursor

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/vscode"
)

// Kinds of root.
const (
	kindUser     = "user"     // a User folder of the editor
	kindProjects = "projects" // transcripts by project
	kindChats    = "chats"    // stores by the hash of a folder
	kindACP      = "acp"      // stores of sessions that another editor started
)

// Folders and files below the roots.
const (
	globalFolder    = "globalStorage"
	workspaceFolder = "workspaceStorage"
	profilesFolder  = "profiles"
	windowFile      = "workspace.json"
	stateFile       = "state.vscdb"
	scriptsFolder   = "agent-transcripts"
	trustedFile     = ".workspace-trusted"
	storeFile       = "store.db"
	metaFile        = "meta.json"
)

// app and server are the folders of the editor, on this machine and for
// connections from others.
const (
	app    = "Cursor"
	server = ".cursor-server"
)

// Roots lists the User folders of the editor and the folders of the command line
// tool. The variables move what the tool writes; what the editor's agent writes
// stays in ~/.cursor, so that one is always looked into.
func (*reader) Roots(env transcript.Env) []transcript.Root {
	var roots []transcript.Root
	for _, dir := range vscode.UserDirs(env, app, server) {
		roots = append(roots, transcript.Root{Path: dir, Kind: kindUser})
	}
	var data []string
	for _, name := range []string{"CURSOR_DATA_DIR", "CURSOR_CONFIG_DIR"} {
		data = append(data, env.Var(name))
	}
	if env.GOOS != "darwin" && env.GOOS != "windows" {
		if dir := env.Var("XDG_CONFIG_HOME"); dir != "" {
			data = append(data, filepath.Join(dir, "cursor"))
		}
	}
	if env.Home != "" {
		data = append(data, filepath.Join(env.Home, ".cursor"))
	}
	for i, dir := range data {
		if dir != "" && !slices.Contains(data[:i], dir) {
			roots = append(roots, dataRoots(dir, false)...)
		}
	}
	for _, dir := range env.Extra {
		roots = append(roots, configured(dir)...)
	}
	return roots
}

// dataRoots are the folders in a data folder of the command line tool.
func dataRoots(dir string, named bool) []transcript.Root {
	return []transcript.Root{
		{Path: filepath.Join(dir, "projects"), Kind: kindProjects, Configured: named},
		{Path: filepath.Join(dir, "chats"), Kind: kindChats, Configured: named},
		{Path: filepath.Join(dir, "acp-sessions"), Kind: kindACP, Configured: named},
	}
}

// configured makes roots of a folder that a person named: a home folder, a data
// folder of the tool or of the editor, its User folder, or one of those that the
// others hold. Only what is there counts, so that nobody is told that half of it
// is missing.
func configured(dir string) []transcript.Root {
	candidates := []transcript.Root{
		{Path: filepath.Join(dir, "User"), Kind: kindUser},
		{Path: filepath.Join(dir, "data", "User"), Kind: kindUser},
		{Path: filepath.Join(dir, server, "data", "User"), Kind: kindUser},
	}
	for _, base := range []string{".config", filepath.Join("Library", "Application Support"), filepath.Join("AppData", "Roaming")} {
		candidates = append(candidates, transcript.Root{Path: filepath.Join(dir, base, app, "User"), Kind: kindUser})
	}
	candidates = append(candidates, dataRoots(dir, true)...)
	candidates = append(candidates, dataRoots(filepath.Join(dir, ".cursor"), true)...)
	for _, sub := range []string{globalFolder, workspaceFolder} {
		if isDir(filepath.Join(dir, sub)) {
			candidates = append(candidates, transcript.Root{Path: dir, Kind: kindUser})
			break
		}
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
	kind := kindProjects
	switch filepath.Base(dir) {
	case "chats":
		kind = kindChats
	case "acp-sessions":
		kind = kindACP
	case "User":
		kind = kindUser
	}
	return []transcript.Root{{Path: dir, Kind: kind, Configured: true}}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
