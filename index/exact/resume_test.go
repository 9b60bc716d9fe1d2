package exact_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/exact"
)

var hostile = []string{
	"plain-1.2_x", "", " ", "two words", "it's", `a "b"`, `back\slash`, `end\`, "a\nb", "tab\there", "$HOME ${x} $(id) `id`", "*?[a]{b,c}", "~", "~root", "=ls", "!x", "#x", "a;b&c|d>e<f",
	"-rf", "--", "%PATH%", "^x", "é ü 漢字", "‘smart’", "''", `'\''`, "a=b", "@x", "\x7f", strings.Repeat("x'", 100),
}

// What is quoted for a POSIX shell is what a POSIX shell reads.
func TestQuotePosix(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no POSIX shell")
	}
	for _, shell := range []string{"sh", "bash", "dash", "zsh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		for _, arg := range hostile {
			line, ok := exact.Quote(contract.ShellPosix, []string{"printf", "%s|", arg, "end"})
			out, err := exec.Command(path, "-c", line).Output()
			if !ok || err != nil || string(out) != arg+"|end|" {
				t.Errorf("%s: %q as %s was read as %q, %v", shell, arg, line, out, err)
			}
		}
	}
}

// unquote reads a line of words as the shell's manual says, for shells that are
// not here: quotes without any expansion.
func unquote(t *testing.T, shell contract.Shell, line string) []string {
	t.Helper()
	var words []string
	var word strings.Builder
	in := false
	runes := []rune(line)
	curly := func(r rune) bool { return strings.ContainsRune("'‘’‚‛", r) }
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		next := rune(0)
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case !in && r == ' ':
			words = append(words, word.String())
			word.Reset()
		case shell == contract.ShellFish && in && r == '\\' && (next == '\\' || next == '\''):
			word.WriteRune(next)
			i++
		case shell == contract.ShellPowerShell && in && curly(r) && curly(next):
			word.WriteRune(r)
			i++
		case shell == contract.ShellFish && r == '\'', shell == contract.ShellPowerShell && curly(r), shell == contract.ShellCmd && r == '"':
			in = !in
		case !in && strings.ContainsRune("'\"\\$`*?[]{}()<>|&;#~^!%@,=\n\t", r) && !(shell == contract.ShellFish && strings.ContainsRune("@=,", r)):
			t.Errorf("%s: %q stands outside of quotes in %q", shell, r, line)
		default:
			word.WriteRune(r)
		}
	}
	if in {
		t.Errorf("%s: %q does not end", shell, line)
	}
	return append(words, word.String())
}

func TestQuoteOthers(t *testing.T) {
	for _, shell := range []contract.Shell{contract.ShellFish, contract.ShellCmd, contract.ShellPowerShell} {
		refused := 0
		for _, arg := range hostile {
			line, ok := exact.Quote(shell, []string{"prog", arg, "end"})
			if !ok {
				refused++
				continue
			}
			want := arg
			if bare := strings.TrimRight(arg, `\`); shell == contract.ShellCmd && strings.HasPrefix(line[5:], `"`) {
				want = arg + arg[len(bare):] // a program reads two as one before a quote
			}
			if got := unquote(t, shell, line); !slices.Equal(got, []string{"prog", want, "end"}) {
				t.Errorf("%s: %q as %s is read as %q", shell, arg, line, got)
			}
		}
		if (shell == contract.ShellFish) != (refused == 0) {
			t.Errorf("%s: %d refused", shell, refused)
		}
	}
	for _, tt := range []struct {
		shell contract.Shell
		arg   string
		line  string // "" when there is none
	}{
		{contract.ShellCmd, "%PATH%", ""}, {contract.ShellCmd, "a!b", ""}, {contract.ShellCmd, `a"b`, ""}, {contract.ShellCmd, "a\nb", ""}, {contract.ShellCmd, "a&b", `p "a&b"`}, {contract.ShellCmd, `a b\`, `p "a b\\"`},
		{contract.ShellPowerShell, `a"b`, ""}, {contract.ShellPowerShell, "", ""}, {contract.ShellPowerShell, "a\nb", ""}, {contract.ShellPowerShell, "it's", "p 'it''s'"}, {contract.ShellPowerShell, "a’b", "p 'a’’b'"},
		{contract.ShellPowerShell, "--resume=a.b", "p '--resume=a.b'"}, {contract.ShellFish, `a\'b`, `p 'a\\\'b'`}, {contract.ShellPosix, "a\x00b", ""},
	} {
		line, ok := exact.Quote(tt.shell, []string{"p", tt.arg})
		if ok != (tt.line != "") || ok && line != tt.line {
			t.Errorf("%s: %q as %q, %v", tt.shell, tt.arg, line, ok)
		}
	}
	if line, _ := exact.Quote(contract.ShellPowerShell, []string{"my prog", "x"}); line != "& 'my prog' x" {
		t.Errorf("got %s", line)
	}
}

func TestResumePlan(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "here"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	w := newWorld(t, contract.TransportLocal, &fakeReader{agent: "codex", argv: []string{"here", "--id"}})
	first, last := filepath.Join(w.home, "first"), filepath.Join(w.home, "last one")
	w.must(os.MkdirAll(last, 0o755))
	w.put("one", "good", fakeLine{Cwd: first, Text: "x", Inherited: -1}, fakeLine{Cwd: last, Text: "y", Inherited: -1})
	w.put("one", "nowhere", fakeLine{Cwd: first, Text: "x", Inherited: -1})
	w.put("one", "all", fakeLine{Session: "-rf", Text: "x"}, fakeLine{Session: "a\nb", Text: "x"}, fakeLine{Session: "it's $(id)", Cwd: last, Text: "x"}, fakeLine{Session: "p#agent-1", Text: "x", Subagent: true})
	gone := w.put("one", "gone", fakeLine{Cwd: last, Text: "x"})
	w.reconcile()
	w.must(os.Remove(gone))
	plan := func(id, more string) string {
		r := ask[contract.ResumePlanResponse](w, "resumePlan", `{"sessionId":`+quoted(id)+more+`}`)
		text := func(s *string) string {
			if s == nil {
				return "-"
			}
			return *s
		}
		check := func(b *bool) string {
			if b == nil {
				return "?"
			}
			return fmt.Sprint(*b)
		}
		var codes []string
		for _, x := range r.Warnings {
			codes = append(codes, string(x.Code))
		}
		return strings.Join([]string{strings.Join(r.Argv, " "), text(r.Command), text(r.Cwd), check(r.Checks.Binary), check(r.Checks.Directory), check(r.Checks.Transcript), strings.Join(codes, ",")}, " ; ")
	}
	for _, tt := range []struct{ id, more, want string }{
		{"good", "", "here --id good ; here --id good ; " + last + " ; true ; true ; true ; "},
		{"nowhere", "", "here --id nowhere ; here --id nowhere ; " + first + " ; true ; false ; true ; no-directory"},
		{"-rf", "", " ; - ; - ; ? ; ? ; true ; unsafe-id"},
		{"a\nb", "", " ; - ; - ; ? ; ? ; true ; unsafe-id"},
		{"it's $(id)", "", `here --id it's $(id) ; here --id 'it'\''s $(id)' ; ` + last + " ; true ; true ; true ; "},
		{"it's $(id)", `,"shell":"fish"`, `here --id it's $(id) ; here --id 'it\'s $(id)' ; ` + last + " ; true ; true ; true ; "},
		{"it's $(id)", `,"shell":"powershell"`, `here --id it's $(id) ; here --id 'it''s $(id)' ; ` + last + " ; true ; true ; true ; "},
		{"it's $(id)", `,"shell":"cmd"`, `here --id it's $(id) ; here --id "it's $(id)" ; ` + last + " ; true ; true ; true ; "},
		{"p#agent-1", "", "here --id p#agent-1 ; here --id 'p#agent-1' ; - ; true ; ? ; true ; subagent,no-directory"},
		{"gone", "", "here --id gone ; here --id gone ; " + last + " ; true ; true ; false ; no-transcript"},
	} {
		if got := plan(tt.id, tt.more); got != tt.want {
			t.Errorf("%q%s:\n got %s\nwant %s", tt.id, tt.more, got, tt.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if got := plan("good", ""); !strings.HasSuffix(got, "false ; true ; true ; no-binary") {
		t.Errorf("no program: %s", got)
	}
}
