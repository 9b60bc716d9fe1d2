package jsonv

import (
	"strings"
	"testing"
)

func TestItems(t *testing.T) {
	for in, want := range map[string]string{
		`["a",{"b":1},[2],null]`: `"a"|{"b":1}|[2]|null`, `{"b":1}`: `{"b":1}`, `"a"`: `"a"`, `7`: `7`, `[]`: ``, `null`: ``, ``: ``,
	} {
		var got []string
		Value(in).Items(func(v Value) { got = append(got, string(v)) })
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: %s, want %s", in, s, want)
		}
	}
}
