package rpc

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestReadHeader(t *testing.T) {
	long := strings.Repeat("x", maxHeaderLine)
	for _, tc := range []struct {
		name, in string
		want     int // 0 = refused
	}{
		{"plain", "Content-Length: 12\r\n\r\n", 12},
		{"lower case", "content-length: 12\r\n\r\n", 12},
		{"line feeds", "Content-Length: 12\n\n", 12},
		{"no space", "Content-Length:12\r\n\r\n", 12},
		{"spaces", "Content-Length:   12 \t\r\n\r\n", 12},
		{"other fields", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 12\r\nX: y\r\n\r\n", 12},
		{"two lengths, the last counts", "Content-Length: 1\r\nContent-Length: 12\r\n\r\n", 12},
		{"leading zeros", "Content-Length: 0012\r\n\r\n", 12},
		{"largest", "Content-Length: 1073741824\r\n\r\n", 1 << 30},
		{"too large", "Content-Length: 1073741825\r\n\r\n", 0},
		{"beyond 64 bits", "Content-Length: 99999999999999999999999\r\n\r\n", 0},
		{"zero", "Content-Length: 0\r\n\r\n", 0},
		{"negative", "Content-Length: -1\r\n\r\n", 0},
		{"signed", "Content-Length: +1\r\n\r\n", 0},
		{"fraction", "Content-Length: 1.5\r\n\r\n", 0},
		{"hexadecimal", "Content-Length: 0x10\r\n\r\n", 0},
		{"underscore", "Content-Length: 1_0\r\n\r\n", 0},
		{"empty", "Content-Length:\r\n\r\n", 0},
		{"none", "\r\n", 0},
		{"only others", "Content-Type: x\r\n\r\n", 0},
		{"no colon", "hello\r\nContent-Length: 12\r\n\r\n", 0},
		{"cut", "Content-Length: 12\r\n", 0},
		{"long line", "X: " + long + "\r\nContent-Length: 12\r\n\r\n", 0},
		{"no line end", long + long, 0},
		{"many lines", strings.Repeat("X: y\r\n", maxHeader/6) + "Content-Length: 12\r\n\r\n", 0},
		{"NUL", "Content-Length\x00: 12\r\n\r\n", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := readHeader(bufio.NewReaderSize(strings.NewReader(tc.in), maxHeaderLine))
			if got != tc.want || (err == nil) != (tc.want != 0) {
				t.Errorf("got %d, %v; want %d", got, err, tc.want)
			}
			if err == io.EOF {
				t.Error("a broken header looks like a clean end")
			}
		})
	}
	if _, err := readHeader(bufio.NewReaderSize(strings.NewReader(""), maxHeaderLine)); err != io.EOF {
		t.Errorf("nothing at all: %v, want io.EOF", err)
	}
}

func FuzzReadHeader(f *testing.F) {
	f.Add("Content-Length: 12\r\n\r\n{}")
	f.Add("content-length:1\n\n")
	f.Add("\r\n\r\n")
	f.Add("a:b\r\nContent-Length: 99999999999\r\n\r\n")
	f.Fuzz(func(t *testing.T, in string) {
		n, err := readHeader(bufio.NewReaderSize(strings.NewReader(in), maxHeaderLine))
		if err == nil && (n < 1 || n > maxSkip) || err != nil && n != 0 {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func body(s *stream) (string, error) {
	b, err := s.nextBody()
	return string(b), err
}

func frame(s string) string {
	return "Content-Length: " + strconv.Itoa(len(s)) + "\r\n\r\n" + s
}

func TestBodies(t *testing.T) {
	big := strings.Repeat("b", 3<<20)
	s := newStream(strings.NewReader(frame("one")+frame(big)+frame("two")+frame(big+"!")+frame("three")+"Content-Length: 9\r\n\r\ncut"), io.Discard, len(big))
	for _, want := range []string{"one", big, "two"} {
		if got, err := body(s); got != want || err != nil {
			t.Fatalf("got %.10q…, %v; want %.10q…", got, err, want)
		}
	}
	if cap(s.body) > keepBuffer {
		t.Errorf("a buffer of %d bytes is kept after a large message", cap(s.body))
	}
	var refused *refusedError
	if _, err := body(s); !errors.As(err, &refused) || refused.fatal {
		t.Fatalf("over the limit: %v", err)
	}
	if got, err := body(s); got != "three" || err != nil {
		t.Fatalf("after the skipped message: %q, %v", got, err)
	}
	if _, err := body(s); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("cut body: %v", err)
	}
}

// TestAnnouncedIsNotAllocated announces the largest body and sends nothing.
func TestAnnouncedIsNotAllocated(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := newStream(strings.NewReader("Content-Length: 1073741824\r\n\r\n"), io.Discard, 1<<30)
	if _, err := body(s); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("%d bytes allocated for a body that never came", got)
	}
}

func TestEnvelopes(t *testing.T) {
	deep := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	for _, tc := range []struct {
		name, body string
		fatal, bad bool
	}{
		{name: "request", body: `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{name: "deep parameters", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":` + deep + `}`},
		{name: "batch", body: `[{"jsonrpc":"2.0","id":1,"method":"m"},7]`},
		{name: "empty batch", body: `[]`},
		{name: "large batch", body: `[` + strings.Repeat(`7,`, maxBatch) + `7]`, bad: true},
		{name: "large batch after spaces", body: "\r\n\t [" + strings.Repeat(`7,`, maxBatch) + `7]`, bad: true},
		{name: "cut batch", body: `[{"jsonrpc":"2.0","id":1,"method":"m"}`, fatal: true, bad: true},
		{name: "cut", body: `{"jsonrpc":"2.0","id":7,`, fatal: true, bad: true},
		{name: "number", body: `42`, fatal: true, bad: true},
		{name: "empty object", body: `{}`, fatal: true, bad: true},
		{name: "NULs", body: "\x00\x00\x00", fatal: true, bad: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := checkEnvelope([]byte(tc.body))
			var refused *refusedError
			if errors.As(err, &refused) != tc.bad || tc.bad && refused.fatal != tc.fatal {
				t.Errorf("got %v; want refused %v, fatal %v", err, tc.bad, tc.fatal)
			}
		})
	}
}
