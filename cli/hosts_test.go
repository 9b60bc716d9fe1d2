package cli

import (
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"hosts"}, "local\tthis machine\tthis machine\nruntime:dev\tDev container\tconfiguration file\nssh:box\tbox\t~/.ssh/config\n"},
		{[]string{"hosts", "--json"}, `{"hosts":[{"host":"local","label":"this machine","source":"local"},{"host":"runtime:dev","label":"Dev \u001b[2Jcontainer","source":"config"},{"host":"ssh:box","label":"box","source":"ssh_config"}]}` + "\n"},
		{[]string{"hosts", "--check"}, "local\tthis machine\tthis machine\t2 sessions, current\n" +
			"runtime:dev\tDev container\tconfiguration file\truntime:dev: not switched on; `sessionls enable` in dev does\n" +
			"ssh:box\tbox\t~/.ssh/config\tssh:box: ssh could not log in\n"},
		{[]string{"hosts", "--check", "--color", "always"}, "\x1b[2mhost         name           known from          search\x1b[0m\n" +
			"local        this machine   this machine        2 sessions, current\n" +
			"runtime:dev  Dev container  configuration file  not switched on\n" +
			"ssh:box      box            ~/.ssh/config       no answer\n\n" +
			"runtime:dev: not switched on; `sessionls enable` in dev does\nssh:box: ssh could not log in\n"},
		{[]string{"__complete", "search", "--host", ""}, "local\tthis machine\nruntime:dev\tDev container\nssh:box\tbox\n:36\n"},
		{[]string{"status", "--host", "runtime:dev"}, "host        runtime:dev\nsearch      not switched on there: its user decides, with `sessionls enable` in dev\n"},
	} {
		if got := run("ok", tc.args...); got.code != 0 || got.out != tc.want {
			t.Errorf("%q: exit code %d\n got %s%s\nwant %s", tc.args, got.code, got.out, got.err, tc.want)
		}
	}
}

// TestHostsThatAreLeftOut: whoever misses a host is told why, and only that.
func TestHostsThatAreLeftOut(t *testing.T) {
	got := run("ignored-host", "hosts")
	if want := "/c: hosts.box has no command; ignored\n"; got.code != 0 || got.err != want || strings.Count(got.out, "\n") != 3 {
		t.Errorf("exit code %d, %q, %q; want %q", got.code, got.out, got.err, want)
	}
	if got = run("ignored-host", "hosts", "--json"); got.err != "" || !strings.HasSuffix(got.out, `],"warnings":["/c: hosts.box has no \u001b[31mcommand; ignored"]}`+"\n") {
		t.Errorf("%q, %q", got.out, got.err)
	}
	if got = run("misconfigured", "hosts"); got.code != ExitFailed || got.out != "" || !strings.Contains(got.err, "hosts must be a table") {
		t.Errorf("exit code %d, %q, %q", got.code, got.out, got.err)
	}
}

// TestFailuresOfOtherHosts: what mends this machine is no advice then.
func TestFailuresOfOtherHosts(t *testing.T) {
	for _, tc := range []struct {
		scenario string
		args     []string
		code     int
		want     string
		lacks    string
	}{
		{"ok", []string{"status", "--host", "ssh:box"}, ExitFailed, "ssh:box: ssh could not log in", "doctor"},
		{"ok", []string{"show", "x", "--host", "all"}, ExitUsage, "one host at a time", ""},
		{"ok", []string{"search", "x", "--host", ""}, ExitUsage, "--host", ""},
		{"undecided", []string{"status", "--host", "ssh:box"}, ExitFailed, "could not log in", "Search is now on"},
	} {
		got := run(tc.scenario, tc.args...)
		if got.code != tc.code || !strings.Contains(got.err, tc.want) || tc.lacks != "" && strings.Contains(got.err, tc.lacks) || got.out != "" {
			t.Errorf("%q: exit code %d, %q, %q; want %d, %q", tc.args, got.code, got.out, got.err, tc.code, tc.want)
		}
	}
}
