package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminalPair opens a pseudo terminal: what is written to the second is read from the
// first.
func terminalPair(t *testing.T) (control, terminal *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here")
	}
	t.Cleanup(func() { control.Close() })
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return control, terminal
}

// TestPager runs the program on a terminal, with a pager that reads one line and is
// left: the answer goes to it, and that the rest is not wanted is no failure.
func TestPager(t *testing.T) {
	pager := filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\nread -r line\necho \"paged $1 ($LESS): $line\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const title = "Fix the tide table overflow"
	for _, tc := range []struct {
		env, args []string
		code      int
		want      string
		paged     bool
	}{
		{[]string{"PAGER=" + pager + " -x"}, []string{"show", "3b0f7c52", "--color", "never"}, 0, "paged -x (FRX): " + title, true},
		{[]string{"PAGER=cat", "SESSIONLS_PAGER=" + pager, "LESS=M"}, []string{"events", "3b0f7c52", "--color", "never"}, 0, "paged  (M): " + title, true},
		{[]string{"PAGER=" + pager}, []string{"trace", "3b0f7c52", "--color", "never"}, 0, "paged  (FRX): ? /gone/session.jsonl", true},
		{[]string{"PAGER=" + pager}, []string{"events", "3b0f7c52", "--tool", "nothing"}, ExitNoMatch, "no event matches", true},
		{[]string{"PAGER=" + pager}, []string{"show", "3b0f7c52", "--no-pager"}, 0, title, false},
		{[]string{"PAGER=" + pager}, []string{"show", "3b0f7c52", "--json"}, 0, `"title":"` + title, false},
		{[]string{"PAGER=cat"}, []string{"show", "3b0f7c52"}, 0, title, false},
		{[]string{"PAGER=/no/such/pager"}, []string{"show", "3b0f7c52"}, 0, title, false},
		{[]string{"TERM=dumb", "PAGER=" + pager}, []string{"show", "3b0f7c52"}, 0, title, false},
		{[]string{"PAGER=" + pager}, []string{"search", "tide"}, 0, title, false},
	} {
		control, terminal := terminalPair(t)
		cmd := program("ok", tc.args...)
		cmd.Env = append(append(cmd.Env, "TERM=xterm", "LESS="), tc.env...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close()
		// Reading ends with an error when nobody has the terminal any more.
		shown, _ := io.ReadAll(control)
		_ = cmd.Wait() // the exit code is looked at
		got := ownColours.ReplaceAllString(string(shown), "")
		if code := cmd.ProcessState.ExitCode(); code != tc.code || !strings.Contains(got, tc.want) || strings.Contains(got, "paged") != tc.paged {
			t.Errorf("%q %q: exit code %d, want %d and %q:\n%s", tc.env, tc.args, code, tc.code, tc.want, got)
		}
	}
}

// TestJSONOnATerminal: what a terminal would obey is written as JSON's escapes.
func TestJSONOnATerminal(t *testing.T) {
	control, terminal := terminalPair(t)
	cmd := program("hostile", "events", "3b0f7c52", "--json")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	shown, _ := io.ReadAll(control)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	document := strings.ReplaceAll(string(shown), "\r\n", "\n")
	safe(t, document)
	if want := run("hostile", "events", "3b0f7c52", "--json").out; !sameJSON(t, document, want) {
		t.Errorf("got  %s\nwant %s", document, want)
	}
}
