package vscode

import (
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
)

// apps are the folders of VS Code and of the editors built from it that hold
// chats of the same form (formats.md §1.1).
var apps = []string{
	"Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders",
	"Cursor", "Windsurf", "Windsurf - Next", "Trae", "Kiro", "Positron", "Antigravity",
}

// servers are the folders that these editors keep on a remote machine.
var servers = []string{
	".vscode-server", ".vscode-server-insiders", ".vscode-server-oss", ".vscodium-server",
	".cursor-server", ".windsurf-server", ".windsurf-next-server", ".trae-server", ".kiro-server", ".positron-server", ".antigravity-server",
}

// Kinds of root.
const (
	kindUser  = "user"
	kindExtra = "configured"
)

// userDirs lists the User folders of every editor for a home folder. base is
// where the system keeps settings of applications.
func userDirs(home, base string) []string {
	var dirs []string
	for _, app := range apps {
		dirs = append(dirs, filepath.Join(base, app, "User"))
	}
	for _, s := range servers {
		dirs = append(dirs, filepath.Join(home, s, "data", "User"))
	}
	return dirs
}

// settings is the folder of application settings below a home folder.
func settings(home, goos string) string {
	switch goos {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	case "windows":
		return filepath.Join(home, "AppData", "Roaming")
	}
	return filepath.Join(home, ".config")
}

// base is where the system keeps settings of applications, as far as variables
// say.
func base(env transcript.Env) string {
	switch env.GOOS {
	case "darwin":
	case "windows":
		if dir := env.Var("APPDATA"); dir != "" {
			return dir
		}
	default:
		if dir := env.Var("XDG_CONFIG_HOME"); dir != "" {
			return dir
		}
	}
	return settings(env.Home, env.GOOS)
}

func (reader) Roots(env transcript.Env) []transcript.Root {
	var roots []transcript.Root
	for _, dir := range AllUserDirs(env) {
		roots = append(roots, transcript.Root{Path: dir, Kind: kindUser})
	}
	for _, dir := range env.Extra {
		roots = append(roots, transcript.Root{Path: dir, Kind: kindExtra, Configured: true})
	}
	return roots
}
