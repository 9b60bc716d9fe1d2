package copilot

import (
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// textOf is the text of a content field, which is a string, or a list of
// blocks of which those with text count.
func textOf(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.String:
		return words(v)
	case jsonv.Object:
		for _, key := range []string{"text", "content", "value"} {
			if t := v.Get(key); t.Kind() == jsonv.String {
				return words(t)
			}
		}
	case jsonv.Array:
		var b strings.Builder
		v.Elems(func(_ int, e jsonv.Value) bool {
			t := ""
			if e.Kind() != jsonv.Array {
				t = textOf(e)
			}
			if t != "" {
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(t)
			}
			return true
		})
		return b.String()
	}
	return ""
}

// words is a string without what nobody searches, "" when it is blank.
func words(v jsonv.Value) string {
	s := transcript.CleanText(v.Str())
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return s
}

// repoURL makes an address of "owner/name" on a host.
func repoURL(repo, host string) string {
	if repo == "" || strings.Contains(repo, "://") || strings.Contains(repo, "@") {
		return repo
	}
	if host == "" {
		host = "github.com"
	}
	return "https://" + host + "/" + repo
}
