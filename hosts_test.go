package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// other is another machine, and this one from which it is asked.
type other struct {
	there, here machine
	host        string // what it is called here
	bin         string // where its programs are
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// program is a script that is sessionls on a machine.
func (m machine) program(t *testing.T, path string) {
	t.Helper()
	var script strings.Builder
	script.WriteString("#!/bin/sh\nexec env")
	for _, v := range m.environment() {
		fmt.Fprintf(&script, " '%s'", v)
	}
	fmt.Fprintf(&script, " '%s' \"$@\"\n", os.Args[0])
	write(t, path, script.String(), 0o700)
}

// overSSH is another machine behind a real OpenSSH server on this one: its own
// port, keys and home.
func overSSH(t *testing.T) other {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd = "/usr/sbin/sshd"; !exists(sshd) {
			t.Skip("no sshd on this machine: `make needs` as root installs it on Debian (openssh-server)")
		}
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("no ssh on this machine: `make needs` as root installs it on Debian (openssh-client)")
	}
	o := other{there: newMachine(t, true), here: newMachine(t, false), host: "ssh:box"}
	dir := t.TempDir()
	o.bin = filepath.Join(dir, "bin")
	o.there.program(t, filepath.Join(o.bin, "sessionls"))
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v %s", err, out)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "sshd_config"), fmt.Sprintf(`Port %d
ListenAddress 127.0.0.1
HostKey %[2]s/host
AuthorizedKeysFile %[2]s/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PidFile none
SetEnv HOME=%[3]s PATH=%[4]s:/usr/bin:/bin
`, port, dir, o.there.home, o.bin), 0o600)
	// ssh looks for the user's configuration in the home of the password file,
	// whatever HOME says; so a script says which it is.
	config := filepath.Join(o.here.home, ".ssh", "config")
	write(t, config, fmt.Sprintf(`Host box
  IdentityFile %[2]s/user
Host stranger
  IdentityFile %[2]s/host
Host box stranger
  HostName 127.0.0.1
  Port %[1]d
  User %[3]s
  IdentitiesOnly yes
  UserKnownHostsFile %[2]s/known_hosts
  StrictHostKeyChecking accept-new
Host closed
  HostName 127.0.0.1
  Port 1
`, port, dir, me.Username), 0o600)
	write(t, filepath.Join(dir, "here", "ssh"), fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, config), 0o700)
	o.here.path = filepath.Join(dir, "here") + ":/usr/bin:/bin"
	// What a login shell says before anything else.
	write(t, filepath.Join(o.there.home, ".bashrc"), "echo 'Welcome to box'\n", 0o600)

	if me.Uid == "0" {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where Debian's separates privileges
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(dir, "sshd_config"))
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("sshd: %s", said)
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			c.Close()
			return o
		}
		if time.Now().After(deadline) {
			t.Fatal("sshd does not listen")
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// inEnvironment is another home behind a command of the configuration file, as
// one in a container would be.
func inEnvironment(t *testing.T) other {
	t.Helper()
	o := other{there: newMachine(t, true), here: newMachine(t, false), host: "runtime:box", bin: t.TempDir()}
	o.there.program(t, filepath.Join(o.bin, "sessionls"))
	write(t, filepath.Join(o.here.own, "config.toml"), fmt.Sprintf("[hosts.box]\nlabel = 'Dev box'\ncommand = ['%s', 'serve']\nterminal = ['docker', 'exec', '-it', 'box']\n", filepath.Join(o.bin, "sessionls")), 0o600)
	return o
}

// TestOtherHosts asks another machine everything that can be asked, and holds
// the answers to its own.
func TestOtherHosts(t *testing.T) {
	for name, arrange := range map[string]func(*testing.T) other{"ssh": overSSH, "runtime": inEnvironment} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := arrange(t)
			here := func(code int, args ...string) outcome {
				t.Helper()
				return o.here.must(t, code, append(args, "--host", o.host)...)
			}
			// Consent is the host's own; asking is none.
			if got := here(3, "search", "tide"); !strings.Contains(got.err, "not switched on on "+o.host) || !strings.Contains(got.err, "sessionls enable") {
				t.Errorf("undecided: %s", got.err)
			}
			o.there.must(t, 0, "search", "tide")
			want := o.there.results(t, "tide", "--limit", "100")
			sameHits(t, o.host, o.here.results(t, "tide", "--limit", "100", "--host", o.host), want)
			if exists(filepath.Join(o.here.own, "index.db")) {
				t.Error("this machine has an index")
			}

			// Pages go on there, and nowhere else.
			first := o.here.results(t, "tide", "--limit", "2", "--host", o.host)
			second := o.here.results(t, "tide", "--limit", "2", "--cursor", *first.Page.Cursor, "--host", o.host)
			if second.Hits[0].SessionID != want.Hits[2].SessionID {
				t.Errorf("the second page begins with %s, want %s", second.Hits[0].SessionID, want.Hits[2].SessionID)
			}
			o.here.must(t, 2, "search", "tide", "--cursor", *first.Page.Cursor, "--host", "ssh:elsewhere")
			o.there.must(t, 2, "search", "tide", "--cursor", *first.Page.Cursor)

			// A path is looked for in folders alone.
			here(1, "search", "path:.claude/projects")
			o.there.must(t, 0, "search", "path:.claude/projects")

			// What is read of a session is what the host itself reads, but for paths and
			// the name of the host.
			id := want.Hits[slices.IndexFunc(want.Hits, func(h contract.Hit) bool { return h.Agent == "claude" })].SessionID
			for _, args := range [][]string{
				{"show", id}, {"show", id, "--around", "1", "--limit", "3"}, {"events", id}, {"events", id, "--text", "tide"},
				{"trace", id}, {"trace", id, "--event", "0", "--json"}, {"export", id}, {"export", id, "--format", "json"}, {"show", id[:8]},
			} {
				got, want := here(0, args...).out, o.there.must(t, 0, args...).out
				if got = withoutHost(got, o.host); got != withoutPaths(want) || got == "" {
					t.Errorf("%q:\n got %s\nwant %s", args, got, withoutPaths(want))
				}
			}
			if got := here(1, "show", "00000000"); !strings.Contains(got.err, o.host) {
				t.Errorf("no such session: %s", got.err)
			}
			if got := here(0, "status"); !strings.Contains(got.out, "host        "+o.host) || strings.Contains(got.out, o.there.home) {
				t.Errorf("status:\n%s", got.out)
			}
			plan := here(0, "resume", id).out
			if target, ok := strings.CutPrefix(o.host, "ssh:"); ok && !strings.HasPrefix(plan, "ssh -t "+target+" 'cd ") || !ok && !strings.HasPrefix(plan, "docker exec -it box sh -c 'cd ") {
				t.Errorf("resume: %s", plan)
			}

			// An editor's server: streams, the policy of this machine alone, documents.
			client := o.here.serving(t)
			ask := func(id, command, request string) json.RawMessage {
				t.Helper()
				client.Send(`{"jsonrpc":"2.0","id":` + id + `,"method":"workspace/executeCommand","params":{"command":"sessionls.` + command + `","arguments":[` + request + `]}}`)
				answer := client.Response(id)
				if answer.Error != nil {
					return json.RawMessage(fmt.Sprintf("%d %s", answer.Error.Code, answer.Error.Message))
				}
				return answer.Result
			}
			request := `{"query":"tide","mode":"scan","limit":1000,"executionHost":"` + o.host + `"`
			var whole, streamed contract.SearchEventsResponse
			if raw := ask("1", "searchEvents", request+"}"); json.Unmarshal(raw, &whole) != nil || len(whole.Hits) < 10 {
				t.Fatalf("searchEvents: %s", raw)
			}
			if raw := ask("2", "searchEvents", request+`,"partialResultToken":"mine"}`); json.Unmarshal(raw, &streamed) != nil || len(streamed.Hits) != 0 || streamed.Total != whole.Total {
				t.Fatalf("searchEvents: %s", raw)
			}
			ahead := 0
			for range client.Unread() {
				var p struct {
					Token string
					Value contract.PartialHits
				}
				if m := client.Notification("$/progress"); json.Unmarshal(m.Params, &p) != nil || p.Token != "mine" {
					t.Fatalf("%s", m.Raw)
				}
				ahead += len(p.Value.Hits)
			}
			if ahead != len(whole.Hits) || string(whole.Hits[0].ExecutionHostID) != o.host {
				t.Errorf("%d hits ahead of the answer, %d without a token", ahead, len(whole.Hits))
			}
			for i, command := range []string{"clear", "setPolicy", "getPolicy", "forgetSession"} {
				if raw := ask(fmt.Sprint(10+i), command, `{"sessionId":"`+id+`","executionHost":"`+o.host+`"}`); !strings.HasPrefix(string(raw), "-32602 executionHost: ") {
					t.Errorf("%s: %s", command, raw)
				}
			}
			if raw := ask("20", "searchSessions", `{"query":"tide","executionHost":"all"}`); !strings.HasPrefix(string(raw), "-32602 ") {
				t.Errorf("all: %s", raw)
			}
			client.Send(`{"jsonrpc":"2.0","id":30,"method":"workspace/textDocumentContent","params":{"uri":"` + contract.DocumentURI(contract.Host(o.host), "claude", id) + `"}}`)
			if m := client.Response("30"); !strings.Contains(m.Raw, `{"text":"# `) {
				t.Errorf("document: %s", m.Raw)
			}
			o.there.must(t, 0, "disable")
			here(3, "search", "tide")
			here(3, "show", id)
		})
	}
}

// withoutHost is an answer without the name of the host that gave it.
func withoutHost(answer, host string) string {
	answer = strings.ReplaceAll(answer, "host      "+host+"\n", "")
	return strings.ReplaceAll(answer, `"executionHostId":"`+host+`",`, "")
}

var pathOfTranscript = regexp.MustCompile(`(?m)^file      .*\n|"sourcePath":"[^"]*",`)

// withoutPaths is an answer without the place of the transcript.
func withoutPaths(answer string) string { return pathOfTranscript.ReplaceAllString(answer, "") }

// TestHostsThatDoNotAnswer holds what a person is told over a real ssh.
func TestHostsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	o := overSSH(t)
	for host, want := range map[string]string{
		"ssh:stranger":              "ssh could not log in",
		"ssh:closed":                "Connection refused",
		"ssh:nowhere.invalid":       "ssh does not know this host",
		"runtime:box":               "is not in the configuration file (none is); add [hosts.box]",
		"ssh:box; touch /tmp/x":     "is not known; allowed: local, ssh:TARGET, runtime:ID",
		"ssh:-oProxyCommand=reboot": "is not known",
	} {
		got := o.here.run(t, "", "search", "tide", "--host", host)
		if got.code != 4 && got.code != 2 || !strings.Contains(got.err, want) || got.out != "" {
			t.Errorf("%s: exit code %d, %q\nwants %q", host, got.code, got.err, want)
		}
	}
	// Nothing there, or nothing that can be run.
	program := filepath.Join(o.bin, "sessionls")
	if err := os.Chmod(program, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := o.here.must(t, 4, "search", "tide", "--host", o.host); !strings.Contains(got.err, "`ssh box sessionls version` must work") {
		t.Errorf("not to be run: %s", got.err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if got := o.here.must(t, 4, "search", "tide", "--host", o.host); !strings.Contains(got.err, "has no sessionls on its PATH") {
		t.Errorf("not there: %s", got.err)
	}

	listed := o.here.must(t, 0, "hosts", "--check", "--json").out
	var hosts struct {
		Hosts []struct{ Host, Source, State, Detail string }
	}
	if err := json.Unmarshal([]byte(listed), &hosts); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range hosts.Hosts {
		names = append(names, h.Host+" "+h.State)
		if (h.State == "unreachable") != (h.Detail != "") {
			t.Errorf("%+v", h)
		}
	}
	if got := strings.Join(names, ", "); got != "local not-enabled, ssh:box unreachable, ssh:stranger unreachable, ssh:closed unreachable" {
		t.Errorf("hosts: %s", got)
	}
	if got := o.here.must(t, 0, "__complete", "show", "--host", "").out; !strings.Contains(got, "local\tthis machine\nssh:box\tbox\n") {
		t.Errorf("completion: %s", got)
	}
}

// sameHits compares what two machines say of the same sessions.
func sameHits(t *testing.T, host string, got, want contract.SearchResults) {
	t.Helper()
	if len(got.Hits) != len(want.Hits) || got.Total != want.Total || len(got.Hits) == 0 {
		t.Fatalf("%d hits of %+v, want %d of %+v", len(got.Hits), got.Total, len(want.Hits), want.Total)
	}
	for i, hit := range got.Hits {
		if string(hit.ExecutionHostID) != host || hit.Source.FilePath != "" || hit.ResumeCommand != "" {
			t.Errorf("hit %d is of %q, with %+v, %q", i, hit.ExecutionHostID, hit.Source, hit.ResumeCommand)
		}
		if w := want.Hits[i]; hit.SessionID != w.SessionID || hit.Title != w.Title || (hit.Evidence == nil) != (w.Evidence == nil) {
			t.Errorf("hit %d is %s, want %s", i, hit.SessionID, w.SessionID)
		}
	}
}
