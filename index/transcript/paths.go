package transcript

import (
	"path/filepath"
	"strings"
)

// isAbs also accepts Windows spellings on other systems: transcripts and
// overrides travel between WSL, Git Bash and Windows.
func isAbs(p string) bool {
	return filepath.IsAbs(p) || windowsAbs(p)
}

func windowsAbs(p string) bool {
	if strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') &&
		(p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z')
}

// Absolute joins a path from a tool call with the folder the call ran in. The
// file system is not asked; a path that cannot be made absolute is returned as
// it stands.
func Absolute(cwd, path string) string {
	if path == "" || cwd == "" || isAbs(path) || strings.HasPrefix(path, "~") || strings.Contains(path, "://") {
		return path
	}
	if windowsAbs(cwd) {
		return strings.TrimRight(cwd, `\/`) + `\` + path
	}
	return filepath.ToSlash(filepath.Join(cwd, path))
}
