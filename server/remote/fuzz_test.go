package remote

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/sessionls/sessionls/contract"
)

// FuzzAnswer reads answers of any bytes: what is taken is stamped, clean and can
// be written again.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"kind":"results","hits":[{"agent":"pi","sessionId":"s","title":"a\u0007","evidence":{"snippet":"x","marks":[[0,9]],"surface":"current"}}],"page":{"cursor":"c","hasMore":true}}`))
	f.Add([]byte(`{"kind":"unavailable","reason":"tired"}`))
	f.Add([]byte(`{"kind":"results","hits":[{"data":[{},{}],"agent":"a","sessionId":"b"}]}`))
	f.Add([]byte(`{"data":"\"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := read[contract.SearchSessionsResponse]("ssh:box", raw)
		if err != nil || got.Results == nil {
			return
		}
		for _, hit := range got.Results.Hits {
			if hit.ExecutionHostID != "ssh:box" || hit.Title == "" || strings.ContainsFunc(hit.Title+hit.SessionID+hit.Agent, unicode.IsControl) {
				t.Errorf("%+v", hit)
			}
			if hit.Evidence != nil {
				hit.Evidence.Pieces() // must not fail on any marks
			}
		}
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
	})
}

// FuzzSSHWords splits lines of any bytes.
func FuzzSSHWords(f *testing.F) {
	for _, line := range []string{`Host a b`, `Host="a b" c`, `# Host x`, `Host "a`, `=`, `"" =`, "Host\t=\ta"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, word := range sshWords(line) {
			if !strings.Contains(line, word) {
				t.Errorf("%q is not in %q", word, line)
			}
		}
	})
}

func TestWeigh(t *testing.T) {
	many := strings.Repeat(`{},`, maxContainers)
	for raw, ok := range map[string]bool{
		`{"hits":[` + many + `{}]}`:                     false,
		`{"events":[{"data":[` + many + `{}]},{}]}`:     true,
		`{"events":[{"data":[],"x":[` + many + `{}]}]}`: false,
		`{"events":[{"data":1},` + many + `{}]}`:        false,
		`{"text":"` + many + `\"{"}`:                    true,
		`{"text":"data","x":[` + many + `{}]}`:          false,
	} {
		if err := weigh([]byte(raw)); (err == nil) != ok {
			t.Errorf("%.40s: %v", raw, err)
		}
	}
}
