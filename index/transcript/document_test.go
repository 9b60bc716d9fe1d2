package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// readDoc lists what ReadDocument hands over.
func readDoc(r io.Reader, lists, skip []string) (string, int64, error) {
	var out []string
	cut, err := ReadDocument(context.Background(), r, lists, skip,
		func(key string, v jsonv.Value) error { out = append(out, key+"="+string(v)); return nil },
		func(list string, i int, v jsonv.Value) error {
			out = append(out, fmt.Sprintf("%s[%d]=%s", list, i, v))
			return nil
		})
	return strings.Join(out, " "), cut, err
}

func TestReadDocument(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		fails, torn    bool
	}{
		{"members and a list", `{"id": "x", "messages": [{"a":1}, "two" ,3,[4],null], "n": 5}`, `id="x" messages[0]={"a":1} messages[1]="two" messages[2]=3 messages[3]=[4] messages[4]=null n=5`, false, false},
		{"empty object", ` {} `, "", false, false},
		{"empty list", `{"messages":[ ],"n":1}`, "n=1", false, false},
		{"two lists", `{"messages":[1],"other":[2],"messages":[3]}`, "messages[0]=1 other=[2] messages[0]=3", false, false},
		{"a list nested deeper is a value", `{"in":{"messages":[1,2]}}`, `in={"messages":[1,2]}`, false, false},
		{"the list is no array", `{"messages":{"0":1},"x":1}`, `messages={"0":1} x=1`, false, false},
		{"skipped at the top", `{"copy":[1,{"a":2}],"x":1}`, "copy=null x=1", false, false},
		{"skipped inside", `{"x":{"copy":"y","z":1},"messages":[{"copy":{}}]}`, `x={"copy":null,"z":1} messages[0]={"copy":null}`, false, false},
		{"BOM, CRLF, NULs around", "\ufeff\r\n{\"a\":1,\r\n\"messages\":[\r\n2]}\x00\x00", "a=1 messages[0]=2", false, false},
		{"escaped name, odd strings", `{"\u0061":"\"}","b":"[\\"}`, `a="\"}" b="[\\"`, false, false},
		{"literals", `{"a":true,"b":false,"c":null,"d":-1.5e3}`, "a=true b=false c=null d=-1.5e3", false, false},
		{"empty file", ``, "", true, true},
		{"white space only", " \n", "", true, true},
		{"torn in a list", `{"id":1,"messages":[{"a":1},{"b":`, `id=1 messages[0]={"a":1}`, true, true},
		{"torn in a string", `{"id":1,"t":"abc`, "id=1", true, true},
		{"torn after a name", `{"id":1,"t"`, "id=1", true, true},
		{"torn before the end", `{"id":1`, "", true, true},
		{"torn after a list", `{"messages":[1]`, "messages[0]=1", true, true},
		{"an array", `[1]`, "", true, false},
		{"text", `hello`, "", true, false},
		{"no name", `{1:2}`, "", true, false},
		{"no colon", `{"a" 1}`, "", true, false},
		{"value missing", `{"a":}`, "", true, false},
		{"brace in a list", `{"messages":[1}`, "messages[0]=1", true, false},
		{"nested without bound", `{"a":` + strings.Repeat("[", 6000), "", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
				got, _, err := readDoc(r, []string{"messages"}, []string{"copy"})
				if got != c.want || (err != nil) != c.fails || errors.Is(err, ErrTorn) != c.torn {
					t.Errorf("%s: %s, %v; want %s, fails %v torn %v", name, got, err, c.want, c.fails, c.torn)
				}
			}
		})
	}
}

func TestReadArray(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		fails, torn    bool
	}{
		{"elements", ` [{"a":1,"copy":[2]}, "two" ,[3],null] `, `0={"a":1,"copy":null} 1="two" 2=[3] 3=null`, false, false},
		{"empty", "\ufeff[]", "", false, false},
		{"empty file", "", "", true, true},
		{"torn", `[{"a":1},{"b":`, `0={"a":1}`, true, true},
		{"torn before the end", `[{"a":1}`, `0={"a":1}`, true, true},
		{"an object", `{"a":[1]}`, "", true, false},
		{"a brace", `[1}`, "0=1", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
				var got []string
				_, err := ReadArray(context.Background(), r, jsonv.DefaultLimits("copy"), func(i int, v jsonv.Value) error {
					got = append(got, fmt.Sprintf("%d=%s", i, v))
					return nil
				})
				if strings.Join(got, " ") != c.want || (err != nil) != c.fails || errors.Is(err, ErrTorn) != c.torn {
					t.Errorf("%s: %q, %v; want %s, fails %v torn %v", name, got, err, c.want, c.fails, c.torn)
				}
			}
		})
	}
	stop := errors.New("enough")
	if _, err := ReadArray(context.Background(), strings.NewReader("[1,2]"), jsonv.DefaultLimits(), func(int, jsonv.Value) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
	long := `["` + strings.Repeat("gull ", 1000) + `","` + strings.Repeat("iVBORw0KGgo4", 1000) + `"]`
	size := 0
	lost, err := ReadArray(context.Background(), strings.NewReader(long), jsonv.Limits{String: 2000, StringTail: 500, Total: 4000}, func(_ int, v jsonv.Value) error {
		size += len(v)
		return nil
	})
	if err != nil || lost < 3000 || lost > 3010 || size > 2500 {
		t.Errorf("within limits: %d bytes lost, %d kept, %v", lost, size, err)
	}
}

func TestReadDocumentStops(t *testing.T) {
	stop := errors.New("enough")
	nothing := func(string, jsonv.Value) error { return nil }
	for name, c := range map[string]struct {
		member func(string, jsonv.Value) error
		elem   func(string, int, jsonv.Value) error
	}{
		"member": {func(string, jsonv.Value) error { return stop }, nil},
		"elem":   {nothing, func(string, int, jsonv.Value) error { return stop }},
	} {
		in := `{"a":1,"messages":[1,2]}`
		if name == "elem" {
			in = `{"messages":[1,2]}`
		}
		if _, err := ReadDocument(context.Background(), strings.NewReader(in), []string{"messages"}, nil, c.member, c.elem); !errors.Is(err, stop) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := ReadDocument(ctx, strings.NewReader(`{"messages":[1,2,3]}`), []string{"messages"}, nil, nothing, func(string, int, jsonv.Value) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("disk on fire")
	if _, _, err := readDoc(io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(broken)), nil, nil); !errors.Is(err, broken) || errors.Is(err, ErrTorn) {
		t.Errorf("read error: %v", err)
	}
}

// A document far larger than what may be held passes element by element.
func TestReadDocumentHuge(t *testing.T) {
	unit := `{"text":"` + strings.Repeat("tern and gull ", 100) + `","image":"` + strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAB4AAAAQ4", 1000) + `"},`
	const n = 4000 // 130 MB
	before := heap()
	elems, most := 0, uint64(0)
	cut, err := ReadDocument(context.Background(), io.MultiReader(strings.NewReader(`{"id":1,"messages":[`), &repeat{unit: unit, n: n * len(unit)}, strings.NewReader(`{}],"end":2}`)), []string{"messages"}, nil,
		func(string, jsonv.Value) error { return nil },
		func(_ string, i int, v jsonv.Value) error {
			elems++
			if i%1000 == 0 {
				most = max(most, heap())
			}
			if i < n && len(v.Get("text").Str()) != 1400 {
				t.Errorf("element %d: text of %d bytes", i, len(v.Get("text").Str()))
			}
			return nil
		})
	if err != nil || elems != n+1 || cut < 100<<20 {
		t.Errorf("%d elements, %d bytes cut, %v", elems, cut, err)
	}
	if most > before+8<<20 {
		t.Errorf("%d MB held", (most-before)>>20)
	}
}

func FuzzReadDocument(f *testing.F) {
	f.Add([]byte(`{"id":1,"messages":[{"a":"b"},[1,2]],"copy":{"x":[]}}`))
	f.Add([]byte("{\"a\":\"\\\"}"))
	f.Add([]byte("{,,\"messages\":[,1,,]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, cut, err := readDoc(strings.NewReader(string(data)), []string{"messages"}, []string{"copy"})
		pieces, cut2, err2 := readDoc(iotest.OneByteReader(strings.NewReader(string(data))), []string{"messages"}, []string{"copy"})
		if whole != pieces || cut != cut2 && err == nil || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("%q: at once %q %d %v, in pieces %q %d %v", data, whole, cut, err, pieces, cut2, err2)
		}
		if len(data) < 1000 && jsonv.Valid(data) && jsonv.Parse(data).Kind() == jsonv.Object && err != nil {
			t.Fatalf("%q: %v", data, err)
		}
	})
}
