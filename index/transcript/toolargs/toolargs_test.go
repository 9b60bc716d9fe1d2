package toolargs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
	"github.com/sessionls/sessionls/index/transcript/toolargs"
)

func TestText(t *testing.T) {
	blob := strings.Repeat("aB3dE5gH", 40)
	for _, c := range []struct{ tool, input, want string }{
		{"bash", `{"command":"go test ./...","description":"Run\nthem"}`, "bash\ngo test ./...\nRun\nthem"},
		{"view", `{"path":"a.go","view_range":[10,20],"all":true,"x":null}`, "view\na.go\n10\n20"},
		{"issue", `{"number":4711,"close":true,"note":"done"}`, "issue\n4711\ndone"},
		{"issue", `"{\"number\":4711}"`, "issue\n4711"},
		{"exec_command", `{"cmd":"make","yield_time_ms":1000,"max_output_tokens":6000,"port":8080}`, "exec_command\nmake\n8080"},
		{"create_file", `"{\"filePath\":\"/w/b.go\",\"content\":\"package b\"}"`, "create_file\n/w/b.go\npackage b"},
		{"Edit", `{"file":"a.go","edits":[{"old":"a\nb","new":"c"}],"n":null}`, "Edit\na.go\na\nb\nc"},
		{"plan", `{"plan":[{"step":"one","status":"done"},{"step":"two"}]}`, "plan\none\ndone\ntwo"},
		{"a command line in words", `{"command":["bash","-lc","ls -l"]}`, "a command line in words\nbash -lc ls -l"},
		{"the same in a string", `"{\"cmd\":[\"ls\",\"-l\"]}"`, "the same in a string\nls -l"},
		{"the folder of every call", `{"cmd":"make","workdir":"/w"}`, "the folder of every call\nmake"},
		{"another folder", `{"cmd":"make","workdir":"/w/sub"}`, "another folder\nmake\n/w/sub"},
		{"say", `"{not json"`, "say\n{not json"},
		{"torn", `"{\"cmd\": torn"`, "torn\n{\"cmd\": torn"},
		{"quote", `"\"just a string\""`, "quote\n\"just a string\""},
		{"patch", `"*** Begin Patch"`, "patch\n*** Begin Patch"},
		{"paint", `{"image":"data:image/png;base64,AAAA","note":"keep"}`, "paint\nkeep"},
		{"blob", `{"image":"` + blob + `","path":"p"}`, "blob\np"},
		{"NUL", `"a\u0000b"`, "NUL\nab"},
		{"none", ``, "none"}, {"null", `null`, "null"}, {"", `{"a":"b"}`, "b"}, {"", `{}`, ""},
		{"deep", strings.Repeat(`{"a":[`, 100_000) + `"end"`, "deep\nend"},
	} {
		a := toolargs.Args{Tool: c.tool, Dir: "/w"}
		a.Add("", jsonv.Value(c.input))
		if got := a.Text(); got != c.want {
			t.Errorf("%s %.80s: %.200q, want %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name, tool, input string
		want              []string
	}{
		{"relative", "view", `{"path":"a.go","command":"x"}`, []string{"/w/a.go"}},
		{"absolute", "view", `{"file_path":"/abs/b.go"}`, []string{"/abs/b.go"}},
		{"notebook", "NotebookEdit", `{"notebook_path":"n.ipynb"}`, []string{"/w/n.ipynb"}},
		{"list, each once", "view", `{"paths":["a","b","a"]}`, []string{"/w/a", "/w/b"}},
		{"list of objects", "view", `{"files":[{"path":"c"}]}`, []string{"/w/c"}},
		{"edits of several files", "multiedit", `{"edits":[{"filePath":"c","oldText":"x"},{"filePath":"d"}]}`, []string{"/w/c", "/w/d"}},
		{"from another folder", "read", `{"workdir":"/w/sub","path":"a.go"}`, []string{"/w/sub/a.go"}},
		{"from a folder below", "read", `{"path":"a.go","workdir":"sub"}`, []string{"/w/sub/a.go"}},
		{"patch", "apply_patch", `"*** Begin Patch\n*** Add File: a/b.go\n+x\n*** Update File: c.go\r\n*** Move to: d.go\n*** Delete File: /abs/e.go\n*** End Patch"`,
			[]string{"/w/a/b.go", "/w/c.go", "/abs/e.go", "/w/d.go"}},
		{"patch as an argument", "x", `{"patchText":"*** Begin Patch\n*** Add File: n.go\n+x\n*** Move to: m.go\n"}`, []string{"/w/n.go", "/w/m.go"}},
		{"patch inside a script", "exec", `{"cmd":"apply(\"*** Begin Patch\\n*** Add File: n.go\\n+x\")"}`, []string{"/w/n.go"}},
		{"patch as an example", "write", `{"path":"doc.md","content":"*** Begin Patch\n*** Add File: n.go\n"}`, []string{"/w/doc.md"}},
		{"of other kinds", "view", `{"path":7,"files":{"a":"b"}}`, nil},
		{"no path", "view", `{"path":"a\nb","file_path":"` + strings.Repeat("x", 5000) + `","filename":"  "}`, nil},
		{"where a search looks", "copilot_findFiles", `{"path":"a"}`, nil},
		{"what is listed", "LS", `{"path":"a"}`, nil},
	} {
		a := toolargs.Args{Tool: c.tool, Dir: "/w"}
		a.Add("", jsonv.Value(c.input))
		if got := a.Files(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAddCall(t *testing.T) {
	var e transcript.Event
	toolargs.AddCall(&e, "read", "/w", jsonv.Value(`{"path":"a.go"}`))
	toolargs.AddCall(&e, "edit", "/w", jsonv.Value(`{"path":"a.go","oldText":"x"}`))
	toolargs.AddCall(&e, "", "/w", jsonv.Value(`null`))
	want := []transcript.Part{{Kind: transcript.Call, Text: "read\na.go"}, {Kind: transcript.Call, Text: "edit\na.go\nx"}}
	if !slices.Equal(e.Tools, []string{"read", "edit"}) || !slices.Equal(e.Files, []string{"/w/a.go"}) || !slices.Equal(e.Parts, want) {
		t.Errorf("%q, %q, %+v", e.Tools, e.Files, e.Parts)
	}
}
