package vscode

import (
	"path/filepath"

	"github.com/sessionls/sessionls/index/transcript"
)

// What follows is for readers of editors that are built from VS Code, and of its
// extensions, which keep conversations of a form of their own beside its files.

// AllUserDirs are the User folders of VS Code and all editors built from it.
func AllUserDirs(env transcript.Env) []string {
	dirs := userDirs(env.Home, base(env))
	if dir := env.Var("VSCODE_PORTABLE"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "user-data", "User"))
	}
	if env.GOOS == "linux" {
		// The sandboxed packages keep the same tree under their own name.
		for _, dir := range []string{"com.visualstudio.code/config/Code", "com.vscodium.codium/config/VSCodium"} {
			dirs = append(dirs, filepath.Join(env.Home, ".var", "app", filepath.FromSlash(dir), "User"))
		}
	}
	return dirs
}

// UserDirsBelow are those of a home folder that a person named.
func UserDirsBelow(home, goos string) []string { return userDirs(home, settings(home, goos)) }

// UserDirs are the User folders of an editor on this machine: where the system
// keeps settings of applications, and in the folder of its server for
// connections from other machines.
func UserDirs(env transcript.Env, app, server string) []string {
	return []string{filepath.Join(base(env), app, "User"), filepath.Join(env.Home, server, "data", "User")}
}

// Window tells the folders that a window was opened on, from what lies in dir,
// its folder below workspaceStorage; remote is the address of one on another machine.
func Window(dir string) (folders []string, remote string) {
	h := workspaceHint(dir)
	return h.Folders, h.Remote
}

// LocalPath turns the address of a file into a path as the system writes it; local
// is false for one on another machine.
func LocalPath(uri string) (path string, local bool) { return localPath(uri) }
