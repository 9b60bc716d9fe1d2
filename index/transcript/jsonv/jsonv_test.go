package jsonv

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestStr(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`"plain"`, "plain"}, {`""`, ""}, {`"a\"b\\c\/d"`, `a"b\c/d`}, {`"\n\t\r\b\f"`, "\n\t\r\b\f"}, {`"\u00e9\u4e2d"`, "é中"},
		{`"\ud83d\udc26"`, "🐦"}, {`"\ud83d"`, "\ufffd"}, {`"\udc26"`, "\ufffd"}, {`"\ud83dx"`, "\ufffdx"}, {`"\ud83d\ud83d\udc26"`, "\ufffd🐦"},
		{`"\ud83d\u0041"`, "\ufffdA"}, {`"\u12"`, "\ufffd"}, {`"\u12zz"`, "\ufffdzz"}, {`"\q"`, "q"}, {"\"a\x00b\"", "a\x00b"}, {"\"a\nb\"", "a\nb"},
		{"\"a\xffb\xc3\"", "a\ufffdb\ufffd"}, {`"潮 ü"`, "潮 ü"}, {"\"\u2028\"", "\u2028"}, {`"cut off`, "cut off"}, {`"ends in \`, "ends in "}, {`"ends in \"`, `ends in "`},
		{`12.50`, "12.50"}, {`true`, "true"}, {`null`, ""}, {`[1]`, ""}, {`{}`, ""}, {``, ""}, {`x`, ""},
	} {
		if got := Value(c.in).Str(); got != c.want {
			t.Errorf("Str(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := string(Value(`"b\u0063"`).AppendStr([]byte("a"))); got != "abc" {
		t.Errorf("AppendStr = %q", got)
	}
}

func TestKind(t *testing.T) {
	for in, want := range map[string]Kind{
		"": Absent, "x": Absent, "+1": Absent, "null": Null, "true": Bool, "false": Bool, "-1": Number, "0": Number, `"`: String, "[": Array, "{": Object,
	} {
		v := Value(in)
		if v.Kind() != want || v.Exists() != (want > Null) {
			t.Errorf("%q: kind %d exists %v", in, v.Kind(), v.Exists())
		}
	}
}

func TestGet(t *testing.T) {
	const doc = ` {"a": 1, "b": {"c": [10, {"d": "x"}], "e\u0066": true}, "a": 2, "n": null, "": 3, "odd\"key": 4} `
	v := Parse([]byte(doc))
	for _, c := range []struct {
		path []string
		want string
	}{
		{nil, strings.TrimSpace(doc)}, {[]string{"a"}, "2"}, {[]string{"b", "ef"}, "true"}, {[]string{"b", "c"}, `[10, {"d": "x"}]`}, {[]string{"n"}, "null"},
		{[]string{""}, "3"}, {[]string{`odd"key`}, "4"}, {[]string{"none"}, ""}, {[]string{"a", "x"}, ""}, {[]string{"b", "c", "d"}, ""}, {[]string{"n", "x"}, ""},
	} {
		if got := string(v.Get(c.path...)); got != c.want {
			t.Errorf("Get(%q) = %q, want %q", c.path, got, c.want)
		}
	}
	out := []Value{Value("default"), nil, nil}
	v.Pick([]string{"none", "a", "b"}, out)
	if string(out[0]) != "default" || string(out[1]) != "2" || out[2].Kind() != Object {
		t.Errorf("Pick = %q", out)
	}
}

func TestElems(t *testing.T) {
	for in, want := range map[string][]string{
		`[]`: nil, `[ ]`: nil, `[1]`: {"1"}, `[1 , "a,]" ,{"x":[2]}, [] ]`: {"1", `"a,]"`, `{"x":[2]}`, "[]"}, `{}`: nil, `"x"`: nil, ``: nil,
		`[1, 2`: {"1", "2"}, `["a`: {`"a`}, `[1,,2]`: {"1"}, `[}`: nil,
	} {
		var got []string
		Value(in).Elems(func(i int, v Value) bool {
			if i != len(got) {
				t.Errorf("%q: index %d", in, i)
			}
			got = append(got, string(v))
			return true
		})
		if !slices.Equal(got, want) || Value(in).Len() != len(want) {
			t.Errorf("Elems(%q) = %q, want %q", in, got, want)
		}
	}
	n := 0
	Value(`[1,2,3]`).Elems(func(int, Value) bool { n++; return n < 2 })
	Value(`{"a":1,"b":2,"c":3}`).Each(func(Value, Value) bool { n++; return n < 4 })
	if n != 4 {
		t.Errorf("walks did not stop when told: %d", n)
	}
}

func TestStrings(t *testing.T) {
	for in, want := range map[string][]string{
		`{"a":"x","b":["y",{"c":"z","d":1}],"e":"q\"}"}`: {"x", "y", "z", `q"}`}, `"alone"`: {"alone"}, `7`: nil, `{"a" : "x" , "b":null}`: {"x"}, `["cut`: {"cut"},
		strings.Repeat("[", 5000) + `"deep"`: {"deep"},
	} {
		var got []string
		Value(in).Strings(func(s Value) bool { got = append(got, s.Str()); return true })
		if !slices.Equal(got, want) {
			t.Errorf("Strings(%.40q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		in  string
		f   float64
		n   int64
		isF bool
		isN bool
	}{
		{"12", 12, 12, true, true}, {`"12"`, 12, 12, true, true}, {"-1.9", -1.9, -1, true, true}, {"1e3", 1000, 1000, true, true}, {"1785000000000", 1785000000000, 1785000000000, true, true},
		{"1e300", 1e300, 0, true, false}, {"1e999", 0, 0, false, false}, {`"NaN"`, 0, 0, false, false}, {`"Inf"`, 0, 0, false, false}, {`"x"`, 0, 0, false, false}, {"true", 0, 0, false, false}, {"", 0, 0, false, false},
		{"9007199254740993", 9007199254740992, 9007199254740993, true, true}, {"null", 0, 0, false, false}, {"[1]", 0, 0, false, false}, {"9223372036854775807", math.MaxInt64, 0, true, false},
	} {
		f, okF := Value(c.in).Float()
		n, okN := Value(c.in).Int()
		if f != c.f && okF || okF != c.isF || n != c.n || okN != c.isN {
			t.Errorf("%s: float %v %v, int %d %v; want %+v", c.in, f, okF, n, okN, c)
		}
	}
}

func TestValid(t *testing.T) {
	for in, want := range map[string]bool{
		`{}`: true, ` [1, -2.5e3, "x", true, false, null] `: true, `{"a":{"b":[]}}`: true, `""`: true, "\"raw \x01 \xff\"": true,
		``: false, ` `: false, `{`: false, `[1,]`: false, `{"a":1,}`: false, `{"a"}`: false, `{1:2}`: false, `[1 2]`: false, `{"a":1}{`: false, `tru`: false, `nul`: false,
		`"open`: false, `"esc\"`: false, `"esc\\"`: true, `}`: false, `[}`: false, `{]`: false, `01x`: false, `--1`: false, `1e999`: true, `0x1p4`: false, `1_0`: false, `1.`: false, `.5`: false, `1e`: false, `-`: false, `-Inf`: false,
		strings.Repeat("9", 100): true, `[1,,2]`: false, `{"a"::1}`: false, `{"a":}`: false, `,`: false,
		strings.Repeat("[", 4000) + strings.Repeat("]", 4000): true, strings.Repeat("[", 5000) + strings.Repeat("]", 5000): false,
	} {
		if got := Valid([]byte(in)); got != want {
			t.Errorf("Valid(%.40q) = %v", in, got)
		}
	}
	for in, want := range map[string]int{`{"a":1} {"b":2}`: 7, ` "x"y`: 4, `12,`: 2} {
		if end, ok := Complete([]byte(in)); !ok || end != want {
			t.Errorf("Complete(%q) = %d, %v", in, end, ok)
		}
	}
}

// decode turns a Value into what encoding/json makes of it.
func decode(v Value) any {
	switch v.Kind() {
	case String:
		return v.Str()
	case Number:
		return json.Number(v)
	case Bool:
		return v.True()
	case Array:
		out := []any{}
		v.Elems(func(_ int, e Value) bool { out = append(out, decode(e)); return true })
		return out
	case Object:
		out := map[string]any{}
		v.Each(func(k, e Value) bool { out[k.Str()] = decode(e); return true })
		return out
	}
	return nil
}

// depth is how deep a text's brackets go, strings included: an upper bound.
func depth(b []byte) int {
	n, most := 0, 0
	for _, c := range b {
		switch c {
		case '{', '[':
			n++
		case '}', ']':
			n--
		}
		most = max(most, n)
	}
	return most
}

// Whatever encoding/json accepts is valid here and reads to the same value.
func FuzzSameAsEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e-3,"x\ud83d\udc26\u00e9\n",null,true],"b":{"c":{}},"a":0}`, `"\ud800"`, `[[],{},""]`, `-0`, `5E545455555`, ` 1 `, `"\u0000"`, "\"\xff\"", `{"\u0061":1}`, `{"a":1`, `"\"`, `1e5`, "\ufeff{}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v := Parse(data)
		decode(v) // must not panic, whatever it is
		_ = v.Get("a", "b")
		v.Strings(func(s Value) bool { _ = s.Str(); return true })
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var want any
		if !json.Valid(data) || dec.Decode(&want) != nil || depth(data) > maxDepth {
			return
		}
		if !Valid(data) {
			t.Fatalf("valid JSON is refused: %q", data)
		}
		if got := decode(v); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q reads as %#v, want %#v", data, got, want)
		}
	})
}

func ExampleValue_Get() {
	v := Parse([]byte(`{"message":{"role":"user","content":"tidy the \u201cgull\u201d parser"}}`))
	fmt.Println(v.Get("message", "content").Str())
	// Output: tidy the “gull” parser
}
