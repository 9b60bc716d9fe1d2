package cursor

import (
	"crypto/md5"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/vscode"
)

// The tool files its transcripts under names made of the folder they belong to.
// The names lose information, so no name is turned into a folder: folders that
// are known otherwise are turned into names and compared (formats.md §2.3).

// fits reports how well a project's name fits a folder: 2 when it is made of it
// character for character, 1 when only letters and digits agree or the name was
// cut, 0 when it is of another one.
func fits(name, folder string) int {
	if name == "" || folder == "" {
		return 0
	}
	plain := strings.TrimLeft(strings.NewReplacer("/", "-", `\`, "-", ".", "-", ":", "").Replace(folder), "-")
	if plain == name {
		return 2
	}
	a, b := words(name), words(folder)
	switch {
	case a == "":
		return 0
	case a == b, windows(folder) && strings.EqualFold(a, b):
		return 1
	case cutName.MatchString(name) && strings.HasPrefix(b, words(name[:len(name)-8])):
		return 1
	}
	return 0
}

// cutName matches a name that was too long: the beginning, then a hash.
var cutName = regexp.MustCompile(`^.{70,}-[0-9a-f]{7}$`)

// words is a name with every run of anything but letters and digits as one dash.
func words(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	}), "-")
}

func windows(path string) bool {
	return len(path) > 2 && path[1] == ':' || strings.HasPrefix(path, `\\`)
}

// hashOf is the name that the tool gives the chats of a folder.
func hashOf(folder string) string {
	sum := md5.Sum([]byte(folder))
	return hex.EncodeToString(sum[:])
}

func isHash(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*md5.Size
}

// maxSmall bounds the small files that name folders, in bytes.
const maxSmall = 1 << 20

// folders finds the folder that a name stands for among those that are known on
// this machine. It is made for one walk and asks the disk when it must.
type folders struct {
	env      transcript.Env
	projects []string // folders of projects, whose files name the folder
	known    []string
	asked    bool
	byName   map[string]string
}

// trusted is the folder that a person trusted the tool with, as noted among the
// project's files; "" if it was not asked for or the note is of another folder.
func trusted(dir string) string {
	folder := jsonv.Parse(transcript.ReadSmall(filepath.Join(dir, trustedFile), maxSmall)).Get("workspacePath").Str()
	if fits(filepath.Base(dir), folder) == 0 {
		return ""
	}
	return folder
}

// project is the folder of a project, by the note in its own folder or by its
// name; "" if none that is known fits, or several do equally well.
func (f *folders) project(dir string) string {
	if folder := trusted(dir); folder != "" {
		return folder
	}
	name := filepath.Base(dir)
	return f.find(name, func(folder string) int { return fits(name, folder) })
}

// chats is the folder whose hash is the name of a folder of chats.
func (f *folders) chats(hash string) string {
	if !isHash(hash) {
		return ""
	}
	return f.find(hash, func(folder string) int {
		if hashOf(folder) == hash {
			return 2
		}
		return 0
	})
}

func (f *folders) find(name string, fit func(string) int) string {
	if folder, ok := f.byName[name]; ok {
		return folder
	}
	best, folder, several := 0, "", false
	for _, k := range f.all() {
		switch n := fit(k); {
		case n > best:
			best, folder, several = n, k, false
		case n == best && n > 0 && k != folder:
			several = true
		}
	}
	if several {
		folder = ""
	}
	if f.byName == nil {
		f.byName = map[string]string{}
	}
	f.byName[name] = folder
	return folder
}

// all lists the folders that the editor's windows were opened on and that the
// tool was trusted with.
func (f *folders) all() []string {
	if f.asked {
		return f.known
	}
	f.asked = true
	for _, user := range vscode.UserDirs(f.env, app, server) {
		entries, err := os.ReadDir(filepath.Join(user, workspaceFolder))
		if err != nil {
			continue
		}
		for _, e := range entries {
			dirs, _ := vscode.Window(filepath.Join(user, workspaceFolder, e.Name()))
			f.known = append(f.known, dirs...)
		}
	}
	for _, projects := range f.projects {
		entries, err := os.ReadDir(projects)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if folder := trusted(filepath.Join(projects, e.Name())); folder != "" {
				f.known = append(f.known, folder)
			}
		}
	}
	slices.Sort(f.known)
	f.known = slices.Compact(f.known)
	return f.known
}

// maxTries bounds the paths that a prover looks at.
const maxTries = 2000

// prover looks for the folder that a name stands for among the paths that the
// transcript itself mentions and the folders above them.
type prover struct {
	Project string `json:"project,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Tries   int    `json:"tries,omitempty"`
}

// try returns the folder if it is path or lies above it.
func (p *prover) try(path string) string {
	if p.Project == "" && p.Hash == "" || !strings.HasPrefix(path, "/") && !windows(path) || len(path) > 4096 {
		return ""
	}
	for range 64 {
		if p.Tries++; p.Tries > maxTries {
			return ""
		}
		if p.Hash != "" && hashOf(path) == p.Hash || p.Project != "" && fits(p.Project, path) > 0 && !cutName.MatchString(p.Project) {
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

// tryInput tries the paths in the input of a call.
func (p *prover) tryInput(input jsonv.Value) (folder string) {
	if p.Project == "" && p.Hash == "" {
		return ""
	}
	input.Strings(func(s jsonv.Value) bool {
		if len(s) < 4 || len(s) > 4096 {
			return true
		}
		for _, word := range strings.Fields(s.Str()) {
			if folder = p.try(strings.Trim(word, `"'.,;:()`)); folder != "" {
				return false
			}
		}
		return p.Tries <= maxTries
	})
	return folder
}
