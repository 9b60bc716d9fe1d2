package server

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/server/rpc/rpctest"
)

// TestOddInput sends what clients, proxies and mistakes have been seen to send,
// and says for each what comes back and whether the connection lives on. It ends
// only where the framing or the envelope itself is broken.
func TestOddInput(t *testing.T) {
	const (
		status  = `"sessionls.searchStatus"`
		idle    = `"result":{"enabled":false,"decided":false,"phase":"idle"` // start of the status
		exec    = `"method":"workspace/executeCommand"`
		framed  = `{"jsonrpc":"2.0","id":7,` + exec + `,"params":{"command":` + status + `}}`
		unknown = `"error":{"code":-32601,"message":"unknown command`
	)
	length := func(s string) string { return "Content-Length: " + strconv.Itoa(len(s)) }
	for _, tc := range []struct {
		name  string
		body  string // framed as it should be
		raw   string // or sent as it is
		reply string // part of what comes back; "" is nothing
		dead  bool
	}{
		{name: "initialize again", body: plainInitialize, reply: `"id":0,"error":{"code":-32600`},
		{name: "unknown $/ notification", body: `{"jsonrpc":"2.0","method":"$/foo","params":{}}`},
		{name: "unknown notification", body: `{"jsonrpc":"2.0","method":"probe/hello","params":{}}`},
		{name: "unknown request", body: `{"jsonrpc":"2.0","id":5,"method":"probe/req","params":{}}`, reply: `"id":5,"error":{"code":-32601`},
		{name: "unknown request without params", body: `{"jsonrpc":"2.0","id":5,"method":"probe/req"}`, reply: `"id":5,"error":{"code":-32601`},
		{name: "initialized without params", body: `{"jsonrpc":"2.0","method":"initialized"}`, reply: `"method":"sessionls/status"`},
		{name: "initialized with null", body: `{"jsonrpc":"2.0","method":"initialized","params":null}`, reply: `"method":"sessionls/status"`},
		{name: "cancel with id null", body: `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}`},
		{name: "cancel with a fraction", body: `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1.5}}`},
		{name: "cancel beyond 32 bits", body: `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9999999999}}`},
		{name: "cancel without params", body: `{"jsonrpc":"2.0","method":"$/cancelRequest"}`},
		{name: "cancel with a list", body: `{"jsonrpc":"2.0","method":"$/cancelRequest","params":[1]}`},
		{name: "setTrace, unknown value", body: `{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"loud"}}`},
		{name: "setTrace, wrong type", body: `{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":3}}`},
		{name: "didChangeConfiguration null", body: `{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":null}}`},
		{name: "didChangeConfiguration empty", body: `{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{}}`},
		{name: "didChangeConfiguration without params", body: `{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration"}`},
		{name: "didChangeConfiguration wrong types", body: `{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":{"sessionls":{"statusNotifications":"maybe","commandPrefix":[]}}}}`},
		{name: "didOpen", body: `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","languageId":"x","version":1,"text":"t"},"extra":1}}`},
		{name: "didOpen untitled", body: `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:Untitled-1","languageId":"x","version":1,"text":"t"}}}`},
		{name: "didOpen without a URI", body: `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"C:\\x y.go","languageId":"x","version":1,"text":"t"}}}`},
		{name: "progress cancel, large token", body: `{"jsonrpc":"2.0","method":"window/workDoneProgress/cancel","params":{"token":9999999999}}`},
		{name: "arguments null", body: `{"jsonrpc":"2.0","id":7,` + exec + `,"params":{"command":` + status + `,"arguments":null}}`, reply: `"id":7,` + idle},
		{name: "executeCommand without params", body: `{"jsonrpc":"2.0","id":7,` + exec + `}`, reply: `"id":7,"error":{"code":-32602`},
		{name: "executeCommand with a list", body: `{"jsonrpc":"2.0","id":7,` + exec + `,"params":["x"]}`, reply: `"id":7,"error":{"code":-32602,"message":"params: want an object with command and arguments"`},
		{name: "string id", body: `{"jsonrpc":"2.0","id":"abc",` + exec + `,"params":{"command":` + status + `}}`, reply: `"id":"abc",` + idle},
		{name: "id 0", body: `{"jsonrpc":"2.0","id":0,` + exec + `,"params":{"command":` + status + `}}`, reply: `"id":0,` + idle},
		{name: "negative id", body: `{"jsonrpc":"2.0","id":-1,` + exec + `,"params":{"command":` + status + `}}`, reply: `"id":-1,` + idle},
		{name: "id null is a notification", body: `{"jsonrpc":"2.0","id":null,` + exec + `,"params":{"command":` + status + `}}`},
		{name: "id 1.0", body: `{"jsonrpc":"2.0","id":1.0,` + exec + `,"params":{"command":` + status + `}}`, reply: `"id":null,"error":{"code":-32600`, dead: true},
		{name: "no jsonrpc", body: `{"id":7,` + exec + `,"params":{"command":` + status + `}}`, reply: `"id":null,"error":{"code":-32600`, dead: true},
		{name: "extra member", body: `{"jsonrpc":"2.0","id":7,` + exec + `,"params":{"command":` + status + `},"extra":1}`, reply: `"id":7,` + idle},
		{name: "method and result", body: `{"jsonrpc":"2.0","id":7,"method":"x","result":1}`, reply: `"id":null,"error":{"code":-32600`, dead: true},
		{name: "cut JSON", body: `{"jsonrpc":"2.0","id":7,`, reply: `"id":null,"error":{"code":-32700`, dead: true},
		{name: "a number", body: `42`, reply: `"id":null,"error":{"code":-32`, dead: true},
		{name: "answer nobody asked for", body: `{"jsonrpc":"2.0","id":4242,"result":1}`},
		{name: "error nobody asked for", body: `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`},
		{name: "batch", body: `[{"jsonrpc":"2.0","id":7,` + exec + `,"params":{"command":` + status + `}}]`, reply: `[{"jsonrpc":"2.0","id":7,` + idle},
		{name: "large batch", body: `[` + strings.Repeat(framed+",", 200) + framed + `]`, reply: `"id":null,"error":{"code":-32600`},
		{name: "panic in a command", body: execute(8, "sessionls.searchSessions", `{"query":"panic"}`), reply: `"id":8,"error":{"code":-32603`},
		{name: "lower-case header", raw: "content-length: " + strconv.Itoa(len(framed)) + "\r\n\r\n" + framed, reply: `"id":7,` + idle},
		{name: "line-feed header", raw: length(framed) + "\n\n" + framed, reply: `"id":7,` + idle},
		{name: "content type", raw: "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + length(framed) + "\r\n\r\n" + framed, reply: `"id":7,` + idle},
		{name: "text before the header", raw: "hello\r\n" + length(framed) + "\r\n\r\n" + framed, dead: true},
		{name: "length 0", raw: "Content-Length: 0\r\n\r\n", dead: true},
		{name: "length 2 GiB", raw: "Content-Length: 2147483648\r\n\r\n", dead: true},
		{name: "endless header", raw: "X: " + strings.Repeat("x", 1<<16), dead: true},
		{name: "endless headers", raw: strings.Repeat("X: y\r\n", 1<<14), dead: true},
		{name: "invalid UTF-8", body: "{\"jsonrpc\":\"2.0\",\"id\":7," + exec + ",\"params\":{\"command\":\"x\xff\"}}", reply: `"id":7,` + unknown},
		{name: "lone surrogate", body: `{"jsonrpc":"2.0","id":7,` + exec + `,"params":{"command":"x\ud800"}}`, reply: `"id":7,` + unknown},
		{name: "duplicate names", body: `{"jsonrpc":"2.0","id":7,` + exec + `,"params":{"command":"x","command":` + status + `}}`, reply: `"id":7,` + idle},
		{name: "broken JSON inside params", body: `{"jsonrpc":"2.0","id":7,` + exec + `,"params":{"command":}}`, reply: `"id":7,"error":{"code":-32602,"message":"params: the object cannot be read: invalid character`},
		{name: "NUL in a command", body: `{"jsonrpc":"2.0","id":7,` + exec + `,"params":{"command":"x\u0000"}}`, reply: `"id":7,` + unknown},
		{name: "params nested deeply", body: `{"jsonrpc":"2.0","id":7,` + exec + `,"params":` + strings.Repeat(`{"a":`, 200000) + `1` + strings.Repeat(`}`, 200000) + `}`, reply: `"id":7,"error":{"code":-32602,"message":"params: the object cannot be read: invalid character`},
		{name: "argument nested deeply", body: execute(7, "sessionls.searchSessions", `{"query":"x","filters":`+strings.Repeat("[", 100000)+strings.Repeat("]", 100000)+`}`), reply: `"id":7,"error":{"code":-32602,"message":"params: the object cannot be read: invalid character`},
		{name: "command of a megabyte", body: execute(7, strings.Repeat("x", 1<<20)), reply: `"id":7,` + unknown},
		{name: "document of a megabyte", body: `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"text":"` + strings.Repeat("x", 1<<20) + `"}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			service := newFakeService()
			service.search = func(context.Context, contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
				panic("boom")
			}
			s := started(t, service)
			if tc.raw != "" {
				go s.SendRaw(tc.raw) // a server that gave up does not read the rest
			} else {
				s.Send(tc.body)
			}
			if tc.reply != "" {
				s.Await("reply with "+tc.reply, func(m rpctest.Message) bool { return strings.Contains(m.Raw, tc.reply) })
			}
			if tc.dead {
				if code := s.exitCode(t); code != 1 {
					t.Errorf("exit code %d", code)
				}
			} else {
				s.Send(execute(777, "sessionls.searchStatus"))
				if m := s.Response("777"); m.Error != nil {
					t.Errorf("afterwards: %s", m.Raw)
				}
			}
			if rest := s.Unread(); len(rest) > 0 {
				t.Errorf("also came: %.200s", rest[0].Raw)
			}
		})
	}
}

// TestOddInputBeforeInitialize is the part of the table that is about it.
func TestOddInputBeforeInitialize(t *testing.T) {
	s := start(t, newFakeService())
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	s.Send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":{}}}`)
	s.Send(execute(1, "sessionls.searchStatus"))
	if m := s.Response("1"); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("command: %s", m.Raw)
	}
	s.Send(plainInitialize)
	s.Response("0")
	s.Send(execute(2, "sessionls.searchStatus"))
	if m := s.Response("2"); m.Error != nil {
		t.Errorf("command after initialize: %s", m.Raw)
	}
	s.Send(`{"jsonrpc":"2.0","id":3,"method":"shutdown","params":null}`)
	if m := s.Response("3"); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("shutdown: %s", m.Raw)
	}
	s.Send(execute(4, "sessionls.searchStatus"))
	if m := s.Response("4"); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("command after shutdown: %s", m.Raw)
	}
	s.Send(`{"jsonrpc":"2.0","method":"exit"}`)
	if code := s.exitCode(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
