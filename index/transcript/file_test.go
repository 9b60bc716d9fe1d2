package transcript

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestOpenFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write(t, path, "hello")
	if f := openFile(t, path); f.Size != 5 || f.Info.Size() != 5 {
		t.Errorf("size %d", f.Size)
	}
	if _, err := OpenFile(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := OpenFile(dir); err == nil {
		t.Error("a folder was opened")
	}
}

// A file is read on only where what was read before is still in place.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	old := strings.Repeat("{\"line\":\"of the first reading\"}\n", 1000)
	write(t, path, old)
	cp := &Checkpoint{Version: 1, State: []byte("{}"), Bad: 2, Partial: "some"}
	takes := func([]byte) bool { return true }
	if err := openFile(t, path).Mark(cp, int64(len(old))); err != nil {
		t.Fatal(err)
	}
	edit := func(at int, text string) string { return old[:at] + text + old[at+len(text):] }
	for _, c := range []struct {
		name, now string
		want      bool
	}{
		{"unchanged", old, true}, {"grown", old + "more", true}, {"truncated", old[:500], false}, {"truncated and grown again", old[:500] + strings.Repeat("x", 40000), false},
		{"head rewritten", edit(10, "XXXX"), false}, {"end rewritten", edit(len(old)-30, "XXXX"), false}, {"emptied", "", false},
		{"middle rewritten", edit(len(old)/2, "XXXX"), false}, {"middle rewritten and grown", edit(len(old)/2, "XXXX") + "more", false},
	} {
		write(t, path, c.now)
		if _, got := openFile(t, path).Resume(cp, 1, takes); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	write(t, path, old)
	f := openFile(t, path)
	for name, cp := range map[string]*Checkpoint{
		"none": nil, "no state": {Version: 1, Offset: cp.Offset, Head: cp.Head, Tail: cp.Tail}, "nothing read": {Version: 1, State: []byte("{}")},
		"negative": {Version: 1, Offset: -1, State: []byte("{}")}, "another version": {Offset: cp.Offset, Head: cp.Head, Tail: cp.Tail, State: []byte("{}")},
	} {
		if _, ok := f.Resume(cp, 1, takes); ok {
			t.Errorf("%s: continued", name)
		}
	}
	if now, ok := f.Resume(cp, 1, func([]byte) bool { return false }); ok || now.Offset != 0 || now.Bad != 0 || now.Version != 1 {
		t.Errorf("continued with a state that is not taken up: %+v", now)
	}
	now, ok := f.Resume(cp, 1, func(state []byte) bool { return string(state) == "{}" })
	if want := (&Checkpoint{Version: 1, Offset: cp.Offset, Bad: 2, Partial: "some"}); !ok || !reflect.DeepEqual(now, want) {
		t.Errorf("resumed at %+v, want %+v", now, want)
	}
}

// Of a large file only the ends are compared when it has grown, and all of it when
// it has not; the hash of all goes on from reading to reading.
func TestResumeOfALargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	old := strings.Repeat("{\"line\":\"of the first reading\"}\n", (wholeSpan+hashSpan)/20)
	edited := old[:len(old)/2] + "XXXX" + old[len(old)/2+4:]
	takes := func([]byte) bool { return true }
	mark := func(prev *Checkpoint, text string) *Checkpoint {
		t.Helper()
		write(t, path, text)
		f := openFile(t, path)
		cp, _ := f.Resume(prev, 1, takes)
		if err := f.Mark(cp, int64(len(text))); err != nil {
			t.Fatal(err)
		}
		cp.State = []byte("{}")
		return cp
	}
	resumes := func(cp *Checkpoint, text string, verify bool) bool {
		write(t, path, text)
		again := *cp
		again.Verify = verify
		_, ok := openFile(t, path).Resume(&again, 1, takes)
		return ok
	}
	small := mark(nil, old[:wholeSpan/2])
	for name, cp := range map[string]*Checkpoint{"at once": mark(nil, old), "from a small one": mark(small, old), "in steps": mark(mark(nil, old[:wholeSpan+100]), old)} {
		if !cp.Whole() || !resumes(cp, old, true) || resumes(cp, edited, true) || !resumes(cp, edited, false) {
			t.Errorf("%s: whole %v, touched %v, rewritten %v, rewritten and grown %v", name, cp.Whole(), resumes(cp, old, true), resumes(cp, edited, true), resumes(cp, edited, false))
		}
	}
	unknown := mark(nil, old)
	unknown.Sum = nil
	if unknown.Whole() || resumes(unknown, old, true) {
		t.Error("continued without knowing what was read")
	}
	if next := mark(unknown, old+"more\n"); next.Whole() || next.Offset != int64(len(old)+5) {
		t.Errorf("what was not known is known after it grew: %+v", next)
	}
	f := openFile(t, path)
	write(t, path, old+"more")
	cp := &Checkpoint{Version: 1}
	if err := f.Mark(cp, int64(len(old))); err != nil || cp.Whole() {
		t.Errorf("marked as known although it changed under the reading: %v", err)
	}
}

// What is marked after the file changed under the reading may be of other bytes
// than were read.
func TestMarkOfAChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	write(t, path, "old\n")
	f := openFile(t, path)
	write(t, path, "new\nmore\n")
	cp := &Checkpoint{Version: 1, State: []byte("{}")}
	if err := f.Mark(cp, 4); err != nil {
		t.Fatal(err)
	}
	if _, ok := openFile(t, path).Resume(cp, 1, func([]byte) bool { return true }); ok {
		t.Error("continued")
	}
}

func TestSignature(t *testing.T) {
	dir := t.TempDir()
	path, beside := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, path, "hello")
	sig := func() string {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return Signature(info, beside)
	}
	seen := []string{sig()}
	if sig() != seen[0] {
		t.Error("it differs though nothing changed")
	}
	past := time.Now().Add(-time.Hour)
	for name, change := range map[string]func(){
		"size": func() { write(t, path, "hello again") }, "time": func() { _ = os.Chtimes(path, past, past) }, "companion": func() { write(t, beside, "x") },
		"companion's size": func() { write(t, beside, "xyz") }, "replaced": func() { write(t, path+".new", "hello again"); _ = os.Rename(path+".new", path) },
	} {
		change()
		if now := sig(); slices.Contains(seen, now) {
			t.Errorf("%s: not noticed", name)
		} else {
			seen = append(seen, now)
		}
	}
	info, _ := os.Stat(path)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	same, _ := os.Stat(link)
	other, _ := os.Stat(beside)
	if FileID(info) != FileID(same) || FileID(info) == FileID(other) {
		t.Errorf("ids %q %q %q", FileID(info), FileID(same), FileID(other))
	}
}

func TestAbsolute(t *testing.T) {
	for _, c := range []struct{ cwd, path, want string }{
		{"/w/loom", "a.go", "/w/loom/a.go"}, {"/w/loom", "./x/../a.go", "/w/loom/a.go"}, {"/w/loom", "/etc/hosts", "/etc/hosts"}, {"/w/loom", "", ""}, {"", "a.go", "a.go"},
		{"/w/loom", "~/a.go", "~/a.go"}, {"/w/loom", "https://x.example/a", "https://x.example/a"}, {"/w/loom", `C:\x\a.go`, `C:\x\a.go`}, {`C:\w`, "a.go", `C:\w\a.go`},
		{`C:\w\`, "a.go", `C:\w\a.go`}, {"/w", `\\host\share\a`, `\\host\share\a`}, {"/w", "c:/x", "c:/x"},
	} {
		if got := Absolute(c.cwd, c.path); got != c.want {
			t.Errorf("Absolute(%q, %q) = %q, want %q", c.cwd, c.path, got, c.want)
		}
	}
}

func TestEnv(t *testing.T) {
	e := Env{Getenv: func(k string) string {
		return map[string]string{"ABS": "/x", "REL": "x/y", "WIN": `D:\x`, "DOT": "."}[k]
	}}
	for k, want := range map[string]string{"ABS": "/x", "REL": "", "WIN": `D:\x`, "DOT": "", "NONE": ""} {
		if got := e.Var(k); got != want {
			t.Errorf("%s: %q", k, got)
		}
	}
	if (Env{}).Var("ABS") != "" || (Env{}).Time().IsZero() {
		t.Error("the zero Env is unusable")
	}
}

func TestHeaderLists(t *testing.T) {
	var h Header
	for range 3 {
		for i := range 100 {
			h.Warn(strings.Repeat("w", i))
			h.SawModel(strings.Repeat("m", i))
			h.SawCWD(strings.Repeat("/d", i))
		}
	}
	if len(h.Warnings) != MaxWarnings || len(h.Models) != 64 || len(h.CWDs) != 64 || h.CWD != "/d" || h.Model != strings.Repeat("m", 99) || slices.Contains(h.CWDs, "/d") {
		t.Errorf("%d warnings, %d models, %d folders, first %q, last model %d", len(h.Warnings), len(h.Models), len(h.CWDs), h.CWD, len(h.Model))
	}
}

// Concatenated frames are one stream; a torn last one gives what it holds,
// then an error; a frame that asks for too much memory is refused.
func TestZstdReader(t *testing.T) {
	pack := func(text string, opts ...zstd.EOption) []byte {
		w, err := zstd.NewWriter(nil, opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return w.EncodeAll([]byte(text), nil)
	}
	read := func(b []byte) (string, error) {
		r, err := NewZstdReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		return string(text), err
	}
	one, two := pack("one\n"), pack("two\n")
	if got, err := read(slices.Concat(one, two)); got != "one\ntwo\n" || err != nil {
		t.Errorf("two frames: %q, %v", got, err)
	}
	if got, err := read(slices.Concat(one, two[:len(two)-6])); !strings.HasPrefix(got, "one\n") || err == nil {
		t.Errorf("torn frame: %q, %v", got, err)
	}
	if _, err := read([]byte("no zstd at all")); err == nil {
		t.Error("text was decompressed")
	}
	// A frame by hand: window of 2^29 bytes, one raw block of one byte.
	if _, err := read([]byte("\x28\xb5\x2f\xfd\x00\x98\x09\x00\x00x")); err == nil {
		t.Error("a frame with a window of 512 MB was accepted")
	}
}

func TestReadSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write(t, path, "12345")
	for _, c := range []struct {
		path  string
		limit int64
		want  string
	}{{path, 5, "12345"}, {path, 4, ""}, {path + "none", 5, ""}, {filepath.Dir(path), 1 << 20, ""}} {
		if got := string(ReadSmall(c.path, c.limit)); got != c.want {
			t.Errorf("ReadSmall(%s, %d) = %q, want %q", c.path, c.limit, got, c.want)
		}
	}
}

func TestKeep(t *testing.T) {
	var cp Checkpoint
	for _, c := range []struct {
		state any
		want  string
	}{{map[string]int{"seq": 7}, `{"seq":7}`}, {strings.Repeat("x", MaxState), ""}} {
		if err := cp.Keep(c.state); err != nil || string(cp.State) != c.want {
			t.Errorf("kept %.40q, %v, want %q", cp.State, err, c.want)
		}
	}
	if err := cp.Keep(func() {}); err == nil {
		t.Error("what is no JSON was kept")
	}
}
