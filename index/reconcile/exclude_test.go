package reconcile_test

import (
	"testing"

	"github.com/sessionls/sessionls/index/reconcile"
)

func TestExclude(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/w/secret", "/w/secret", true},
		{"/w/secret", "/w/secret/deep/er", true},
		{"/w/secret/", "/w/secret/deep", true},
		{"/w/secret", "/w/secrets", false},
		{"/w/secret", "/v/w/secret", false},
		{"~/private", "/home/me/private/x.jsonl", true},
		{"~/private", "/home/you/private/x.jsonl", false},
		{"secret", "/a/secret/b", true},
		{"secret", "/a/b/secret", true},
		{"secret", "/a/not-secret/b", false},
		{"cust*", "/a/customers/b", true},
		{"a/b", "/x/a/b/y", true},
		{"/w/*/secret", "/w/one/secret/x", true},
		{"/w/*/secret", "/w/one/two/secret", false},
		{"/w/**/secret", "/w/one/two/secret", true},
		{"**/*.fake", "/w/one/a.fake", true},
		{"/w/{a,b}", "/w/b/c", true},
		{`C:\work\secret`, `C:\work\secret\x`, true},
		{`C:\work\secret`, `C:/work/secret`, true},
		{`C:\work\Secret`, `c:\Work\secret\x`, true},
		{`C:\work\secret`, `/mnt/c/work/secret/x`, true},
		{`/mnt/c/work/secret`, `C:\work\secret`, true},
		{`C:\work\*\secret`, `c:/work/one/secret`, true},
		{`C:\work\*\secret`, `D:\work\one\secret`, false},
		{`\\srv\share\secret`, `//SRV/share/secret/x`, true},
		{`\\srv\share\secret`, `//srv/share/other`, false},
		{`\\wsl$\Ubuntu\home\me\secret`, `\\wsl.localhost\Ubuntu\home\me\secret\x`, true},
		{"Secret", `C:\work\SECRET\x`, true},
		{"Secret", "/work/SECRET/x", false},
		{"~", "/home/me/x", true},
		{"~", "/home/meander", false},
		{`~\private`, "/home/me/private/x", true},
		{"~other/x", "/home/me/x", false},
		{"/w/secret", "", false},
		{"/w/secret", "/w/a/../secret", true},
	} {
		e, err := reconcile.NewExcluder("/home/me", []string{"/never", c.pattern})
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		if got := e.Match(c.path); got != c.want {
			t.Errorf("%q excludes %q: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
	for _, bad := range []string{"", "/", `\`, "**", "/**", "*", "/a/[", "/a/{b"} {
		if _, err := reconcile.NewExcluder("/home/me", []string{bad}); err == nil {
			t.Errorf("%q was taken: it is no glob, or excludes everything", bad)
		}
	}
	if _, err := reconcile.NewExcluder("", []string{"~/private"}); err == nil {
		t.Error("without a home folder a pattern below it cannot be followed")
	}
	if none, err := reconcile.NewExcluder("/home/me", nil); err != nil || none.Match("/w") {
		t.Error("no patterns must exclude nothing")
	}
}

func FuzzExclude(f *testing.F) {
	f.Add("~/private", "/home/me/private/x")
	f.Add("**/{a,b}/[c-d]*", "/x/a/c1")
	f.Add(`C:\*`, `C:\x`)
	f.Fuzz(func(t *testing.T, pattern, path string) {
		e, err := reconcile.NewExcluder("/home/me", []string{pattern})
		if err != nil || !e.Match(path) || path == "" {
			return
		}
		if !e.Match(path + "/below") {
			t.Errorf("%q excludes %q but not what is below it", pattern, path)
		}
	})
}
