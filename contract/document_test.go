package contract

import (
	"testing"
	"unicode/utf8"
)

func TestDocumentURI(t *testing.T) {
	for _, c := range []struct {
		host      Host
		agent, id string
		want      string
	}{
		{"", "claude", "3b0f7c52", "sessionls://session/local/claude/3b0f7c52.md"},
		{LocalHost, "claude", "3b0f#agent-a1", "sessionls://session/local/claude/3b0f%23agent-a1.md"},
		{"ssh:dev@box:22", "pi", "a/b c%ü", "sessionls://session/ssh%3Adev%40box%3A22/pi/a%2Fb%20c%25%C3%BC.md"},
		{"runtime:wsl", "dsh", "x.md", "sessionls://session/runtime%3Awsl/dsh/x.md.md"},
	} {
		got := DocumentURI(c.host, c.agent, c.id)
		if got != c.want {
			t.Errorf("DocumentURI(%q, %q, %q) = %s, want %s", c.host, c.agent, c.id, got, c.want)
		}
		host, name, seq, err := ParseDocumentURI(got)
		if err != nil || !sameHost(host, c.host) || name != (SessionName{Agent: c.agent, SessionID: c.id}) || seq != -1 {
			t.Errorf("ParseDocumentURI(%s) = %q, %v, %d, %v", got, host, name, seq, err)
		}
	}
	// As VS Code and Neovim may send it back.
	host, name, seq, err := ParseDocumentURI("sessionls://session/ssh:box/pi/a b.md#12")
	if err != nil || host != "ssh:box" || name != (SessionName{Agent: "pi", SessionID: "a b"}) || seq != 12 {
		t.Errorf("got %q, %v, %d, %v", host, name, seq, err)
	}
	for _, bad := range []string{
		"", "file:///x.md", "sessionls://session/local/claude", "sessionls://session/local/claude/x", "sessionls://session/local//x.md",
		"sessionls://session/all/claude/x.md", "sessionls://session/ssh:-o/claude/x.md", "sessionls://session/local/claude/a/b.md",
		"sessionls://session/local/claude/%zz.md", "sessionls://session/local/claude/x.md#-1", "sessionls://session/local/claude/x.md#a", "sessionls://other/local/claude/x.md",
	} {
		if _, _, _, err := ParseDocumentURI(bad); err == nil {
			t.Errorf("ParseDocumentURI(%q) was accepted", bad)
		}
	}
}

func sameHost(a, b Host) bool { return a == b || a.IsLocal() && b.IsLocal() }

func FuzzParseDocumentURI(f *testing.F) {
	f.Add("local", "claude", "3b0f#agent-1")
	f.Add("ssh:x", "%", "\x00/\xff")
	f.Fuzz(func(t *testing.T, host, agent, id string) {
		_, _, _, _ = ParseDocumentURI(id)
		h, ok := ParseHost(host)
		if !ok || agent == "" || id == "" || !utf8.ValidString(agent+id) {
			return
		}
		back, name, seq, err := ParseDocumentURI(DocumentURI(h, agent, id))
		if err != nil || back != h || name.Agent != agent || name.SessionID != id || seq != -1 {
			t.Fatalf("%q %q %q came back as %q %v %d %v", h, agent, id, back, name, seq, err)
		}
	})
}
