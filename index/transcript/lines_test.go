package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// ids reads all lines and returns the "id" of each record.
func ids(t testing.TB, l *Lines) []string {
	t.Helper()
	var out []string
	for {
		rec, err := l.Next(context.Background())
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rec.Value.Get("id").Str())
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     string
		bad      int
		torn     bool
		left     int // bytes after Offset
	}{
		{"plain", "{\"id\":1}\n{\"id\":2}\n", "1 2", 0, false, 0},
		{"empty", "", "", 0, false, 0},
		{"blank lines", "\n\n{\"id\":1}\n\n", "1", 0, false, 0},
		{"CRLF", "{\"id\":1}\r\n{\"id\":2}\r\n", "1 2", 0, false, 0},
		{"BOM", "\ufeff{\"id\":1}\n", "1", 0, false, 0},
		{"no final newline, whole record", "{\"id\":1}\n{\"id\":2}", "1 2", 0, false, 0},
		{"torn tail", "{\"id\":1}\n{\"id\":2,\"te", "1", 0, true, 11},
		{"torn inside a character", "{\"id\":1}\n{\"id\":\"\xc3", "1", 0, true, 8},
		{"torn just before the newline of a CRLF", "{\"id\":1}\r", "1", 0, false, 0},
		{"damaged line", "{\"id\":1}\n{\"id\":2,\"te\n{\"id\":3}\n", "1 3", 1, false, 0},
		{"no JSON", "hello\n{\"id\":1}\n", "1", 1, false, 0},
		{"NUL run as a line", "{\"id\":1}\n" + strings.Repeat("\x00", 9000) + "\n{\"id\":2}\n", "1 2", 1, false, 0},
		{"NUL run before a record", "{\"id\":1}\n" + strings.Repeat("\x00", 9000) + "{\"id\":2}\n", "1 2", 0, false, 0},
		{"NUL run at the end", "{\"id\":1}\n" + strings.Repeat("\x00", 500), "1", 0, true, 500},
		{"two records on a line", "{\"id\":1}{\"id\":2}\n{\"id\":3}\n", "1 2 3", 1, false, 0},
		{"three records, spaces and NULs between", "{\"id\":1} {\"id\":2}\x00\x00{\"id\":3}\n", "1 2 3", 1, false, 0},
		{"a record cut off by the next", "{\"id\":1,\"text\":\"half a{\"id\":2}\n{\"id\":3}\n", "2 3", 1, false, 0},
		{"objects inside a cut record are no records", "{\"id\":1,\"in\":{\"id\":9},\"mo\n{\"id\":3}\n", "3", 1, false, 0},
		{"a line that is an array", "[1]\n{\"id\":1}\n", " 1", 0, false, 0},
		{"lone surrogate, bad UTF-8, U+2028 inside", "{\"id\":\"\\ud800\"}\n{\"id\":\"\xff\"}\n{\"id\":\"\u2028\"}\n", "\ufffd \ufffd \u2028", 0, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
				l := NewLines(r, 0, int64(len(c.in)))
				if got := strings.Join(ids(t, l), " "); got != c.want || l.Bad != c.bad || l.Torn != c.torn || l.Offset() != int64(len(c.in)-c.left) {
					t.Errorf("%s: %q bad %d torn %v offset %d; want %q %d %v %d", name, got, l.Bad, l.Torn, l.Offset(), c.want, c.bad, c.torn, len(c.in)-c.left)
				}
			}
		})
	}
}

// Records know where they stand, also when reading starts in the middle.
func TestLinesPlaces(t *testing.T) {
	const head, text = "{\"id\":0}\n", "{\"id\":1}\r\n\n{\"id\":\"ü\"}\n"
	l := NewLines(strings.NewReader(text), int64(len(head)), int64(len(head)+len(text)))
	var got []string
	for {
		rec, err := l.Next(context.Background())
		if err != nil {
			break
		}
		got = append(got, fmt.Sprintf("%d+%d %s", rec.Offset, rec.Length, (head + text)[rec.Offset:rec.Offset+rec.Length]))
	}
	if want := []string{"9+10 {\"id\":1}\r\n", "20+12 {\"id\":\"ü\"}\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file that grows while it is read is read up to the size it had.
func TestLinesStopAtTheSizeSeen(t *testing.T) {
	text := "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n"
	for end, want := range map[int]string{9: "1", 14: "1", 17: "1 2", 18: "1 2", 27: "1 2 3", 99: "1 2 3"} {
		l := NewLines(strings.NewReader(text), 0, int64(end))
		if got := strings.Join(ids(t, l), " "); got != want {
			t.Errorf("up to %d: %q, want %q", end, got, want)
		}
		rest := NewLines(strings.NewReader(text[l.Offset():]), l.Offset(), int64(len(text)))
		if all := strings.Join(append(strings.Fields(want), ids(t, rest)...), " "); all != "1 2 3" {
			t.Errorf("up to %d, then the rest: %q", end, all)
		}
	}
	// Reading may even continue inside a file that shrank.
	if got := ids(t, NewLines(strings.NewReader(""), 50, 20)); got != nil {
		t.Errorf("past the end: %q", got)
	}
}

// In any cut of a file into two passes every record is read exactly once.
func TestLinesInTwoPasses(t *testing.T) {
	text := "{\"id\":\"größer\"}\r\n\n{\"id\":2}{\"id\":3}\n\x00\x00\n{\"id\":\"潮\"}\n"
	want := ids(t, NewLines(strings.NewReader(text), 0, int64(len(text))))
	for cut := range len(text) {
		l := NewLines(strings.NewReader(text), 0, int64(cut))
		got := ids(t, l)
		got = append(got, ids(t, NewLines(strings.NewReader(text[l.Offset():]), l.Offset(), int64(len(text))))...)
		if !slices.Equal(got, want) {
			t.Errorf("cut at %d: %q, want %q", cut, got, want)
		}
	}
}

func TestLinesErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l := NewLines(strings.NewReader("{\"id\":1}\n{\"id\":2}\n"), 0, 18)
	if _, err := l.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := l.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("disk on fire")
	for name, in := range map[string]string{"short line": "{\"id\":", "long line": "{\"id\":\"" + strings.Repeat("x", 5<<20)} {
		l := NewLines(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), 0, 1<<30)
		if _, err := l.Next(context.Background()); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// repeat yields unit over and over, n bytes in all.
type repeat struct {
	unit string
	n    int
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.at >= r.n {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && r.at < r.n {
		k := copy(p[n:min(len(p), n+r.n-r.at)], r.unit[r.at%len(r.unit):])
		n += k
		r.at += k
	}
	return n, nil
}

// heap is the size of live memory.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A line of 100 MB between two small ones passes, in memory far below its
// size when it holds what is left out, and its neighbours are read.
func TestHugeLine(t *testing.T) {
	const size = 100 << 20
	for _, c := range []struct {
		name, before, unit, after string
		bound                     uint64 // of the memory held afterwards
		kept                      bool   // the text is kept, up to its limit
	}{
		{"base64", `{"id":"big","image":"`, "iVBORw0KGgoAAAANSUhEUgAAB4AAAAQ4CAIAAABnsVYUAAA", `","end":"here"}`, 8 << 20, false},
		{"skipped member", `{"id":"big","copy":{"x":"`, "tern and gull ", `"},"end":"here"}`, 8 << 20, false},
		{"text", `{"id":"big","text":"`, "tern and gull ", `","end":"here"}`, 180 << 20, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := io.MultiReader(strings.NewReader("{\"id\":\"first\"}\n"+c.before), &repeat{unit: c.unit, n: size}, strings.NewReader(c.after+"\n{\"id\":\"last\"}\n"))
			before := heap()
			l := NewLines(r, 0, 1<<40, "copy")
			var got []string
			for {
				rec, err := l.Next(context.Background())
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, rec.Value.Get("id").Str())
				if len(got) != 2 {
					continue
				}
				if now := heap(); now > before+c.bound {
					t.Errorf("%d MB held", (now-before)>>20)
				}
				if rec.Value.Get("end").Str() != "here" || rec.Cut == 0 || rec.Length != int64(size+len(c.before)+len(c.after)+1) {
					t.Errorf("record of %d bytes, %d cut, end %q", rec.Length, rec.Cut, rec.Value.Get("end").Str())
				}
				if text := rec.Value.Get("text"); (len(text) > 60<<20) != c.kept {
					t.Errorf("%d bytes of text kept", len(text))
				}
			}
			if !slices.Equal(got, []string{"first", "big", "last"}) || l.Bad != 0 {
				t.Errorf("%q, %d bad", got, l.Bad)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"id\":1}\n{\"id\":2}{\"id\":3}\n\x00\n{\"a\":{\"id\":4}"), uint16(7))
	f.Add([]byte("{\"a\":\"{\\\"b\\\":1}\"}\r\n[]\nnull\n"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		whole := NewLines(bytes.NewReader(data), 0, int64(len(data)))
		want := ids(t, whole)
		if whole.Offset() > int64(len(data)) {
			t.Fatalf("offset %d of %d", whole.Offset(), len(data))
		}
		n := min(int(cut), len(data))
		l := NewLines(bytes.NewReader(data), 0, int64(n))
		got := ids(t, l)
		at := l.Offset()
		// A whole record without newline that goes on after the cut is the one
		// case in which a pass takes what a later one would not.
		if at > 0 && at < int64(len(data)) && data[at-1] != '\n' {
			return
		}
		got = append(got, ids(t, NewLines(bytes.NewReader(data[at:]), at, int64(len(data))))...)
		if !slices.Equal(got, want) {
			t.Fatalf("%q cut at %d: %q, want %q", data, n, got, want)
		}
	})
}

// claudeLike is a record of the usual size and shape: an envelope, some text,
// a tool result stored twice.
func claudeLike(i int) string {
	out := strings.Repeat(fmt.Sprintf("internal/tide/tide_%d.go:17: func Height(t time.Time) float64 {\\n", i), 12)
	return fmt.Sprintf(`{"parentUuid":"7d0f1c0e-0000-4000-8000-%012d","isSidechain":false,"userType":"external","cwd":"/home/dev/work/tidewatch","sessionId":"3b0f7c52-0000-4000-8000-000000000000","version":"2.0.31","gitBranch":"main","type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]},"uuid":"8e0f1c0e-0000-4000-8000-%012d","timestamp":"2026-03-11T09:15:%02d.000Z","toolUseResult":{"stdout":"%s","stderr":"","interrupted":false}}`+"\n", i, i, out, i, i%60, out)
}

// BenchmarkLines is the walk every JSONL reader does: lines, and the members
// of each record.
func BenchmarkLines(b *testing.B) {
	var buf bytes.Buffer
	for i := range 20000 {
		buf.WriteString(claudeLike(i))
	}
	keys := []string{"type", "uuid", "parentUuid", "timestamp", "message", "isSidechain"}
	b.SetBytes(int64(buf.Len()))
	for b.Loop() {
		l := NewLines(bytes.NewReader(buf.Bytes()), 0, int64(buf.Len()))
		n := 0
		for {
			rec, err := l.Next(context.Background())
			if err != nil {
				break
			}
			var out [6]jsonv.Value
			rec.Value.Pick(keys, out[:])
			if out[0].IsStr("user") {
				n++
			}
		}
		if n != 20000 {
			b.Fatal(n)
		}
	}
}

// Each gives what Next gives, tells how far it has come and what was damaged.
func TestEach(t *testing.T) {
	pad := strings.Repeat("x", progressStep)
	text := "{\"id\":\"a\"}\nno record\n{\"id\":\"b\",\"pad\":\"" + pad + "\"}\n{\"id\":\"c\"}\n{\"id\":\"d"
	path := filepath.Join(t.TempDir(), "a.jsonl")
	write(t, path, text)
	f := openFile(t, path)
	end := int64(strings.LastIndex(text, "\n") + 1)
	third := int64(strings.Index(text, "{\"id\":\"c"))
	stop := errors.New("stop")
	for _, c := range []struct {
		name     string
		from     int64
		err      error
		ids      string
		told     []int64
		bad      int
		torn     bool
		earlier  int
		wantLeft int64
	}{
		{"whole", 0, nil, "a b c", []int64{third, end}, 3, true, 2, end},
		{"read on", third, nil, "c", []int64{end}, 0, true, 0, end},
		{"stopped", 0, stop, "a", nil, 2, false, 2, int64(strings.Index(text, "\n") + 1)},
	} {
		var got []string
		var told []int64
		cp := &Checkpoint{Bad: c.earlier}
		l := f.Lines(c.from)
		err := l.Each(t.Context(), cp, func(at int64) { told = append(told, at) }, func(rec Record) error {
			got = append(got, rec.Value.Get("id").Str())
			return c.err
		})
		if !errors.Is(err, c.err) || strings.Join(got, " ") != c.ids || !slices.Equal(told, c.told) || cp.Bad != c.bad || cp.Torn != c.torn || l.Offset() != c.wantLeft {
			t.Errorf("%s: %v, %q, told %v, %d bad, torn %v, at %d; want %+v", c.name, err, got, told, cp.Bad, cp.Torn, l.Offset(), c)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Lines(0).Each(ctx, &Checkpoint{}, func(int64) {}, func(Record) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// endlessLine is a line without an end. It ends ctx once some of it was read.
type endlessLine struct {
	read int64
	from int64
	end  context.CancelFunc
}

func (e *endlessLine) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	if e.read == 0 {
		copy(p, `{"text":"`)
	}
	if e.read += int64(len(p)); e.read > e.from {
		e.end()
	}
	return len(p), nil
}

// A reading ends with its context within a record, too.
func TestLinesEndWithinARecord(t *testing.T) {
	for _, from := range []int64{0, 1 << 20, 20 << 20} {
		ctx, cancel := context.WithCancel(context.Background())
		r := &endlessLine{from: from, end: cancel}
		_, err := NewLines(r, 0, 1<<50).Next(ctx)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d bytes: %v", from, err)
		}
		// A line of ordinary length is read on: it takes a moment.
		if most := max(from, 4<<20) + 1<<20; r.read > most {
			t.Errorf("%d bytes were read, %d after the end", r.read, r.read-from)
		}
	}
}
