package remote

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/contract"
)

// Bounds of reading ssh's configuration: the files with those they include, and
// the bytes of each.
const (
	maxSSHFiles = 64
	maxSSHFile  = 1 << 20
)

// SSHHosts lists the hosts that the user's ssh configuration in a home folder
// names, in its order: the words of Host lines that are no patterns. Files that
// it includes are read, too; what cannot be read names none.
func SSHHosts(home string) []contract.Host {
	dir := filepath.Join(home, ".ssh")
	r := sshReader{home: home, dir: dir, left: maxSSHFiles, seen: map[string]bool{}}
	r.read(filepath.Join(dir, "config"))
	return r.hosts
}

type sshReader struct {
	home, dir string
	left      int // files that may still be read
	seen      map[string]bool
	hosts     []contract.Host
}

func (r *sshReader) read(path string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSSHFile || r.left == 0 || r.seen[path] {
		return
	}
	r.seen[path] = true
	r.left--
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxSSHFile)
	for lines.Scan() {
		words := sshWords(lines.Text())
		if len(words) < 2 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "host":
			for _, word := range words[1:] {
				r.add(word)
			}
		case "include":
			for _, pattern := range words[1:] {
				r.include(pattern)
			}
		}
	}
}

func (r *sshReader) add(word string) {
	if strings.ContainsAny(word, "*?!") {
		return
	}
	host, ok := contract.ParseHost("ssh:" + word)
	if ok && !slices.Contains(r.hosts, host) {
		r.hosts = append(r.hosts, host)
	}
}

// include reads what a pattern names; relative ones are below ~/.ssh.
func (r *sshReader) include(pattern string) {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(r.home, rest)
	} else if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(r.dir, pattern)
	}
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return
	}
	for _, path := range paths {
		r.read(path)
	}
}

// sshWords splits a line as ssh does: the first word may end in "=", words may
// stand in double quotes, and "#" begins a comment.
func sshWords(line string) []string {
	var words []string
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimLeft(line, " \t") {
		end, skip := strings.IndexAny(line, " \t"), 0
		if rest, ok := strings.CutPrefix(line, `"`); ok {
			if end = strings.IndexByte(rest, '"'); end < 0 {
				return nil
			}
			line, skip = rest, 1
		} else if at := strings.IndexByte(line, '='); len(words) == 0 && at > 0 && (end < 0 || at < end) {
			end, skip = at, 1
		}
		if end < 0 {
			end = len(line)
		}
		words = append(words, line[:end])
		line = strings.TrimLeft(line[end+skip:], " \t")
		if len(words) == 1 {
			line = strings.TrimPrefix(line, "=")
		}
	}
	return words
}
