package jsonv

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// shrink feeds in to a Shrinker in chunks of at most n bytes (0: at once).
func shrink(lim Limits, line bool, in string, n int) (out string, used int, s *Shrinker) {
	s = NewShrinker(lim, line, nil)
	for at := 0; at < len(in); {
		end := len(in)
		if n > 0 {
			end = min(at+n, len(in))
		}
		k, done := s.Feed([]byte(in[at:end]))
		at += k
		used = at
		if done {
			break
		}
		if k == 0 {
			break
		}
	}
	return string(s.Bytes()), used, s
}

func TestShrinkKeepsWhatIsSmall(t *testing.T) {
	for in, want := range map[string]string{
		`{"a" : [1, "x y\n", {"b":null}] , "c":"\""} {"next":1}`: `{"a":[1,"x y\n",{"b":null}],"c":"\""}`,
		`"alone" ,`: `"alone"`, `12.5,`: `12.5`, `true}`: `true`, "null\n": `null`, `[]`: `[]`, ` {}`: `{}`,
	} {
		for n := range 4 {
			out, used, s := shrink(DefaultLimits(), false, in, n)
			if out != want || s.Cut() != 0 || s.Broken() || used > len(in) {
				t.Errorf("%q in steps of %d: %q, cut %d", in, n, out, s.Cut())
			}
		}
	}
	out, used, _ := shrink(DefaultLimits(), true, "{\"a\": 1} {\"b\":2}\nnext", 3)
	if out != `{"a":1}{"b":2}` || used != 17 {
		t.Errorf("line: %q, %d bytes used", out, used)
	}
	out, used, _ = shrink(DefaultLimits(), true, "{\"a\": \"cut off\nnext", 0)
	if out != `{"a":"cut off` || used != 15 {
		t.Errorf("line that ends inside a string: %q, %d bytes used", out, used)
	}
}

func TestShrinkSkipsMembers(t *testing.T) {
	lim := DefaultLimits("skip", "also")
	for in, want := range map[string]string{
		`{"skip":{"a":[1,{"skip":2}]},"b":1}`: `{"skip":null,"b":1}`, `{"a":{"skip":"x\"y","b":[{"also":[1,2]}]}}`: `{"a":{"skip":null,"b":[{"also":null}]}}`,
		`{"skip":1}`: `{"skip":null}`, `{"skip":"","also":null}`: `{"skip":null,"also":null}`, `{"b":"skip","c":["skip",1]}`: `{"b":"skip","c":["skip",1]}`, `["skip"]`: `["skip"]`,
		`{"skip":[],"x":{}}`: `{"skip":null,"x":{}}`,
	} {
		for n := range 3 {
			if out, _, s := shrink(lim, false, in, n); out != want || s.Broken() {
				t.Errorf("%s: %s, want %s", in, out, want)
			}
		}
	}
}

// base64 is text of letters and digits without a space.
func base64(n int) string {
	const set = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	rng := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, n)
	for i := range b {
		b[i] = set[rng.IntN(len(set))]
	}
	return string(b)
}

func TestShrinkDropsBlobs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		blob       bool
	}{
		{"base64", base64(100000), true},
		{"data URL", "data:image/png;base64," + base64(5000), true},
		{"short base64", base64(400), false},
		{"wall of one letter", strings.Repeat("a", 5000), false},
		{"words", strings.Repeat("tern and gull ", 400), false},
		{"hex in lower case", strings.Repeat("0a1b2c3d", 400), false},
		{"data URL quoted in prose", "see data:image/png;base64," + strings.Repeat("words ", 300), false},
		{"CJK", strings.Repeat("潮汐表", 400), false},
	} {
		in := `{"a":"` + c.text + `","b":1}`
		out, _, s := shrink(DefaultLimits(), false, in, 700)
		v := Value(out)
		if !Valid(v) || string(v.Get("b")) != "1" {
			t.Errorf("%s: %.80s is no longer whole", c.name, out)
		}
		if kept := len(out) < len(in)/2; kept != c.blob || (s.Cut() > 0) != c.blob {
			t.Errorf("%s: %d of %d bytes kept, cut %d", c.name, len(out), len(in), s.Cut())
		}
	}
}

// cutParts splits the text of a shortened string at the mark.
func cutParts(s string) (head, tail string, ok bool) {
	return strings.Cut(s, " \n\u2026\n ")
}

// A string over the limit keeps its start and end, readable wherever the cut
// falls: inside a multi-byte character, an escape, a surrogate pair.
func TestShrinkCutsStrings(t *testing.T) {
	lim := Limits{String: 60, StringTail: 20, Total: 1 << 20}
	for name, unit := range map[string]string{
		"words": "tern gull ", "one word": "x", "two bytes": "é", "three bytes": "潮", "four bytes": "🐦", "escapes": `\n`, "escaped backslashes": `\\`, "escaped quotes": `\"`,
		"hex escapes": `\u6f6e`, "surrogate pairs": `\ud83d\udc26`, "mixed": `a\\\u6f6e é\"🐦\ud83d\udc26`, "backslash before u": `\\u6f6e`,
	} {
		var whole string
		if err := json.Unmarshal([]byte(`"`+strings.Repeat(unit, 200)+`"`), &whole); err != nil {
			t.Fatal(err)
		}
		for pad := range 12 { // moves the cuts through the unit, at both ends
			for padEnd := range 7 {
				raw := strings.Repeat("p", pad) + strings.Repeat(unit, 200) + strings.Repeat("q", padEnd)
				out, _, s := shrink(lim, false, `"`+raw+`"`, 7)
				if !Valid([]byte(out)) || !json.Valid([]byte(out)) {
					t.Fatalf("%s: %q is no JSON", name, out)
				}
				text := Value(out).Str()
				head, tail, ok := cutParts(text)
				full := strings.Repeat("p", pad) + whole + strings.Repeat("q", padEnd)
				if !ok || !strings.HasPrefix(full, head) || !strings.HasSuffix(full, tail) || strings.Contains(text, "\ufffd") || !utf8.ValidString(text) {
					t.Fatalf("%s, padded by %d and %d: %q", name, pad, padEnd, text)
				}
				if len(out) > lim.String+len(cutMark)+2 || s.Cut() != int64(len(raw)-(len(out)-2-len(cutMark))) {
					t.Errorf("%s: %d bytes kept, cut %d of %d", name, len(out), s.Cut(), len(raw))
				}
				if name != "words" && name != "mixed" && len(head) == 0 {
					t.Errorf("%s: nothing of the start is left", name)
				}
			}
		}
	}
	// Up to the limit nothing is cut.
	for n := 35; n <= 60; n++ {
		in := `"` + strings.Repeat("x", n) + `"`
		if out, _, s := shrink(lim, false, in, 9); out != in || s.Cut() != 0 {
			t.Errorf("string of %d bytes: %q", n, out)
		}
	}
}

// Memory is bounded by the limits, whatever the value consists of.
func TestShrinkIsBounded(t *testing.T) {
	lim := Limits{String: 4000, StringTail: 1000, Total: 100_000}
	const total = 16 << 20
	for name, unit := range map[string]string{
		"long strings": `"` + strings.Repeat("tern gull ", 50_000) + `",`, "tiny strings": `"ab",`, "numbers": `1234,`, "objects": `{"k":"v"},`, "empty strings": `"",`,
		"long keys": `{"` + strings.Repeat("k y", 3000) + `":1},`, "nesting": `{"k":[`, "closing": `]`, "backslashes": `"\\\\\\\\\\\\\\\\",`,
	} {
		s := NewShrinker(lim, true, nil)
		s.Feed([]byte("["))
		chunk := []byte(strings.Repeat(unit, 1+(256<<10)/len(unit)))
		for fed := 0; fed < total; fed += len(chunk) {
			if n, done := s.Feed(chunk); done || n != len(chunk) {
				t.Fatalf("%s: ended early", name)
			}
		}
		if got := cap(s.out) + cap(s.tail) + cap(s.stack) + cap(s.key); got > 4*(lim.Total+slack) {
			t.Errorf("%s: holds %d bytes", name, got)
		}
	}
}

// However the bytes arrive, the result is the same; what was valid stays valid.
func FuzzShrinker(f *testing.F) {
	for _, s := range []string{
		`{"a":"` + strings.Repeat(`x\u00e9 潮\\ `, 40) + `","skip":[{"b":"c"}],"d":[1,2,{"e":"f"}]}`, `["` + base64(600) + `","` + strings.Repeat("a", 300) + `"]`, `"\ud83d\udc26"`,
		`{"a":"b`, `[[[[`, "{\"a\n\":1}", `12`, `}`, strings.Repeat(`"`+strings.Repeat("y", 50)+`",`, 30), "\"" + strings.Repeat("\\", 99),
	} {
		f.Add([]byte(s), uint64(1), uint16(50), uint8(10))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, keep uint16, tail uint8) {
		lim := Limits{String: int(keep), StringTail: int(min(uint16(tail), keep)), Total: 400, Skip: []string{"skip"}}
		for _, line := range []bool{false, true} {
			whole, used, a := shrink(lim, line, string(data), 0)
			s := NewShrinker(lim, line, nil)
			rng := rand.New(rand.NewPCG(seed, 1))
			at, done := 0, false
			for at < len(data) && !done {
				n := 0
				piece := data[at:min(len(data), at+1+rng.IntN(9))]
				n, done = s.Feed(piece)
				at += n
				if n == 0 && !done {
					t.Fatalf("no progress at byte %d of %q", at, data)
				}
			}
			if string(s.Bytes()) != whole || at != used || done && s.Cut() != a.Cut() || s.Broken() != a.Broken() {
				t.Fatalf("in pieces: %q (%d used, %d cut), at once: %q (%d used, %d cut)", s.Bytes(), at, s.Cut(), whole, used, a.Cut())
			}
			if utf8.Valid(data) && Valid(data) && !line && !a.Broken() {
				if !Valid([]byte(whole)) {
					t.Fatalf("%q was valid, %q is not", data, whole)
				}
				if json.Valid(data) && !json.Valid([]byte(whole)) {
					t.Fatalf("%q was JSON, %q is not", data, whole)
				}
			}
		}
	})
}
