package dsh

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/transcripttest"
)

const zstdPath = ".dsh/sessions/--w-loom--/s1/session.jsonl.zstd"

// frame compresses text as one checksummed frame, as dsh writes each batch.
func frame(t testing.TB, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

func readZstd(t testing.TB, data string) (*transcripttest.Session, *transcript.Checkpoint, error) {
	t.Helper()
	return only(t, transcripttest.Env(transcripttest.Write(t, map[string]string{zstdPath: data}), nil))
}

// sampleLog is a log of several turns with an interrupted answer, multi-byte
// text and calls.
func sampleLog() []string {
	return []string{header, userLine(0, "größer 潮 🐦"), `{"type":"text-chunks","seq0":1,"time0":1767225601000,"data":{"turn":1,"step":1,"dt":[1],"texts":["größe ","潮"]}}`,
		replyLine(3, "größe 潮"), ev("tool/call", 4, `"data":{"callId":"c1","name":"read","arguments":"{\"path\":\"a.go\"}"}`), resultLine(5, "package 潮", `"append"`),
		ev("turn/end", 6, `"data":{"reason":{"kind":"completed"}}`), userLine(7, "and now?"), `{"type":"text-chunks","seq0":8,"time0":1767225609000,"data":{"turn":2,"step":1,"dt":[],"texts":["cut off"]}}`,
		ev("turn/end", 9, `"data":{"reason":{"kind":"interrupted"}}`), ev("session/title", 10, `"data":{"title":"Tides","source":{"kind":"provider"}}`), userLine(11, "bye")}
}

// Reading a log as it grows, cut anywhere, gives what one reading gives.
func TestGrows(t *testing.T) {
	log := sampleLog()
	plain := doc(log...)
	var packed strings.Builder
	for i := 0; i < len(log); i += 2 {
		packed.WriteString(frame(t, doc(log[i:min(i+2, len(log))]...)))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	continued := 0
	for range 60 {
		for path, data := range map[string]string{plainPath: plain, zstdPath: packed.String()} {
			var steps []int
			for left := len(data); left > 0; {
				n := 1 + rng.IntN(len(data)/3)
				steps = append(steps, n)
				left -= n
			}
			continued += transcripttest.Grows(t, New(), transcripttest.Write(t, map[string]string{path: data}), path, steps)
		}
	}
	if continued < 50 {
		t.Errorf("only %d steps were continued", continued)
	}
}

// Appending whole frames, or lines, is read on from where reading ended.
func TestContinues(t *testing.T) {
	log := sampleLog()
	first, second := doc(log[:7]...), doc(log[7:]...)
	for path, parts := range map[string][2]string{plainPath: {first, second}, zstdPath: {frame(t, first), frame(t, second)}} {
		h := transcripttest.Write(t, map[string]string{path: parts[0]})
		env := transcripttest.Env(h, nil)
		src := transcripttest.Sources(t, New(), env)[0]
		rec := transcripttest.NewRecorder(t)
		cp, err := New().Read(context.Background(), env, src, nil, rec)
		if err != nil || cp.Offset != int64(len(parts[0])) || cp.State == nil {
			t.Fatalf("%s: checkpoint %+v, %v", path, cp, err)
		}
		if err := os.WriteFile(filepath.Join(h, path), []byte(parts[0]+parts[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		before := len(rec.Sessions["s1"].Events)
		if cp, err = New().Read(context.Background(), env, src, cp, rec); err != nil {
			t.Fatal(err)
		}
		if s := rec.Sessions["s1"]; before != 7 || len(s.Events) != 12 || s.Title != "Tides" || cp.Offset != int64(len(parts[0])+len(parts[1])) {
			t.Errorf("%s: %d, then %d events, title %q, offset %d", path, before, len(s.Events), s.Title, cp.Offset)
		}
		// Cut back by a repair, the log is read anew.
		if err := os.WriteFile(filepath.Join(h, path), []byte(parts[0]), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err = New().Read(context.Background(), env, src, cp, rec); err != nil || len(rec.Sessions["s1"].Events) != 7 {
			t.Errorf("%s after a repair: %v, %d events", path, err, len(rec.Sessions["s1"].Events))
		}
	}
}

// An appended compaction changes earlier events; so does the message whose
// chunks were shown as an interrupted answer.
func TestReread(t *testing.T) {
	chunks := `{"type":"text-chunks","seq0":1,"time0":1,"data":{"turn":1,"step":1,"texts":["half"]}}`
	for name, c := range map[string]struct{ before, after string }{
		"compaction":     {doc(header, userLine(0, "a"), replyLine(1, "b")), doc(ev("user/message", 2, `"data":{"content":[],"source":{"kind":"plugin"}},"surfaceOp":{"op":"replace","start":0,"end":1}`))},
		"answer arrives": {doc(header, userLine(0, "a"), chunks), doc(replyLine(2, "half and half"))},
	} {
		h := transcripttest.Write(t, map[string]string{plainPath: c.before})
		env := transcripttest.Env(h, nil)
		src := transcripttest.Sources(t, New(), env)[0]
		cp, err := New().Read(context.Background(), env, src, nil, transcripttest.NewRecorder(t))
		if err != nil {
			t.Fatal(err)
		}
		// Nothing new: nothing to read again.
		rec := transcripttest.NewRecorder(t)
		if cp, err = New().Read(context.Background(), env, src, cp, rec); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(h, plainPath), []byte(c.before+c.after), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err = New().Read(context.Background(), env, src, cp, transcripttest.NewRecorder(t)); !errors.Is(err, transcript.ErrReread) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFrames(t *testing.T) {
	head := frame(t, doc(header))
	a, b, c := frame(t, doc(userLine(0, "one"))), frame(t, doc(replyLine(1, "two"))), frame(t, doc(userLine(2, "three")))
	flip := func(s string, i int) string {
		x := []byte(s)
		x[i] ^= 0xff
		return string(x)
	}
	skippable := "\x50\x2a\x4d\x18\x05\x00\x00\x00hello"
	var incompressible strings.Builder
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60000 {
		fmt.Fprintf(&incompressible, "%x ", rng.Uint32())
	}
	big := frame(t, doc(userLine(2, incompressible.String()), replyLine(3, "after")))
	texts := func(s *transcripttest.Session) string {
		if s == nil {
			return ""
		}
		var out []string
		for _, e := range s.Events {
			for _, p := range e.Parts {
				out = append(out, p.Text[:min(len(p.Text), 5)])
			}
		}
		return strings.Join(out, " ")
	}
	for _, x := range []struct {
		name, data, want string
		bad              int
		torn             bool
		resumable        bool
	}{
		{"whole", head + a + b + c, "one two three", 0, false, true},
		{"skippable frame and empty frame between", head + a + skippable + frame(t, "") + b, "one two", 0, false, true},
		{"last frame cut", head + a + b + c[:len(c)-9], "one two", 0, true, true},
		{"last frame without its checksum", head + a + b + c[:len(c)-4], "one two three", 0, true, false},
		{"cut in the magic", head + a + b + c[:2], "one two", 0, true, true},
		{"a large frame cut: its whole lines count", head + a + b + big[:len(big)-20], "one two", 0, true, false},
		{"checksum of a middle frame wrong", head + a + flip(b, len(b)-1) + c, "one three", 1, false, true},
		{"middle frame's magic gone", head + a + flip(b, 0) + c, "one three", 1, false, true},
		{"middle frame cut", head + a + b[:len(b)-9] + c, "one three", 1, false, true},
		{"zeros at the end", head + a + strings.Repeat("\x00", 300), "one", 1, false, true},
		{"zeros between", head + a + strings.Repeat("\x00", 300) + b, "one two", 1, false, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, cp, err := readZstd(t, x.data)
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(s); got != x.want || cp.Bad != x.bad || cp.Torn != x.torn || (cp.State != nil) != x.resumable {
				t.Errorf("%q bad %d torn %v resumable %v, want %q %d %v %v", got, cp.Bad, cp.Torn, cp.State != nil, x.want, x.bad, x.torn, x.resumable)
			}
		})
	}
	for name, data := range map[string]string{"empty": "", "no zstd": "hello, this is text", "first frame cut": head[:9]} {
		if _, _, err := readZstd(t, data); !errors.Is(err, transcript.ErrNoSession) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A long log of tiny frames, and one that unpacks to far more than it weighs.
func TestLargeLogs(t *testing.T) {
	var b strings.Builder
	b.WriteString(frame(t, doc(header)))
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	const n = 20000
	for i := range n {
		b.Write(enc.EncodeAll([]byte(doc(userLine(i, "tick"))), nil))
	}
	s, _, err := readZstd(t, b.String())
	if err != nil || len(s.Events) != n {
		t.Fatalf("%v, %d events", err, len(s.Events))
	}
	bomb := frame(t, doc(header)) + frame(t, doc(userLine(0, "hi"), resultLine(1, strings.Repeat("tern ", 8<<20), `"append"`), userLine(2, "after")))
	s, _, err = readZstd(t, bomb)
	if err != nil || len(s.Events) != 3 || s.Events[2].Parts[0].Text != "after" {
		t.Errorf("%d bytes that unpack to 40 MB: %v", len(bomb), err)
	}
}

func FuzzRead(f *testing.F) {
	log := sampleLog()
	f.Add([]byte(doc(log...)))
	f.Add([]byte(doc(header, userLine(0, "a"), replyLine(1, "b"), ev("user/message", 2, `"data":{"content":[],"source":{"kind":"plugin"}},"surfaceOp":{"op":"replace","start":0,"end":1}`))))
	f.Add([]byte(doc(header, `{"type":"tool-call-chunks","seq0":3,"time0":-1,"data":{"dt":["x"],"args":[1,null]}}`, ev("todo/write", 1, `"data":{"todos":[1,{}]}`))))
	f.Fuzz(func(t *testing.T, data []byte) {
		transcripttest.Damaged(t, New(), plainPath, data)
	})
}

func FuzzFrames(f *testing.F) {
	log := sampleLog()
	var b strings.Builder
	for _, l := range log {
		b.WriteString(frame(f, doc(l)))
	}
	f.Add([]byte(b.String()))
	f.Add([]byte(frame(f, doc(log...))))
	f.Add([]byte("\x50\x2a\x4d\x18\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		transcripttest.Damaged(t, New(), zstdPath, data)
	})
}
