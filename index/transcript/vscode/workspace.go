package vscode

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/sqlitero"
)

// hint is what discovery learned about the window a chat belongs to.
type hint struct {
	Folders []string `json:"folders,omitempty"` // on this machine
	Remote  string   `json:"remote,omitempty"`  // address of a folder on another one
	Store   string   `json:"store,omitempty"`   // state.vscdb with the titles
}

// maxConfig bounds workspace.json and .code-workspace files, in bytes.
const maxConfig = 1 << 20

// workspaceHint reads workspaceStorage/<hash>/workspace.json.
func workspaceHint(dir string) hint {
	h := hint{Store: filepath.Join(dir, "state.vscdb")}
	v := jsonv.Parse(transcript.ReadSmall(filepath.Join(dir, workspaceFile), maxConfig))
	if uri := v.Get("folder").Str(); uri != "" {
		h.addFolder(uri)
		return h
	}
	uri := v.Get("workspace").Str()
	if uri == "" {
		uri = v.Get("configuration").Str()
	}
	path, local := localPath(uri)
	if !local {
		h.Remote = uri
		return h
	}
	if path == "" {
		return h
	}
	list := jsonv.Parse(withoutComments(transcript.ReadSmall(path, maxConfig))).Get("folders")
	list.Elems(func(_ int, f jsonv.Value) bool {
		if u := f.Get("uri").Str(); u != "" {
			h.addFolder(u)
		} else if p := f.Get("path").Str(); p != "" {
			h.Folders = append(h.Folders, transcript.Absolute(parentDir(path), p))
		}
		return len(h.Folders) < 64
	})
	return h
}

func (h *hint) addFolder(uri string) {
	switch path, local := localPath(uri); {
	case !local:
		h.Remote = uri
	case path != "":
		h.Folders = append(h.Folders, path)
	}
}

// apply gives a session the folders of its window.
func (h hint) apply(to *transcript.Header) {
	for _, dir := range h.Folders {
		to.SawCWD(dir)
	}
	if h.Remote != "" && len(h.Folders) == 0 {
		// Not a path of this machine: nothing can be resumed or opened in it.
		to.Warn("the folder is on another machine: " + transcript.CleanTitle(h.Remote))
	}
}

// localPath turns a file URI into a path as the system writes it; local is
// false for any other scheme (vscode-remote, vscode-vfs).
func localPath(uri string) (path string, local bool) {
	if uri == "" || len(uri) > 8192 {
		return "", true
	}
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		if strings.HasPrefix(uri, "/") || len(uri) > 2 && uri[1] == ':' {
			return uri, true // a plain path
		}
		return "", true
	}
	if scheme != "file" {
		return "", false
	}
	rest, _, _ = strings.Cut(rest, "#")
	if p, err := url.PathUnescape(rest); err == nil {
		rest = p
	}
	if !strings.HasPrefix(rest, "/") { // file://server/share
		return `\\` + strings.ReplaceAll(rest, "/", `\`), true
	}
	if len(rest) > 2 && rest[2] == ':' { // /c:/Users
		return strings.ReplaceAll(rest[1:], "/", `\`), true
	}
	return rest, true
}

// parentDir is the folder of a path of any system.
func parentDir(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i > 0 {
		return path[:i]
	}
	return path
}

// withoutComments blanks the comments of a JSONC text (.code-workspace files
// may have them).
func withoutComments(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		switch {
		case b[i] == '"':
			start := i
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(b))
			out = append(out, b[start:i]...)
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '/':
			for i < len(b) && b[i] != '\n' {
				i++
			}
		case b[i] == '/' && i+1 < len(b) && b[i+1] == '*':
			end := strings.Index(string(b[i+2:]), "*/")
			if end < 0 {
				return out
			}
			i += end + 4
		default:
			out = append(out, b[i])
			i++
		}
	}
	return out
}

// indexKey is the row of state.vscdb that lists a window's sessions.
const indexKey = "chat.ChatSessionStore.index"

// maxIndex bounds that row, in bytes: VS Code lists 400 sessions at most.
const maxIndex = 16 << 20

// storedTitle returns the title that VS Code's own list shows for a session,
// "" if there is none. It is asked only for a session whose file has no
// title: the store changes with every keystroke in an editor, so its state is
// not part of a source's signature, and a later title is in the file anyway.
func storedTitle(ctx context.Context, stores *sqlitero.Cache, store, id string) string {
	if store == "" {
		return ""
	}
	db, err := stores.Open(ctx, store)
	if err != nil {
		return ""
	}
	defer db.Close()
	var b []byte
	row := db.QueryRow(ctx, "SELECT CAST(value AS BLOB) FROM ItemTable WHERE key = ? AND length(CAST(value AS BLOB)) <= ?", indexKey, maxIndex)
	if row.Scan(&b) != nil || !db.Unchanged() {
		return ""
	}
	return jsonv.Parse(b).Get("entries", id, "title").Str()
}
