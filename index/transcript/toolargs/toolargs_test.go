package toolargs_test

import (
	"slices"
	"testing"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"bash", `{"command":"go test ./...","description":"Run\nthem"}`, "bash\ngo test ./...\nRun\nthem"},
		{"view", `{"path":"a.go","view_range":[10,20],"all":true,"x":null}`, "view\na.go"},
		{"create_file", `"{\"filePath\":\"/w/b.go\",\"content\":\"package b\"}"`, "create_file\n/w/b.go\npackage b"},
		{"say", `"{not json"`, "say\n{not json"},
		{"paint", `{"image":"data:image/png;base64,AAAA","note":"keep"}`, "paint\nkeep"},
		{"none", ``, "none"},
		{"", `{"a":"b"}`, "b"},
	} {
		if got := toolargs.Text(c.name, jsonv.Value(c.args)); got != c.want {
			t.Errorf("Text(%q, %s) = %q, want %q", c.name, c.args, got, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{`{"path":"a.go","command":"x"}`, []string{"/w/a.go"}},
		{`{"file_path":"/abs/b.go"}`, []string{"/abs/b.go"}},
		{`{"paths":["a","b","a"]}`, []string{"/w/a", "/w/b"}},
		{`{"files":[{"path":"c"}]}`, []string{"/w/c"}},
		{`{"input":"*** Begin Patch\n*** Add File: n.go\n+x\n*** Move to: m.go\n"}`, []string{"/w/n.go", "/w/m.go"}},
		{`"*** Begin Patch\n*** Update File: u.go\r\n"`, []string{"/w/u.go"}},
		{`{"path":7,"files":"x"}`, nil},
	} {
		if got := toolargs.Files("view", "/w", jsonv.Value(c.args)); !slices.Equal(got, c.want) {
			t.Errorf("Files(%s) = %q, want %q", c.args, got, c.want)
		}
	}
	if got := toolargs.Files("copilot_findFiles", "/w", jsonv.Value(`{"path":"a"}`)); got != nil {
		t.Errorf("where a search looks is no file it touched: %q", got)
	}
}
