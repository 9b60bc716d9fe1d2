// Package dsh reads the session logs of DeepSeek Harness, format version 0:
// session.jsonl, plain or as concatenated zstd frames (formats.md §11;
// reference A.2, A.7, A.17). Later format versions are told by their file name
// or header and refused. The opt-in SQLite backend is not read.
package dsh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessionls/sessionls/index/transcript"
)

const (
	agentID = "dsh"
	label   = "DeepSeek Harness"
	// version is raised when the same bytes would read differently.
	version = 2
)

// The encodings, as Source.Class: plain is preferred (formats.md §33).
const (
	classZstd  = 1
	classPlain = 2
)

type reader struct{}

// New returns the reader.
func New() transcript.Reader { return reader{} }

func (reader) Agent() transcript.Agent { return transcript.Agent{ID: agentID, Label: label} }

func (reader) Version() int { return version }

// ResumeArgs implements transcript.Reader: sessions are continued in the app.
func (reader) ResumeArgs(string) []string { return nil }

// Roots are the folder below DSH_HOME or ~/.dsh, and the one that programs
// built on the harness are told by DSH_SESSION_ROOT. A configured folder may
// be a home folder, a DSH_HOME or a sessions folder.
func (reader) Roots(env transcript.Env) []transcript.Root {
	home := env.Var("DSH_HOME")
	if home == "" {
		home = filepath.Join(env.Home, ".dsh")
	}
	roots := []transcript.Root{{Path: filepath.Join(home, "sessions"), Kind: "sessions"}}
	if dir := env.Var("DSH_SESSION_ROOT"); dir != "" {
		roots = append(roots, transcript.Root{Path: dir, Kind: "sessions"})
	}
	for _, dir := range env.Extra {
		dir = transcript.FirstFolder(dir, filepath.Join(".dsh", "sessions"), "sessions")
		roots = append(roots, transcript.Root{Path: dir, Kind: "sessions", Configured: true})
	}
	return roots
}

// logName matches the file of a format generation.
var logName = regexp.MustCompile(`^session(?:\.v(\d{1,6}))?\.jsonl(\.zstd)?$`)

// Discover yields a source for each session folder of each project folder. Of
// several format generations side by side only the highest counts, even where
// it cannot be read: older ones are stale.
func (reader) Discover(ctx context.Context, env transcript.Env, root transcript.Root, yield func(transcript.Source) error, report func(string, error)) error {
	projects, err := root.ReadDir(root.Path)
	if err != nil {
		return fmt.Errorf("look for dsh's sessions: %w", err)
	}
	seen := transcript.Seen{}
	folder := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir() && seen.First(path, info)
	}
	for _, p := range projects {
		project := filepath.Join(root.Path, p.Name())
		if !strings.HasPrefix(p.Name(), "--") && p.Name() != "_no-cwd" || !folder(project) {
			continue
		}
		sessions, err := root.ReadDir(project)
		if err != nil {
			report(project, err)
			continue
		}
		for _, s := range sessions {
			if err := ctx.Err(); err != nil {
				return err
			}
			dir := filepath.Join(project, s.Name())
			if !folder(dir) {
				continue
			}
			if err := discoverSession(root.Path, dir, yield, report); err != nil {
				return err
			}
		}
	}
	return nil
}

func discoverSession(root, dir string, yield func(transcript.Source) error, report func(string, error)) error {
	// All of a session's files are looked at, whichever of them changed: only
	// those of the highest generation count.
	entries, err := os.ReadDir(dir)
	if err != nil {
		report(dir, err)
		return nil
	}
	highest := -1
	var names []string
	for _, e := range entries {
		m := logName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		if n > highest {
			highest, names = n, nil
		}
		if n == highest {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				report(path, err)
			}
			continue
		}
		if !info.Mode().IsRegular() {
			continue
		}
		class := classPlain
		if strings.HasSuffix(name, ".zstd") {
			class = classZstd
		}
		err = yield(transcript.Source{
			Agent: agentID, Path: path, Root: root, SessionID: decodeSegment(filepath.Base(dir)), Class: class,
			Size: info.Size(), ModTime: info.ModTime(), Signature: transcript.Signature(info),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeSegment turns a folder's name back into the session id: ~XXXX stands
// for one UTF-16 unit.
func decodeSegment(s string) string {
	if !strings.Contains(s, "~") {
		return s
	}
	var units []uint16
	for i := 0; i < len(s); {
		if s[i] == '~' && i+5 <= len(s) {
			if u, err := strconv.ParseUint(s[i+1:i+5], 16, 16); err == nil {
				units = append(units, uint16(u))
				i += 5
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		units = utf16.AppendRune(units, r)
		i += n
	}
	return string(utf16.Decode(units))
}

// Read reads a log. A plain one is continued at its last line, a compressed
// one after its last whole frame.
func (reader) Read(ctx context.Context, env transcript.Env, src transcript.Source, prev *transcript.Checkpoint, out transcript.Sink) (*transcript.Checkpoint, error) {
	if m := logName.FindStringSubmatch(filepath.Base(src.Path)); m != nil && m[1] != "" && m[1] != "0" {
		return nil, fmt.Errorf("read dsh session: format version %s is not supported, only version 0", m[1])
	}
	f, err := transcript.OpenFile(src.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &log{env: env, out: out, id: src.SessionID}
	cp, resumed := f.Resume(prev, version, l.restore)
	if t, ok := out.(transcript.Tracer); ok && !resumed {
		l.links = &links{out: t}
	}
	if s, ok := out.(transcript.Strict); ok && !resumed && s.Strict() {
		l.strict = &strict{}
	}
	l.resumed = resumed
	if err := out.Begin(resumed); err != nil {
		return nil, err
	}
	var end int64
	keep := true
	if strings.HasSuffix(src.Path, ".zstd") {
		end, keep, err = l.readFrames(ctx, f, cp)
	} else {
		end, err = l.readPlain(ctx, f, cp)
	}
	if err != nil {
		return nil, err
	}
	if err := l.finish(); err != nil {
		return cp, err
	}
	if err := f.Mark(cp, end); err != nil {
		return nil, err
	}
	if keep {
		err = cp.Keep(&l.state)
	}
	return cp, err
}

func (l *log) readPlain(ctx context.Context, f *transcript.File, cp *transcript.Checkpoint) (end int64, err error) {
	lines := f.Lines(cp.Offset)
	err = lines.Each(ctx, cp, l.out.Progress, func(rec transcript.Record) error {
		l.offset, l.length = rec.Offset, rec.Length
		l.strict.lines(lines.Bad)
		return l.line(rec.Value, rec.Shared)
	})
	return lines.Offset(), err
}

// readFrames reads whole frames from where cp stands and what can be had of a
// torn last one. keep is false when events came from the torn frame: it will be
// read again, from its start.
func (l *log) readFrames(ctx context.Context, f *transcript.File, cp *transcript.Checkpoint) (end int64, keep bool, err error) {
	fr, err := newFrames(f, cp.Offset, f.Size)
	if err != nil {
		return 0, false, err
	}
	defer fr.close()
	lines := transcript.NewLines(fr, 0, math.MaxInt64)
	err = lines.Each(ctx, cp, func(int64) { l.out.Progress(fr.at) }, func(rec transcript.Record) error {
		l.strict.lines(lines.Bad)
		return l.line(rec.Value, true) // its place in the text is none in the file
	})
	if err == nil && fr.bad > 0 {
		err = l.strict.frames(fr.bad)
	}
	cp.Bad += fr.bad
	cp.Torn = lines.Torn || fr.torn
	return fr.done, !fr.tornText && !lines.Torn && fr.newline, err
}
