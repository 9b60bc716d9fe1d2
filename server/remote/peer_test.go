package remote_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// hostPrefix makes the test binary a host that behaves as the scenario after it
// says; what follows a second colon is the scenario's own.
const hostPrefix = "host:"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], hostPrefix) {
		scenario, argument, _ := strings.Cut(strings.TrimPrefix(os.Args[1], hostPrefix), ":")
		p := &peer{in: bufio.NewReader(os.Stdin), out: os.Stdout, scenario: scenario, argument: argument}
		p.serve()
		os.Exit(0)
	}
	// Spares each host the second that the race detector waits at its end.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// peer is a scripted host.
type peer struct {
	in                 *bufio.Reader
	out                io.Writer
	scenario, argument string
}

type incoming struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Command               string            `json:"command"`
		Arguments             []json.RawMessage `json:"arguments"`
		InitializationOptions json.RawMessage   `json:"initializationOptions"`
		ID                    json.RawMessage   `json:"id"`
	} `json:"params"`
}

func (p *peer) read() incoming {
	length := 0
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			os.Exit(0) // the asker is gone
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(p.in, body); err != nil {
		os.Exit(0)
	}
	var m incoming
	if err := json.Unmarshal(body, &m); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	return m
}

func (p *peer) send(body string) {
	fmt.Fprintf(p.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

func (p *peer) result(id json.RawMessage, result string) {
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func (p *peer) failure(id json.RawMessage, failure string) {
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, id, failure))
}

// fail ends like a command that could not be run.
func fail(code int, words string) {
	fmt.Fprintln(os.Stderr, words)
	os.Exit(code)
}

// page is a page with one hit, and rest after its hits.
func page(hit, rest string) string {
	return `{"kind":"results","hits":[` + hit + `],"page":{"cursor":null,"hasMore":false},"generation":1,` +
		`"truncated":{"candidates":false,"snippets":0,"query":false,"freshness":false},"durationMs":1,"total":{"sessions":1,"exact":true}` + rest + `}`
}

const plainHit = `{"agent":"claude","sessionId":"s-1","title":"tide","relation":"root","source":{"presence":"present"},"evidence":null}`

const header = `{"agent":"claude","sessionId":"session-1","title":"tide","relation":"root","presence":"present","epoch":1,"warnings":[]}`

const status = `{"enabled":true,"decided":true,"phase":"current","writer":"this","degradedRoots":[],"agents":[]}`

func (p *peer) serve() {
	switch p.scenario {
	case "missing":
		fail(127, "sh: 1: \x1b[31msessionls: not found")
	case "nologin":
		fmt.Println("This account is currently not available.")
		os.Exit(1)
	case "unknown":
		fail(255, "ssh: Could not resolve hostname nowhere: Name or service not known")
	case "denied":
		fail(255, "me@box: Permission denied (publickey).")
	case "untrusted":
		fail(255, "Host key verification failed.")
	case "unreachable":
		fail(255, "ssh: connect to host box port 22: Connection timed out")
	case "hangs":
		time.Sleep(time.Hour)
	case "endless":
		for {
			if _, err := fmt.Print(strings.Repeat("motd ", 1000)); err != nil {
				os.Exit(0)
			}
		}
	case "opens":
		// Notes that it was started, and greets when it may.
		note, err := os.OpenFile(p.argument, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = note.WriteString("started\n")
		}
		if err != nil {
			fail(9, err.Error())
		}
		for _, err := os.Stat(p.argument + ".open"); err != nil; _, err = os.Stat(p.argument + ".open") {
			time.Sleep(5 * time.Millisecond)
		}
	case "banner":
		fmt.Print("Welcome to box!\r\nNote: 3 updates\n\nContent-Type: of a banner\n\x1b[0m> ")
	}
	for {
		m := p.read()
		switch m.Method {
		case "initialize":
			p.initialize(m)
		case "workspace/executeCommand":
			name := strings.TrimPrefix(m.Params.Command, "sessionls.")
			if name == "searchStatus" && p.scenario != "silent" && p.scenario != "offers-nothing-it-has" && p.scenario != "odd-status" {
				p.result(m.ID, status)
				continue
			}
			p.command(m, name, string(m.Params.Arguments[0]))
		case "shutdown":
			p.result(m.ID, "null")
		case "exit":
			os.Exit(0)
		}
	}
}

func (p *peer) initialize(m incoming) {
	name, commands := "sessionls", []string{}
	for _, c := range []string{"searchSessions", "searchStatus", "searchEvents", "listSessions", "readSession", "readEvent", "readTitles", "traceSession", "renderTranscript", "resumePlan", "listEvents"} {
		commands = append(commands, "sessionls."+c)
	}
	switch p.scenario {
	case "old":
		commands = nil
	case "other-server":
		name = "gopls"
	case "transport":
		p.argument = string(m.Params.InitializationOptions)
	}
	list, err := json.Marshal(commands)
	if err != nil {
		fail(9, err.Error())
	}
	// A server may ask for things; nothing was offered.
	p.send(`{"jsonrpc":"2.0","id":"q","method":"workspace/configuration","params":{}}`)
	p.result(m.ID, fmt.Sprintf(`{"serverInfo":{"name":%q,"version":"99.0"},"capabilities":{"executeCommandProvider":{"commands":%s},"newer":[1]}}`, name, list))
}

// command answers what the scenario has for it.
func (p *peer) command(m incoming, name, request string) {
	switch p.scenario {
	case "dies":
		if p.argument != "" { // once only: the file tells that it happened
			if _, err := os.Stat(p.argument); err == nil {
				p.result(m.ID, page(plainHit, ""))
				return
			}
			_ = os.WriteFile(p.argument, nil, 0o600)
		}
		fmt.Fprint(p.out, "Content-Length: 5000\r\n\r\n{\"jsonrpc\":")
		fail(137, "client_loop: send disconnect: Broken pipe")
	case "huge":
		fmt.Fprintf(p.out, "Content-Length: %d\r\n\r\n", 1<<30)
		for {
			if _, err := fmt.Print(strings.Repeat("x", 1<<16)); err != nil {
				os.Exit(0)
			}
		}
	case "chatter":
		for {
			body := `{"jsonrpc":"2.0","method":"noise","params":"` + strings.Repeat("x", 1<<20) + `"}`
			if _, err := fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
				os.Exit(0)
			}
		}
	case "slow":
		// Other requests are answered meanwhile, as by any server.
		go func() {
			time.Sleep(300 * time.Millisecond)
			p.result(m.ID, page(plainHit, ""))
		}()
	case "silent":
	case "cancelled":
		_ = os.WriteFile(p.argument+".asked", nil, 0o600)
		for {
			c := p.read()
			if c.Method == "$/cancelRequest" && string(c.Params.ID) == string(m.ID) {
				_ = os.WriteFile(p.argument, nil, 0o600)
				p.failure(m.ID, `{"code":-32800,"message":"cancelled"}`)
				return
			}
		}
	case "offers-nothing-it-has":
		p.failure(m.ID, `{"code":-32601,"message":"no such command"}`)
	case "error":
		p.failure(m.ID, p.argument)
	case "answer", "odd-status":
		p.result(m.ID, p.argument)
	case "bomb":
		p.result(m.ID, `{"kind":"results","hits":[`+strings.Repeat("{},", 5_000_000)+`{}]}`)
	case "stream":
		var asked struct{ PartialResultToken string }
		if json.Unmarshal([]byte(request), &asked) != nil || asked.PartialResultToken == "" {
			p.failure(m.ID, `{"code":-32602,"message":"no token"}`)
			return
		}
		hit := `{"agent":"claude","sessionId":"s-1","seq":%d,"role":"user","surface":"current","executionHostId":"local","snippet":"a\u0007b","marks":[]}`
		for i := range 3 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":%q,"value":{"kind":"hits","hits":[`+hit+`]}}}`, asked.PartialResultToken, i))
		}
		p.result(m.ID, `{"hits":[],"page":{"cursor":null,"hasMore":false},"total":{"events":3,"exact":true}}`)
	default: // "echo", "transport", "banner"
		told := request
		if p.scenario == "transport" {
			told = p.argument
		}
		title, err := json.Marshal(told)
		if err != nil {
			fail(9, err.Error())
		}
		p.result(m.ID, page(`{"agent":"claude","sessionId":"s-1","title":`+string(title)+`,"source":{"presence":"present"},"evidence":null}`, ""))
	}
}
