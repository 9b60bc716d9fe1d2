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
			"runtime:dev\tDev container\tconfiguration file\tnot switched on; `sessionls enable` in dev does\n" +
			"ssh:box\tbox\t~/.ssh/config\tssh:box: ssh could not log in\n"},
		{[]string{"__complete", "search", "--host", ""}, "local\tthis machine\nruntime:dev\tDev container\nssh:box\tbox\n:36\n"},
		{[]string{"status", "--host", "runtime:dev"}, "host        runtime:dev\nsearch      not switched on there: its user decides, with `sessionls enable` in dev\n"},
	} {
		if got := run("ok", tc.args...); got.code != 0 || got.out != tc.want {
			t.Errorf("%q: exit code %d\n got %s%s\nwant %s", tc.args, got.code, got.out, got.err, tc.want)
		}
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
