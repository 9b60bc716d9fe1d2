package server

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The shapes in which editors introduce themselves, invented after theirs.
const (
	vscodeInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":%d,"clientInfo":{"name":"Visual Studio Code","version":"1.105.0"},"locale":"en","rootPath":"/home/u/p","rootUri":"file:///home/u/p","capabilities":{"workspace":{"applyEdit":true,"configuration":true,"didChangeConfiguration":{"dynamicRegistration":true},"didChangeWatchedFiles":{"dynamicRegistration":true,"relativePatternSupport":true},"executeCommand":{"dynamicRegistration":true},"workspaceFolders":true,"symbol":{"dynamicRegistration":true,"symbolKind":{"valueSet":[1,2,3,26]},"resolveSupport":{"properties":["location.range"]}},"textDocumentContent":{"dynamicRegistration":true}},"textDocument":{"completion":{"completionItem":{"snippetSupport":true}}},"window":{"showMessage":{"messageActionItem":{"additionalPropertiesSupport":true}},"showDocument":{"support":true},"workDoneProgress":true},"general":{"staleRequestSupport":{"cancel":true,"retryOnContentModified":["textDocument/semanticTokens/full"]},"positionEncodings":["utf-16"]}},"initializationOptions":{"workspaceSymbols":true},"trace":"verbose","workspaceFolders":[{"uri":"file:///home/u/p","name":"p"}]}}`
	neovimInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":%d,"clientInfo":{"name":"Neovim","version":"0.11.3+v0.11.3"},"rootPath":"/home/u/p","rootUri":"file:///home/u/p","workspaceFolders":[{"uri":"file:///home/u/p","name":"/home/u/p"}],"trace":"off","workDoneToken":"1","initializationOptions":{},"capabilities":{"general":{"positionEncodings":["utf-8","utf-16","utf-32"]},"window":{"workDoneProgress":true,"showDocument":{"support":true}},"workspace":{"applyEdit":true,"configuration":true,"didChangeConfiguration":{"dynamicRegistration":false},"symbol":{"dynamicRegistration":false,"symbolKind":{"valueSet":[1,99]}}},"futureThing":{"x":[1,2]}}}}`
	helixInitialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":%d,"clientInfo":{"name":"helix","version":"25.07"},"rootPath":"/home/u/p","rootUri":"file:///home/u/p","initializationOptions":null,"capabilities":{"general":{"positionEncodings":["utf-8","utf-32","utf-16"]},"window":{"workDoneProgress":true},"workspace":{"configuration":true,"didChangeConfiguration":{"dynamicRegistration":false},"executeCommand":{"dynamicRegistration":false}}},"workspaceFolders":[{"name":"p","uri":"file:///home/u/p"}]}}`
	eglotInitialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":%d,"clientInfo":{"name":"Eglot","version":"1.19"},"rootPath":"/home/u/p/","rootUri":"file:///home/u/p","initializationOptions":{},"capabilities":{"general":{"positionEncodings":["utf-32","utf-8","utf-16"]},"workspace":{"applyEdit":true,"executeCommand":{"dynamicRegistration":false},"configuration":true,"workspaceFolders":true},"window":{"showDocument":{"support":true},"workDoneProgress":true},"experimental":{}},"workspaceFolders":[{"uri":"file:///home/u/p","name":"~/p/"}]}}`
)

func initializeResult(encoding, prefix string, documents bool) string {
	var names []string
	for _, n := range []string{"searchSessions", "searchStatus", "clear", "getPolicy", "setPolicy", "searchEvents", "listSessions", "readSession", "listEvents", "filterEvents", "readEvent", "readSurface", "readTitles", "traceSession", "traceEvent", "renderTranscript", "resumePlan", "forgetSession"} {
		names = append(names, fmt.Sprintf("%q", prefix+"."+n))
	}
	content := ""
	if documents {
		content = `,"textDocumentContent":{"schemes":["sessionls"]}`
	}
	return `{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"positionEncoding":"` + encoding + `","workspaceSymbolProvider":{"resolveProvider":true},"executeCommandProvider":{"commands":[` +
		strings.Join(names, ",") + `]},"workspace":{"workspaceFolders":{"supported":true,"changeNotifications":true}` + content + `}},"serverInfo":{"name":"sessionls","version":"1.2.3"}}}`
}

func TestInitialize(t *testing.T) {
	params := func(p string) string { return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + p + `}` }
	options := func(o string) string { return params(`{"capabilities":{},"initializationOptions":` + o + `}`) }
	pid := os.Getpid()
	for _, tc := range []struct{ name, send, encoding, prefix string }{
		{"VS Code", fmt.Sprintf(vscodeInitialize, pid), "utf-16", "sessionls"},
		{"Neovim", fmt.Sprintf(neovimInitialize, pid), "utf-8", "sessionls"},
		{"Helix", fmt.Sprintf(helixInitialize, pid), "utf-8", "sessionls"},
		{"Eglot", fmt.Sprintf(eglotInitialize, pid), "utf-8", "sessionls"},
		{"least", plainInitialize, "utf-16", "sessionls"},
		{"empty", params(`{}`), "utf-16", "sessionls"},
		{"null", params(`null`), "utf-16", "sessionls"},
		{"without params", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`, "utf-16", "sessionls"},
		{"everything of the wrong type", params(`{"processId":"1","clientInfo":[],"capabilities":7,"initializationOptions":"x","trace":5,"workspaceFolders":{},"rootUri":{}}`), "utf-16", "sessionls"},
		{"wrong types further down", params(`{"processId":1.5,"clientInfo":{"name":3},"capabilities":{"window":[],"workspace":{"configuration":"yes"},"general":{"positionEncodings":"utf-8"}}}`), "utf-16", "sessionls"},
		{"odd encodings", params(`{"capabilities":{"general":{"positionEncodings":[null,8,"utf-7","utf-8"]}}}`), "utf-8", "sessionls"},
		{"no known encoding", params(`{"capabilities":{"general":{"positionEncodings":["utf-32"]}}}`), "utf-16", "sessionls"},
		{"process of nobody", params(`{"processId":2147483646,"capabilities":{}}`), "utf-16", "sessionls"},
		{"huge process id", params(`{"processId":99999999999999999999,"capabilities":{}}`), "utf-16", "sessionls"},
		{"negative process id", params(`{"processId":-1,"capabilities":{}}`), "utf-16", "sessionls"},
		{"prefix", options(`{"commandPrefix":"two"}`), "utf-16", "two"},
		{"prefix in the section", options(`{"sessionls":{"commandPrefix":"my-sessions_2.x"}}`), "utf-16", "my-sessions_2.x"},
		{"empty prefix", options(`{"commandPrefix":""}`), "utf-16", "sessionls"},
		{"prefix with a space", options(`{"commandPrefix":"a b"}`), "utf-16", "sessionls"},
		{"prefix of a kilobyte", options(`{"commandPrefix":"` + strings.Repeat("x", 1024) + `"}`), "utf-16", "sessionls"},
		{"prefix is a number", options(`{"commandPrefix":7}`), "utf-16", "sessionls"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := start(t, newFakeService())
			s.Send(tc.send)
			if got, want := s.Response("0").Raw, initializeResult(tc.encoding, tc.prefix, tc.name == "VS Code"); got != want {
				t.Fatalf("\n got %s\nwant %s", got, want)
			}
			s.Send(execute(1, tc.prefix+".searchStatus"))
			if m := s.Response("1"); m.Error != nil {
				t.Errorf("%s", m.Raw)
			}
			if tc.prefix != "sessionls" {
				s.Send(execute(2, "sessionls.searchStatus"))
				if m := s.Response("2"); m.Error == nil || m.Error.Code != -32601 {
					t.Errorf("the default prefix still works: %s", m.Raw)
				}
			}
		})
	}
}

func TestInitializeRefusesWhatIsNoObject(t *testing.T) {
	s := start(t, newFakeService())
	s.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":[]}`)
	if m := s.Response("0"); m.Error == nil || m.Error.Code != -32602 {
		t.Fatalf("%s", m.Raw)
	}
	s.Send(plainInitialize)
	if m := s.Response("0"); m.Error != nil {
		t.Errorf("a second try: %s", m.Raw)
	}
}

// TestNothingBeforeInitialized holds the server to silence until the client says
// initialized.
func TestNothingBeforeInitialized(t *testing.T) {
	s := start(t, newFakeService())
	s.Send(fmt.Sprintf(vscodeInitialize, os.Getpid()))
	s.Response("0")
	s.Send(execute(1, "sessionls.setPolicy", `{"enabled":true}`))
	s.Response("1")
	if rest := s.Unread(); len(rest) != 0 {
		t.Errorf("came unasked: %s", rest[0].Raw)
	}
}

// answer replies to a request of the server.
func (s session) answer(id json.RawMessage, member string) {
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, member))
}

func TestConfigurationIsPulled(t *testing.T) {
	service := newFakeService()
	s := start(t, service)
	s.Send(fmt.Sprintf(vscodeInitialize, os.Getpid()))
	s.Response("0")
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)

	registration := s.Notification("client/registerCapability")
	if want := `{"registrations":[{"id":"sessionls-configuration","method":"workspace/didChangeConfiguration","registerOptions":{"section":"sessionls"}}]}`; string(registration.Params) != want {
		t.Errorf("registered %s", registration.Params)
	}
	s.answer(registration.ID, `"result":null`)

	question := s.Notification("workspace/configuration")
	if want := `{"items":[{"section":"sessionls"}]}`; string(question.Params) != want {
		t.Errorf("asked %s", question.Params)
	}
	s.answer(question.ID, `"result":[{"statusNotifications":false,"commandPrefix":"late"}]`)

	// A change of the status shows nothing; a change of the setting shows it.
	s.Send(execute(1, "sessionls.setPolicy", `{"enabled":true}`)) // and the prefix stays
	if m := s.Response("1"); m.Error != nil {
		t.Errorf("%s", m.Raw)
	}
	s.Send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":null}}`)
	question = s.Notification("workspace/configuration")
	if slices.ContainsFunc(s.Unread(), isStatus) {
		t.Error("a status was sent though the user does not want it")
	}
	s.answer(question.ID, `"result":[{"statusNotifications":true}]`)
	if m := s.Notification("sessionls/status"); !strings.Contains(string(m.Params), `"enabled":true`) {
		t.Errorf("status %s", m.Params)
	}
}

func TestConfigurationIsNotNeeded(t *testing.T) {
	for name, answer := range map[string]string{
		"an error":        `"error":{"code":-32601,"message":"no"}`,
		"null":            `"result":null`,
		"no list":         `"result":{"statusNotifications":false}`,
		"empty list":      `"result":[]`,
		"list of nothing": `"result":[null]`,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, newFakeService())
			s.Send(fmt.Sprintf(helixInitialize, os.Getpid()))
			s.Response("0")
			s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
			s.answer(s.Notification("workspace/configuration").ID, answer)
			s.Notification("sessionls/status")
		})
	}
}

func TestConfigurationIsPushed(t *testing.T) {
	service := newFakeService()
	s := start(t, service)
	s.Send(strings.Replace(plainInitialize, `"capabilities":{}`, `"capabilities":{},"initializationOptions":{"statusNotifications":0}`, 1))
	s.Response("0")
	s.Send(`{"jsonrpc":"2.0","method":"initialized","params":{}}`)
	s.Send(execute(1, "sessionls.setPolicy", `{"enabled":false}`))
	s.Response("1")
	s.Send(`{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":{"other":{"statusNotifications":true},"sessionls":{"statusNotifications":1}}}}`)
	s.Notification("sessionls/status")
	if slices.ContainsFunc(s.Unread(), isStatus) {
		t.Error("the status came twice")
	}
}
