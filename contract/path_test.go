package contract_test

import (
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

func TestPathKey(t *testing.T) {
	for _, tt := range []struct {
		name string
		key  string
		same []string
	}{
		{"drive", "/mnt/c/work/app", []string{
			`C:\Work\App`, `c:\work\app`, `C:/Work/App`, `c:/work/app/`, `C:\Work\\App\`, `/c:/Work/App`,
			`/c/work/app`, `/C/Work/App`, `/mnt/c/work/app`, `/mnt/c/Work/App/`, `/cygdrive/c/work/app`,
			`\\?\C:\Work\App`, `//?/c:/work/app`, `file:///c%3A/work/app`, `file:///C:/Work/App`, `FILE:///c:/work/app`,
			`\\wsl$\Ubuntu\mnt\c\Work\App`,
		}},
		{"drive root", "/mnt/c", []string{`C:`, `C:\`, `c:/`, `/c`, `/c/`, `/mnt/c`, `/mnt/c/`, `file:///c%3A/`}},
		{"share", "//srv/share/x", []string{
			`\\srv\share\x`, `\\SRV\Share\X\`, `//srv/share/x`, `//SRV/share//x/`, `\\?\UNC\srv\share\x`, `file://srv/share/x`,
		}},
		{"WSL distribution", "/home/Ann/x", []string{
			`\\wsl$\Ubuntu\home\Ann\x`, `\\wsl.localhost\Ubuntu\home\Ann\x`, `//wsl.localhost/Debian/home/Ann/x/`,
			`//WSL$/Ubuntu/home/Ann/x`, `file://wsl.localhost/Ubuntu/home/Ann/x`, `/home/Ann/x`, `file:///home/Ann/x`,
			`file://localhost/home/Ann/x`,
		}},
		{"WSL root", "/", []string{`\\wsl$\Ubuntu`, `\\wsl.localhost\Ubuntu\`, `/`, `///`}},
		{"POSIX keeps case", "/Work/App", []string{`/Work/App`, `/Work//App/`, `///Work/App`, `file:///Work/App`}},
		{"POSIX keeps backslashes", `/a\b`, []string{`/a\b`, `/a\b/`}},
		{"wildcards are plain characters", "/a_b%20c", []string{"/a_b%20c", "file:///a_b%2520c"}},
		{"dots stay", "/one/../two/.", []string{"/one/../two/."}},
		{"bad escape is kept", "/a%zz", []string{"file:///a%zz"}},
		{"relative", "src/app", []string{"src/app", "src//app/"}},
		{"a drive without a separator is a name", "c:x", []string{"c:x"}},
		{"longer mounts are no drives", "/mnt/data/X", []string{"/mnt/data/X"}},
		{"an upper-case mount is no drive", "/mnt/C/X", []string{"/mnt/C/X"}},
		{"empty", "", []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range tt.same {
				if got := contract.PathKey(path); got != tt.key {
					t.Errorf("PathKey(%q) = %q, want %q", path, got, tt.key)
				}
			}
		})
	}
}

func TestPathWithin(t *testing.T) {
	for _, tt := range []struct {
		child, scope string
		want         bool
	}{
		{"/work/app", "/work/app", true},
		{"/work/app/", "/work/app", true},
		{"/work/app/src", "/work/app", true},
		{"/work/app-other", "/work/app", false}, // segment boundary
		{"/work", "/work/app", false},
		{"/Work/app", "/work/app", false}, // POSIX keeps case
		{`C:\Work\App\src`, `c:/work/app`, true},
		{`C:\Work\App2`, `c:/work/app`, false},
		{`/mnt/c/work/app/src`, `C:\Work`, true},
		{`/c/work/app`, `C:\`, true},
		{`D:\work`, `C:\`, false},
		{`\\srv\share\x`, `//SRV/share`, true},
		{`\\srv\share2`, `\\srv\share`, false},
		{`\\wsl$\Ubuntu\home\x\y`, `/home/x`, true},
		{`/home/x/y`, `\\wsl.localhost\Ubuntu\home\x`, true},
		{"/a_b/c", "/a_b", true},
		{"/axb/c", "/a_b", false}, // _ is no wildcard
		{"/ab/c", "/a%", false},   // nor is %
		{"/anything/at/all", "/", true},
		{"/mnt/c/x", "/mnt", true},
		{"", "/", false},
		{"/x", "", false},
		{"", "", false},
		{"relative", "/", false},
	} {
		if got := contract.PathWithin(tt.child, tt.scope); got != tt.want {
			t.Errorf("PathWithin(%q, %q) = %v, want %v", tt.child, tt.scope, got, tt.want)
		}
	}
}

func FuzzPathKey(f *testing.F) {
	for _, seed := range []string{
		"", "/", `C:\x`, `\\wsl$\D\c:\x`, `\\?\UNC\?\C:\x`, "///c:/x", "file://", "file:///%00", `\\?\\?\`, "//", `/\x`, "/mnt/c/\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		key := contract.PathKey(path)
		if strings.HasPrefix(strings.ToLower(key), "file://") {
			return // an escaped URI inside a URI is a file's odd name
		}
		if again := contract.PathKey(key); again != key {
			t.Errorf("PathKey(%q) = %q, but the key of that is %q", path, key, again)
		}
		if key != "" && !contract.KeyWithin(key, key) {
			t.Errorf("%q is not within itself", key)
		}
	})
}
