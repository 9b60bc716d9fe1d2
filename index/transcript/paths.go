package transcript

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
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

// MaxFiles bounds the files of one event.
const MaxFiles = 1000

// AppendPath adds a path that an event touched to its files, absolute where dir,
// which it starts from, is known. Each is there once; what cannot be a path, and
// more than MaxFiles, is left out.
func AppendPath(files []string, dir, path string) []string {
	path = strings.TrimSpace(path)
	if len(files) >= MaxFiles || CleanPath(path) == "" || strings.ContainsFunc(path, unicode.IsControl) {
		return files
	}
	if path = Absolute(dir, path); slices.Contains(files, path) {
		return files
	}
	return append(files, path)
}

// FirstFolder returns the first of the folders below dir that exists, else dir
// itself: people configure a home folder, an agent's folder in it, or the
// folder of transcripts.
func FirstFolder(dir string, below ...string) string {
	for _, sub := range below {
		sub = filepath.Join(dir, sub)
		if info, err := os.Stat(sub); err == nil && info.IsDir() {
			return sub
		}
	}
	return dir
}

var globLiteral = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`)

// GlobLiteral makes a pattern for filepath.Glob that matches path itself.
func GlobLiteral(path string) string { return globLiteral.Replace(path) }
