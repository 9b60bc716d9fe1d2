package contract_test

import (
	"testing"

	"github.com/sessionls/sessionls/contract"
)

func TestParseSessionName(t *testing.T) {
	for raw, want := range map[string]contract.SessionName{
		`{"sessionId":"s"}`:                          {SessionID: "s"},
		`{"sessionId":"s","agent":null,"limit":"x"}`: {SessionID: "s"},
		`{"sessionId":"p#agent-1","agent":"claude"}`: {SessionID: "p#agent-1", Agent: "claude"},
	} {
		if got, err := (contract.Parser{}).ParseSessionName([]byte(raw)); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", raw, got, err)
		}
	}
	for _, tt := range []struct{ raw, field, message string }{
		{`{}`, "sessionId", "required"},
		{`{"sessionId":""}`, "sessionId", "required"},
		{`{"sessionId":7}`, "sessionId", "want a string"},
		{`{"sessionId":"s","agent":"emacs"}`, "agent", "claude, codex"},
		{`{"sessionId":"s","agent":[]}`, "agent", "want a string"},
		{`7`, "arguments", "want one object"},
	} {
		_, err := contract.Parser{}.ParseSessionName([]byte(tt.raw))
		wantFault(t, err, tt.field, contract.CodeInvalidConfig, tt.message)
	}
}

func TestSessionNameMatch(t *testing.T) {
	for _, tt := range []struct {
		name          contract.SessionName
		agent, id     string
		exact, prefix bool
	}{
		{contract.SessionName{SessionID: "short"}, "pi", "short", true, false},
		{contract.SessionName{SessionID: "0123456"}, "pi", "0123456789", false, false}, // seven are too few
		{contract.SessionName{SessionID: "01234567"}, "pi", "0123456789", false, true},
		{contract.SessionName{SessionID: "éééééééé"}, "pi", "éééééééé-1", false, true}, // characters, not bytes
		{contract.SessionName{SessionID: "éééé"}, "pi", "éééé-1", false, false},
		{contract.SessionName{SessionID: "01234567"}, "pi", "x0123456789", false, false},
		{contract.SessionName{SessionID: "01234567", Agent: "pi"}, "pi", "0123456789", false, true},
		{contract.SessionName{SessionID: "01234567", Agent: "dsh"}, "pi", "0123456789", false, false},
		{contract.SessionName{SessionID: "0123", Agent: "dsh"}, "pi", "0123", false, false},
		{contract.SessionName{}, "pi", "", false, false},
	} {
		if exact, prefix := tt.name.Match(tt.agent, tt.id); exact != tt.exact || prefix != tt.prefix {
			t.Errorf("%v matches %s %s: %v, %v", tt.name, tt.agent, tt.id, exact, prefix)
		}
	}
}

func TestSessionArgument(t *testing.T) {
	for s, want := range map[string]contract.SessionName{
		"0123":          {SessionID: "0123"},
		"pi:0123":       {Agent: "pi", SessionID: "0123"},
		"pi/0123":       {Agent: "pi", SessionID: "0123"},
		"vscode:a:b/c":  {Agent: "vscode", SessionID: "a:b/c"},
		"emacs:0123":    {SessionID: "emacs:0123"},
		"pi:":           {SessionID: "pi:"},
		":0123":         {SessionID: ":0123"},
		"s#agent-1":     {SessionID: "s#agent-1"},
		"claude/s#a:pi": {Agent: "claude", SessionID: "s#a:pi"},
		"":              {},
	} {
		got := contract.Parser{}.SessionArgument(s)
		if got != want {
			t.Errorf("%q: got %+v, want %+v", s, got, want)
		}
		if again := (contract.Parser{}).SessionArgument(got.String()); again != got {
			t.Errorf("%q: written as %q, read as %+v", s, got, again)
		}
	}
}
