package claude

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// maxPersisted bounds what is read of one tool output that was written to a
// file of its own (matching.md rule 11: 64 MB of one event).
const maxPersisted = 64 << 20

const stubTag = "<persisted-output>"

// persisted returns the whole text of a tool output of which the transcript
// holds a stub, ok false when the record is no stub or the file is gone. Only
// a plain file in the session's own tool-results folder is ever opened,
// whatever path the record names: transcripts are not trusted, and travel
// between machines.
func persisted(p place, content string, toolID string, result jsonv.Value) (text string, ok bool) {
	name := ""
	isStub := strings.HasPrefix(strings.TrimLeft(content, " \n"), stubTag)
	if v := result.Get("persistedOutputPath"); v.Kind() == jsonv.String {
		name, isStub = baseName(v.Str()), true
	}
	if !isStub {
		// The same stub in other words.
		if len(content) > 8<<10 || !strings.Contains(content, toolResults) {
			return "", false
		}
	}
	if name == "" {
		name = baseName(savedTo(content))
	}
	for _, n := range []string{name, toolID + ".txt", toolID + ".json"} {
		if text, ok := readPersisted(p, n); ok {
			return text, true
		}
	}
	return "", false
}

func readPersisted(p place, name string) (string, bool) {
	dir := p.sessionDir()
	if dir == "" || name == "" || strings.HasPrefix(name, ".") || name != baseName(name) {
		return "", false
	}
	path := filepath.Join(dir, toolResults, name)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPersisted))
	if err != nil && len(b) == 0 {
		return "", false
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", ""), true
}

// savedTo finds the path in a stub: the word that holds "tool-results".
func savedTo(content string) string {
	i := strings.Index(content, toolResults)
	if i < 0 {
		return ""
	}
	rest := content[i:]
	if j := strings.IndexAny(rest, "\n\r\"'`<>)"); j >= 0 {
		rest = rest[:j]
	}
	return strings.TrimRight(strings.TrimSpace(rest), ".,;")
}

// baseName takes the last element of a path of either system.
func baseName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// stubPreview is what a stub itself holds of the output, without its frame.
func stubPreview(content string) string {
	t := strings.TrimSpace(content)
	if !strings.HasPrefix(t, stubTag) {
		return content
	}
	t = strings.TrimSuffix(strings.TrimPrefix(t, stubTag), "</persisted-output>")
	if _, rest, ok := strings.Cut(t, "Preview ("); ok {
		if _, rest, ok = strings.Cut(rest, "\n"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return strings.TrimSpace(t)
}
