package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/store"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

var ctx = context.Background()

func snapshot(t testing.TB, r *store.Reader) *store.Snapshot {
	t.Helper()
	s, err := r.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func named(t testing.TB, s *store.Snapshot, id string) *store.Session {
	t.Helper()
	list, err := s.Named(ctx, "", id, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 {
		t.Fatalf("%d sessions are called %s", len(list), id)
	}
	return list[0]
}

func events(t testing.TB, s *store.Snapshot, of *store.Session, from int) []store.Stored {
	t.Helper()
	var out []store.Stored
	if err := s.Events(ctx, of, from, func(e *store.Stored) bool { out = append(out, *e); return true }); err != nil {
		t.Fatal(err)
	}
	return out
}

func rows(t testing.TB, s *store.Snapshot, in store.Stream, terms ...string) []int64 {
	t.Helper()
	list, err := s.Rows(ctx, in, store.Phrase(terms, false), 0, 1<<62, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestRoundTrip: what a reader hands over is what is read back.
func TestRoundTrip(t *testing.T) {
	at := time.Date(2026, 11, 3, 4, 5, 6, 789e6, time.UTC)
	in := []transcript.Event{
		{ID: "e0", Type: "user/message", RawType: "user", Role: "user", Time: at, Surface: transcript.Current, Message: true, Parts: []transcript.Part{{Text: "find the gull"}}},
		{ID: "e1", Type: "assistant/message", RawType: "assistant", Role: "assistant", Time: at.Add(time.Second), Surface: transcript.Current, Message: true, Tools: []string{"Bash", "Read"}, Files: []string{"/w/a.go", `C:\w\b.go`},
			Parts: []transcript.Part{{Text: "I look"}, {Kind: transcript.Call, Text: "Bash\nls -la"}}},
		{ID: "e2", Type: "tool/result", RawType: "user", Role: "tool", Time: at.Add(2 * time.Second), Surface: transcript.Current, Failed: true, Parts: []transcript.Part{{Kind: transcript.Output, Text: "E: no gull"}}},
		{ID: "", Type: "other", RawType: "snapshot", Role: "unknown", Time: time.Unix(0, 0), Surface: transcript.LogOnly},
	}
	h := transcript.Header{
		SessionID: "s1", CWD: "/w", CWDs: []string{"/w/sub"}, Branch: "main", Model: "opus", Models: []string{"haiku", "opus"}, RepoURL: "https://h/r",
		Relation: transcript.RelationFork, ParentID: "p", ParentEvent: "pe", LineageEvidence: transcript.EvidenceLine, InheritedCount: 2, InheritedKnown: true,
		DelegationDepth: 3, Automated: true, Entrypoint: "sdk", Format: "v9", Warnings: []string{"odd\nline", "two"}, Title: "T", TitleSource: transcript.TitleUser,
	}
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Session{Header: h, Events: in})
	s := snapshot(t, storetest.Open(t, path))
	got := named(t, s, "s1")
	if got.MessageCount != 2 || got.Events != 4 || got.Presence != "present" || got.Epoch != 1 {
		t.Errorf("session %+v", got)
	}
	want := h
	want.Conversation, want.MessageCount = true, 2
	want.CreatedAt, want.UpdatedAt = got.CreatedAt, got.UpdatedAt
	want.CWDs, want.Warnings = nil, []string{"odd line", "two"} // folders are kept for filters only
	if !reflect.DeepEqual(got.Header, want) {
		t.Errorf("header\n got %+v\nwant %+v", got.Header, want)
	}
	out := events(t, s, got, 0)
	if len(out) != len(in) {
		t.Fatalf("%d events", len(out))
	}
	for i, e := range out {
		w := in[i]
		if e.Seq != i || e.Type != w.Type || e.RawType != w.RawType || e.Role != w.Role || !e.Time.Equal(w.Time) || e.Surface != w.Surface || e.Failed != w.Failed ||
			!reflect.DeepEqual(e.Tools, w.Tools) || !reflect.DeepEqual(e.Parts, w.Parts) || i < 3 && e.ID != w.ID {
			t.Errorf("event %d\n got %+v\nwant %+v", i, e, w)
		}
	}
	if tail := events(t, s, got, 2); len(tail) != 2 || tail[0].Seq != 2 {
		t.Errorf("from 2: %+v", tail)
	}
	ids, err := s.SessionIDs(ctx, []store.Filter{{Files: []string{"b.go"}}})
	if err != nil || !ids[got.ID] {
		t.Errorf("a Windows path is found by its last part: %v %v", ids, err)
	}
}

// TestLongFilterLists: a list of any length is held against the sessions, as one
// of a few elements is.
func TestLongFilterLists(t *testing.T) {
	session := func(id, model string, files ...string) storetest.Session {
		s := storetest.Talk(id, "text")
		s.Header.CWD, s.Header.Branch, s.Header.Models = "/w/"+id, "b-"+id, []string{"other", model}
		s.Events[0].Files = files
		return s
	}
	path := storetest.Path(t)
	long := "/w/" + strings.Repeat("deep/", 800) + "end.go"
	storetest.Build(t, path,
		session("s1", "opus", "/w/pkg/a.go", `C:\w\B.go`), session("s2", "haiku", "rel/pkg/a.go", "/w/100%_sure.go"),
		session("s3", "opus-mini", "a.go", "/w/pkg.go/", long))
	s := snapshot(t, storetest.Open(t, path))
	found := func(f store.Filter) string {
		t.Helper()
		ids, err := s.SessionIDs(ctx, []store.Filter{f})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, id := range []string{"s1", "s2", "s3"} {
			if ids[named(t, s, id).ID] {
				out = append(out, id)
			}
		}
		return strings.Join(out, " ")
	}
	more := make([]string, 3000)
	for i := range more {
		more[i] = fmt.Sprintf("nothing-%d", i)
	}
	for _, tt := range []struct{ file, want string }{
		{"a.go", "s1 s2 s3"},
		{"/a.go", "s1 s2"},
		{"A.GO", "s1 s2"}, // by its end without regard to case, whole as it is written
		{"pkg/a.go", "s1 s2"},
		{`pkg\a.go`, "s1 s2"},
		{"/w/pkg/a.go", "s1"},
		{"kg/a.go", ""},
		{"b.go", "s1"},
		{"rel/pkg/a.go", "s2"},
		{"100%_sure.go", "s2"},
		{"100%sure.go", ""},
		{"%", ""},
		{"pkg.go", ""},
		{"pkg.go/", "s3"},
		{"", "s3"},
		{long[1:], "s3"},
		{strings.Repeat("x", 100_000), ""},
	} {
		if got := found(store.Filter{Files: []string{tt.file}}); got != tt.want {
			t.Errorf("file %.40q: %q, want %q", tt.file, got, tt.want)
		}
		if got := found(store.Filter{Files: append([]string{tt.file}, more...)}); got != tt.want {
			t.Errorf("file %.40q in a long list: %q, want %q", tt.file, got, tt.want)
		}
	}
	with := func(v string) []string { return append([]string{v}, more...) }
	for name, f := range map[string]store.Filter{
		"models": {Models: with("opus")}, "branches": {Branches: with("b-s1")}, "ids": {IDs: with("s1")},
	} {
		if got := found(f); got != "s1" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := found(store.Filter{Models: []string{}}); got != "" {
		t.Errorf("no model: %q", got)
	}
	if got := found(store.Filter{Files: []string{}}); got != "" {
		t.Errorf("no file: %q", got)
	}
}

// TestLongExpressions: conditions of any number of parts mean what short ones do.
func TestLongExpressions(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("s1", "gull plover"), storetest.Talk("s2", "heron"))
	s := snapshot(t, storetest.Open(t, path))
	found := func(e store.Expr) int {
		t.Helper()
		rows, err := s.Rows(ctx, store.Talk, e, 0, 1<<62, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return len(rows)
	}
	word := func(w string) store.Expr { return store.Phrase([]string{w}, false) }
	for _, n := range []int{1, 31, 32, 33, 64, 1000, 3001} {
		none, gulls := make([]store.Expr, n), make([]store.Expr, n)
		for i := range none {
			none[i], gulls[i] = word(fmt.Sprintf("nothing%d", i)), word("gull")
		}
		for name, e := range map[string]struct {
			expr store.Expr
			want int
		}{
			"any, none of them": {store.Any(none...), 0},
			"any, the first":    {store.Any(append([]store.Expr{word("plover")}, none...)...), 1},
			"any, the last":     {store.Any(append(slices.Clone(none), word("plover"), word("heron"))...), 2},
			"all":               {store.All(gulls...), 1},
			"all but one":       {store.All(append(slices.Clone(gulls), word("heron"))...), 0},
			"any and all":       {store.All(append(slices.Clone(gulls), store.Any(append(slices.Clone(none), word("plover"))...))...), 1},
		} {
			if got := found(e.expr); got != e.want {
				t.Errorf("%d, %s: %d rows, want %d", n, name, got, e.want)
			}
		}
	}
}

// TestRowsLeadToEvents: every row of the postings leads to the event
// whose text it has, also when sessions are written interleaved and events span
// several rows and blocks.
func TestRowsLeadToEvents(t *testing.T) {
	path := storetest.Path(t)
	w, err := store.OpenWriter(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	const n = 120
	text := func(sid string, i int) string {
		switch i % 10 {
		case 3:
			return strings.Repeat("filler text here ", 40_000) + fmt.Sprintf("w%s%d", sid, i) // several rows
		case 7:
			return ""
		}
		return strings.Repeat("pad ", i*20) + fmt.Sprintf("w%s%d", sid, i)
	}
	err = w.Update(ctx, func(tx *store.Tx) error {
		src := transcript.Source{Agent: "claude", Path: "/x", Signature: "1", ModTime: storetest.Now}
		id, err := tx.PutSource(store.SourceState{Source: src, State: store.StateRead})
		if err != nil {
			return err
		}
		sink := tx.NewSink(id, src, "x", nil)
		if err := sink.Begin(false); err != nil {
			return err
		}
		for i := range n {
			for _, sid := range []string{"main", "side"} {
				e := storetest.Say("user", text(sid, i))
				if i%2 == 0 {
					e = storetest.Say("call", text(sid, i))
				}
				e.SessionID, e.Seq = sid, i
				if err := sink.Event(&e); err != nil {
					return err
				}
			}
		}
		for _, sid := range []string{"main", "side"} {
			if err := sink.Header(&transcript.Header{SessionID: sid, Conversation: true, Relation: transcript.RelationRoot}); err != nil {
				return err
			}
		}
		return sink.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	s := snapshot(t, storetest.Open(t, path))
	for _, sid := range []string{"main", "side"} {
		sess := named(t, s, sid)
		for i := range n {
			if text(sid, i) == "" {
				continue
			}
			in := store.Talk
			if i%2 == 0 {
				in = store.ToolText
			}
			term := fmt.Sprintf("w%s%d", sid, i)
			list := rows(t, s, in, term)
			if len(list) == 0 {
				t.Fatalf("%s is in no row", term)
			}
			for _, row := range list {
				info, ok := s.Spans.At(row)
				if !ok || info.Session != sess.ID || info.Kind.Tool() != (i%2 == 0) {
					t.Fatalf("row of %s: %+v %v", term, info, ok)
				}
				e, chunk, err := s.EventAt(ctx, sess, row)
				if err != nil || e.Seq != i {
					t.Fatalf("row of %s leads to %+v: %v", term, e, err)
				}
				if part := store.Chunk(e.Parts[0].Text, chunk); !strings.Contains(part, term) {
					t.Fatalf("share %d of event %d of %s does not hold %s", chunk, i, sid, term)
				}
			}
		}
	}
}

// TestReplace: a source read anew replaces its sessions; nothing of the old
// text is found, ids of rows that stay do not change, the epoch does.
func TestReplace(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("a", "alpha", "beta"), storetest.Talk("b", "gamma"))
	r := storetest.Open(t, path)
	before := named(t, snapshot(t, r), "a")
	storetest.Build(t, path, storetest.Talk("a", "delta"))
	s := snapshot(t, r)
	after := named(t, s, "a")
	if after.ID != before.ID || after.Epoch != before.Epoch+1 || after.Events != 1 || after.MessageCount != 1 {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	for term, want := range map[string]int{"alpha": 0, "beta": 0, "gamma": 1, "delta": 1} {
		if got := len(rows(t, s, store.Talk, term)); got != want {
			t.Errorf("%s is in %d rows, want %d", term, got, want)
		}
	}
}

// TestSnapshots: a view does not see what is written after it; the generation
// moves with every change and with nothing else.
func TestSnapshots(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("a", "alpha"))
	r := storetest.Open(t, path)
	old := snapshot(t, r)
	storetest.Build(t, path, storetest.Talk("b", "beta"))
	if got := len(rows(t, old, store.Talk, "beta")); got != 0 {
		t.Errorf("an old view sees %d new rows", got)
	}
	now := snapshot(t, r)
	if now.Generation <= old.Generation || now.Identity != old.Identity || now.Identity == "" {
		t.Errorf("generation %d after %d", now.Generation, old.Generation)
	}
	if len(rows(t, now, store.Talk, "beta")) != 1 || now.Spans.Rows() != 4 {
		t.Errorf("%d rows", now.Spans.Rows())
	}
	w, err := store.OpenWriter(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	// A source looked at without news changes no answer.
	if err := w.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.PutSource(store.SourceState{Source: transcript.Source{Agent: "claude", Path: "/new", Signature: "x"}, State: store.StateEmpty})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if again := snapshot(t, r); again.Generation != now.Generation {
		t.Errorf("the generation moved from %d to %d for nothing", now.Generation, again.Generation)
	}
	// A failed change leaves no trace.
	boom := errors.New("boom")
	if err := w.Update(ctx, func(tx *store.Tx) error {
		if err := storetest.Write(tx, storetest.Talk("c", "epsilon")); err != nil {
			return err
		}
		return boom
	}); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if s := snapshot(t, r); s.Generation != now.Generation || len(rows(t, s, store.Talk, "epsilon")) != 0 {
		t.Error("a failed change left something behind")
	}
}

// TestSurfaces: changing the surface of ranges gives what setting each event
// would.
func TestSurfaces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	all := []transcript.Surface{transcript.Current, transcript.Shadowed, transcript.LogOnly}
	for round := range 30 {
		path := storetest.Path(t)
		w, err := store.OpenWriter(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]transcript.Surface, 40)
		err = w.Update(ctx, func(tx *store.Tx) error {
			src := transcript.Source{Agent: "pi", Path: "/x", Signature: "1"}
			id, err := tx.PutSource(store.SourceState{Source: src, State: store.StateRead})
			if err != nil {
				return err
			}
			sink := tx.NewSink(id, src, "x", nil)
			if err := sink.Begin(false); err != nil {
				return err
			}
			for i := range want {
				want[i] = all[rnd.IntN(3)]
				e := storetest.Say("user", "x")
				e.SessionID, e.Seq, e.Surface = "s", i, want[i]
				if err := sink.Event(&e); err != nil {
					return err
				}
			}
			for range 12 {
				from := rnd.IntN(len(want) + 1)
				to := from + rnd.IntN(len(want)-from+1)
				v := all[rnd.IntN(3)]
				for i := from; i < to; i++ {
					want[i] = v
				}
				if err := sink.Surface("s", from, to, v); err != nil {
					return err
				}
			}
			if err := sink.Header(&transcript.Header{SessionID: "s", Conversation: true, Relation: transcript.RelationRoot}); err != nil {
				return err
			}
			return sink.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		s := snapshot(t, storetest.Open(t, path))
		for _, e := range events(t, s, named(t, s, "s"), 0) {
			if e.Surface != want[e.Seq] {
				t.Fatalf("round %d: event %d is %s, want %s", round, e.Seq, e.Surface, want[e.Seq])
			}
		}
	}
}

// TestDamage is case B17: a flipped bit in the index is an error that says so,
// never a crash or an allocation of gigabytes.
func TestDamage(t *testing.T) {
	path := storetest.Path(t)
	long := strings.Repeat("alpha beta gamma ", 3000)
	storetest.Build(t, path, storetest.Talk("a", long), storetest.Talk("b", long, "delta", long))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		bad := append([]byte(nil), whole...)
		for range 1 + rnd.IntN(4) {
			bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
		}
		p := storetest.Path(t)
		if err := os.WriteFile(p, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := store.OpenReader(ctx, p)
		if err != nil {
			continue
		}
		if s, err := r.Snapshot(ctx); err == nil {
			for _, id := range []string{"a", "b"} {
				if list, err := s.Named(ctx, "claude", id, false); err == nil && len(list) == 1 {
					_ = s.Events(ctx, list[0], 0, func(*store.Stored) bool { return true })
				}
			}
			if list, err := s.Rows(ctx, store.Talk, store.Phrase([]string{"alpha"}, false), 0, 1<<62, 100); err == nil {
				for _, row := range list {
					s.Spans.At(row)
				}
			}
			s.Close()
		}
		r.Close()
	}
}

// TestForeign: a database of another version, one that is only being made and
// none at all are told apart from a damaged one.
func TestForeign(t *testing.T) {
	path := storetest.Path(t)
	if _, err := store.OpenReader(ctx, path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing index: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenReader(ctx, path); !errors.Is(err, store.ErrUnborn) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an index that is being made: %v", err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenReader(ctx, path); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("garbage: %v", err)
	}
	if _, err := store.OpenWriter(ctx, path); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("garbage: %v", err)
	}
	aside, err := store.SetAside(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(aside); err != nil {
		t.Errorf("set aside: %v", err)
	}
	db, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = db.Exec(`CREATE TABLE other(a)`)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := store.OpenReader(ctx, path); !errors.Is(err, store.ErrForeign) {
		t.Errorf("another program's database: %v", err)
	}
	if err := store.Remove(path); err != nil {
		t.Fatal(err)
	}
	w, err := store.OpenWriter(ctx, path)
	if err != nil {
		t.Fatalf("after setting aside: %v", err)
	}
	w.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
}

// TestOddPaths: the index may lie in a folder whose name means something in a
// URI.
func TestOddPaths(t *testing.T) {
	dir := t.TempDir() + "/odd %41?#&= ü"
	path := dir + "/index.db"
	storetest.Build(t, path, storetest.Talk("a", "alpha"))
	if s := snapshot(t, storetest.Open(t, path)); len(rows(t, s, store.Talk, "alpha")) != 1 {
		t.Error("not found")
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) == 0 || !strings.HasPrefix(list[0].Name(), "index.db") {
		t.Errorf("files %v %v", list, err)
	}
}

// TestReducedOutput holds matching.md rule 11: head and tail of a long output
// word for word, between them every distinct word but random-looking ones, and
// no phrases.
func TestReducedOutput(t *testing.T) {
	var b strings.Builder
	b.WriteString("begin of it\n")
	for i := range 40_000 {
		fmt.Fprintf(&b, "line %d says nothing\n", i)
		if i == 20_000 {
			b.WriteString("middling quartz error[E0308] src/gull_parser.go 索引服务 C++ dead0beefdeadbeef QWxhZGRpbjpvcGVuIHNlc2FtZQ12 straße\n")
		}
	}
	b.WriteString("the very end\n")
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Session{Header: transcript.Header{SessionID: "s"}, Events: []transcript.Event{storetest.Say("tool", b.String())}})
	s := snapshot(t, storetest.Open(t, path))
	for _, c := range []struct {
		terms []string
		want  int
	}{
		{[]string{"begin", "of", "it"}, 1},
		{[]string{"the", "very", "end"}, 1},
		{[]string{"middling"}, 1},
		{[]string{"quartz"}, 1},
		{[]string{"middling", "quartz"}, 0}, // no phrases in the middle
		{[]string{"error", "e0308"}, 1},     // but identifiers and paths are whole
		{[]string{"src", "gull", "parser", "go"}, 1},
		{[]string{"索引", "引服"}, 1},
		{[]string{"c++"}, 1},
		{[]string{"strasse"}, 1},
		{[]string{"dead0beefdeadbeef"}, 0},
	} {
		if got := len(rows(t, s, store.ToolText, c.terms...)); got != c.want {
			t.Errorf("%q is in %d rows, want %d", c.terms, got, c.want)
		}
	}
	e := events(t, s, named(t, s, "s"), 0)[0]
	kept := 0
	for _, p := range e.Parts {
		kept += len(p.Text)
	}
	if e.Reduced == 0 || kept > 250_000 || int64(b.Len()) != e.Reduced+int64(kept)-int64(len("\n…\n")) {
		t.Errorf("%d bytes kept, %d recorded as left out, of %d", kept, e.Reduced, b.Len())
	}
}

// TestLongTextIsWhole: what a person typed is kept whole, and a phrase is found
// across the cuts between rows.
func TestLongTextIsWhole(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "n%d ", i)
	}
	path := storetest.Path(t)
	storetest.Build(t, path, storetest.Talk("s", b.String()))
	s := snapshot(t, storetest.Open(t, path))
	e := events(t, s, named(t, s, "s"), 0)[0]
	if e.Parts[0].Text != b.String() || e.Rows < 2 {
		t.Errorf("%d bytes of %d in %d rows", len(e.Parts[0].Text), b.Len(), e.Rows)
	}
	for i := 0; i < 99_960; i += 37 {
		var phrase []string
		for k := range 40 {
			phrase = append(phrase, fmt.Sprintf("n%d", i+k))
		}
		if len(rows(t, s, store.Talk, phrase...)) == 0 {
			t.Fatalf("the phrase at %d is in no row", i)
		}
	}
}

// TestScrub: after it what was dropped is gone from the file, its words and its
// bytes, and the file is smaller.
func TestScrub(t *testing.T) {
	path := storetest.Path(t)
	secret := "xyzzyplugh"
	rnd := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	for range 60_000 {
		fmt.Fprintf(&b, "w%x ", rnd.Uint32())
	}
	storetest.Build(t, path, storetest.Talk("keep", "alpha"), storetest.Talk("drop", secret+" "+b.String()))
	before := store.Bytes(path)
	w, err := store.OpenWriter(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Update(ctx, func(tx *store.Tx) error {
		id, err := tx.PutSource(store.SourceState{Source: transcript.Source{Agent: "claude", Path: "/transcripts/drop.jsonl", Signature: "x"}, State: store.StateRead})
		if err != nil {
			return err
		}
		return tx.DropSource(id)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if after := store.Bytes(path); after > before/2 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), secret) {
		t.Errorf("the purged word is still in the file (%v)", err)
	}
}

// TestCheckpoint: a reader's carry-over of any size comes back as it was.
func TestCheckpoint(t *testing.T) {
	w, err := store.OpenWriter(ctx, storetest.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, state := range []string{"{}", `{"a":1}`, strings.Repeat(`{"uuid":"0123456789"}`, 3000)} {
		in := transcript.Checkpoint{Offset: 77, Head: 1 << 63, Tail: 5, State: []byte(state), Version: 3, Bad: 2, Torn: true, Partial: "half"}
		err := w.Update(ctx, func(tx *store.Tx) error {
			id, err := tx.PutSource(store.SourceState{Source: transcript.Source{Agent: "pi", Path: "/x", Signature: "s"}, State: store.StateRead, Checkpoint: &in})
			if err != nil {
				return err
			}
			out, err := tx.Checkpoint(id)
			if err != nil {
				return err
			}
			if out == nil || !reflect.DeepEqual(*out, in) {
				t.Errorf("got %+v, want %+v", out, in)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
