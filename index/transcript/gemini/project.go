package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// Chats do not record where they ran. Their folder is named by a slug, which
// projects.json maps from the path and .project_root repeats, or by the sha256
// of the path, which can be proven for any path met elsewhere.

// maxMap bounds the files that map projects, in bytes.
const maxMap = 4 << 20

type projects struct {
	byName map[string]string // folder name → path
	byHash map[string]string // sha256 of the path → path
}

// knownProjects reads the maps in the .gemini folder and each project's own
// .project_root.
func knownProjects(gemini, tmp string, names []string) projects {
	p := projects{byName: map[string]string{}, byHash: map[string]string{}}
	v := transcript.ReadSmall(filepath.Join(gemini, "projects.json"), maxMap)
	jsonv.Parse(v).Get("projects").Each(func(path, slug jsonv.Value) bool {
		p.add(slug.Str(), path.Str())
		return true
	})
	// Folders a person was asked about once; their values do not matter.
	jsonv.Parse(transcript.ReadSmall(filepath.Join(gemini, "trustedFolders.json"), maxMap)).Each(func(path, _ jsonv.Value) bool {
		p.add("", path.Str())
		return true
	})
	for _, name := range names {
		p.add(name, strings.TrimSpace(string(transcript.ReadSmall(filepath.Join(tmp, name, rootFile), 4096))))
	}
	return p
}

func (p projects) add(name, path string) {
	if !absolute(path) {
		return
	}
	if name != "" {
		p.byName[name] = path
	}
	p.byHash[hash(path)] = path
}

func (p projects) resolve(name string) string {
	if path := p.byName[name]; path != "" {
		return path
	}
	return p.byHash[name]
}

func hash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

func isHash(s string) bool {
	if len(s) != 64 {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}

// absolute accepts paths of any system; chats travel between them.
func absolute(p string) bool {
	if len(p) > 4096 || strings.ContainsAny(p, "\n\r\x00") {
		return false
	}
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// maxTries bounds the paths that are hashed for one chat.
const maxTries = 2000

// prover looks for the folder whose hash a chat is filed under among the paths
// the chat mentions and the folders above them.
type prover struct {
	hash  string
	tries int
}

// try returns the project's folder if it is path or lies above it.
func (p *prover) try(path string) string {
	if p.hash == "" || !absolute(path) {
		return ""
	}
	for range 64 {
		if p.tries++; p.tries > maxTries {
			return ""
		}
		if hash(path) == p.hash {
			return path
		}
		i := strings.LastIndexAny(path, `/\`)
		if i <= 0 {
			return ""
		}
		path = path[:i]
	}
	return ""
}

// tryText tries the paths in a text: the envelope that opens a chat names the
// working directory.
func (p *prover) tryText(text string) string {
	if p.hash == "" {
		return ""
	}
	for _, word := range strings.FieldsFunc(text[:min(len(text), 16<<10)], func(r rune) bool {
		return r == '\n' || r == '\r' || r == '"' || r == '`' || r == '\'' || r == '<' || r == '>'
	}) {
		for i := 0; i < len(word); i++ {
			if i > 0 && word[i-1] != ' ' || !absolute(word[i:]) {
				continue
			}
			// A path may hold spaces and may end a sentence.
			for _, end := range []string{strings.TrimRight(word[i:], " .,;"), strings.TrimRight(strings.SplitN(word[i:], " ", 2)[0], ".,;:")} {
				if dir := p.try(end); dir != "" {
					return dir
				}
			}
		}
	}
	return ""
}
