package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/commands"
	"github.com/sessionls/sessionls/contract"
)

// fake answers with what it was asked.
type fake struct {
	contract.Commands
	fail   error
	search contract.SearchSessionsRequest
	status int
	policy contract.Policy
}

func (f *fake) SearchSessions(_ context.Context, q contract.SearchSessionsRequest) (contract.SearchSessionsResponse, error) {
	f.search = q
	return contract.ResultsResponse(contract.SearchResults{Hits: contract.List[contract.Hit]{{Title: "a <b> & c"}}}), f.fail
}

func (f *fake) SearchStatus(context.Context, contract.SearchStatusRequest) (contract.Status, error) {
	f.status++
	return contract.Status{Enabled: true, Decided: true, Phase: contract.PhaseCurrent, Writer: contract.WriterThis, Generation: 7}, f.fail
}

func (f *fake) Clear(context.Context, contract.ClearRequest) (contract.ClearResponse, error) {
	return contract.ClearResponse{Cleared: true, Identity: "new"}, f.fail
}

func (f *fake) GetPolicy(context.Context, contract.GetPolicyRequest) (contract.Policy, error) {
	return f.policy, f.fail
}

func (f *fake) SetPolicy(_ context.Context, q contract.SetPolicyRequest) (contract.Policy, error) {
	f.policy = q.Apply(f.policy)
	return f.policy, f.fail
}

func (f *fake) ForgetSession(_ context.Context, q contract.ForgetSessionRequest) (contract.ForgetSessionResponse, error) {
	return contract.ForgetSessionResponse{Forgotten: contract.List[contract.SessionName]{q.SessionName}, Generation: 8}, f.fail
}

func list(arguments ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, a := range arguments {
		out = append(out, json.RawMessage(a))
	}
	return out
}

// TestEveryCommandOfTheContract holds the registry to the contract's own table.
func TestEveryCommandOfTheContract(t *testing.T) {
	for _, prefix := range []string{"", "two"} {
		got := commands.New(&fake{}, contract.Parser{}, prefix).Names()
		if want := contract.CommandNames(prefix); !slices.Equal(got, want) {
			t.Errorf("prefix %q:\n got %q\nwant %q", prefix, got, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []json.RawMessage
		want string // the answer, or the start of it if it ends in …
	}{
		{"sessionls.searchStatus", nil, `{"enabled":true,"decided":true,"phase":"current",…`},
		{"sessionls.searchStatus", list(`{}`), `{"enabled":true,…`},
		{"sessionls.searchStatus", list(`null`), `{"enabled":true,…`},
		{"sessionls.searchSessions", list(`{"query":"x","unknown":[1]}`), `{"kind":"results",…`},
		{"sessionls.clear", nil, `{"cleared":true,"identity":"new"}`},
		{"sessionls.getPolicy", nil, `{"enabled":null,"historyDays":null}`},
		{"sessionls.setPolicy", list(`{"enabled":true}`), `{"enabled":true,"historyDays":null}`},
		{"sessionls.setPolicy", list(`{"historyDays":30}`), `{"enabled":null,"historyDays":30}`},
		{"sessionls.forgetSession", list(`{"sessionId":"s-1"}`), `{"forgotten":[{"sessionId":"s-1"}],"generation":8}`},
	} {
		got, err := commands.New(&fake{}, contract.Parser{}, "").Run(context.Background(), tc.name, tc.args)
		if err != nil {
			t.Errorf("%s%s: %v", tc.name, tc.args, err)
			continue
		}
		start, open := strings.CutSuffix(tc.want, "…")
		if string(got) != tc.want && !(open && strings.HasPrefix(string(got), start)) {
			t.Errorf("%s%s:\n got %s\nwant %s", tc.name, tc.args, got, tc.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: not JSON: %s", tc.name, got)
		}
	}
}

func TestTextIsNotEscapedForHTML(t *testing.T) {
	got, err := commands.New(&fake{}, contract.Parser{}, "").Run(context.Background(), "sessionls.searchSessions", list(`{"query":"x"}`))
	if err != nil || !strings.Contains(string(got), `"title":"a <b> & c"`) {
		t.Errorf("%s, %v", got, err)
	}
}

// TestTheServiceIsToldTheHost: which hosts there are is its business.
func TestTheServiceIsToldTheHost(t *testing.T) {
	service := &fake{}
	if _, err := commands.New(service, contract.Parser{}, "").Run(context.Background(), "sessionls.searchSessions", list(`{"query":"x","executionHost":"ssh:box"}`)); err != nil {
		t.Fatal(err)
	}
	if got := service.search.ExecutionHost; got != "ssh:box" {
		t.Errorf("asked for %q", got)
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name  string
		args  []json.RawMessage
		rpc   int
		code  string
		field string
	}{
		{"sessionls.nonsense", nil, -32601, contract.CodeInvalidConfig, "command"},
		{"searchSessions", nil, -32601, contract.CodeInvalidConfig, "command"},
		{"", nil, -32601, contract.CodeInvalidConfig, "command"},
		{strings.Repeat("\xff", 1000), nil, -32601, contract.CodeInvalidConfig, "command"},
		{"sessionls.searchSessions", nil, -32602, contract.CodeInvalidQuery, "query"},
		{"sessionls.searchSessions", list(`{"query":"x"}`, `{}`), -32602, contract.CodeInvalidConfig, "arguments"},
		{"sessionls.searchSessions", list(`null`, `null`), -32602, contract.CodeInvalidConfig, "arguments"},
		{"sessionls.searchSessions", list(`"x"`), -32602, contract.CodeInvalidConfig, "arguments"},
		{"sessionls.searchSessions", list(`[{}]`), -32602, contract.CodeInvalidConfig, "arguments"},
		{"sessionls.searchSessions", list(``), -32602, contract.CodeInvalidConfig, "arguments"},
		{"sessionls.searchSessions", list(`{"query":"x","filters":{"agents":["clade"]}}`), -32602, contract.CodeInvalidFilter, "filters.agents"},
		// A bad request is refused before the host is looked at.
		{"sessionls.searchSessions", list(`{"query":1,"executionHost":"ssh:box"}`), -32602, contract.CodeInvalidQuery, "query"},
		{"sessionls.searchStatus", list(`{"executionHost":"all"}`), -32602, contract.CodeInvalidConfig, "executionHost"},
		{"sessionls.forgetSession", nil, -32602, contract.CodeInvalidConfig, "sessionId"},
		{"sessionls.forgetSession", list(`{"sessionId":"s","executionHost":"ssh:box"}`), -32602, contract.CodeInvalidConfig, "executionHost"},
		{"sessionls.setPolicy", list(`{"enabled":"yes"}`), -32602, contract.CodeInvalidConfig, "enabled"},
	} {
		service := &fake{}
		_, err := commands.New(service, contract.Parser{}, "").Run(context.Background(), tc.name, tc.args)
		var got *contract.Error
		if !errors.As(err, &got) {
			t.Errorf("%.40q%s: %v is no contract.Error", tc.name, tc.args, err)
			continue
		}
		if got.RPCCode != tc.rpc || got.Code != tc.code || got.Field != tc.field {
			t.Errorf("%.40q%s: got %d %s %q, want %d %s %q", tc.name, tc.args, got.RPCCode, got.Code, got.Field, tc.rpc, tc.code, tc.field)
		}
		if len(got.Message) > 1000 {
			t.Errorf("%.40q: a message of %d bytes", tc.name, len(got.Message))
		}
	}
}

func TestErrorsAreAlwaysCoded(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	own := contract.Failed(contract.CodeSearchDisabled, nil, "no")
	for _, tc := range []struct {
		name string
		ctx  context.Context
		err  error
		rpc  int
		code string
	}{
		{"without a code", context.Background(), errors.New("disk full"), -32803, contract.CodeIndexFailed},
		{"with a code", context.Background(), fmt.Errorf("deep down: %w", own), -32803, contract.CodeSearchDisabled},
		{"cancelled", ended, fmt.Errorf("query: %w", context.Canceled), -32800, contract.CodeAborted},
		{"cancelled, in the driver's words", ended, errors.New("interrupted"), -32800, contract.CodeAborted},
		{"failed while cancelled", ended, own, -32803, contract.CodeSearchDisabled},
		{"an inner deadline", context.Background(), context.DeadlineExceeded, -32803, contract.CodeIndexFailed},
		{"cancelled by nobody", context.Background(), context.Canceled, -32803, contract.CodeIndexFailed},
	} {
		for _, name := range commands.New(&fake{}, contract.Parser{}, "").Names() {
			_, err := commands.New(&fake{fail: tc.err}, contract.Parser{}, "").Run(tc.ctx, name, list(`{"query":"x","sessionId":"s","seq":0,"sessions":[]}`))
			var got *contract.Error
			if !errors.As(err, &got) || got.RPCCode != tc.rpc || got.Code != tc.code {
				t.Errorf("%s, %s: got %#v, want %d %s", tc.name, name, err, tc.rpc, tc.code)
			}
		}
	}
}

func TestWhoWaitsForATurn(t *testing.T) {
	r := commands.New(&fake{}, contract.Parser{}, "p")
	for _, name := range r.Names() {
		// What reads a whole transcript, or may match all there is, waits; what a
		// person waits for, or reads a few rows, does not.
		quick := slices.Contains([]string{"searchStatus", "clear", "getPolicy", "setPolicy", "readTitles", "resumePlan", "forgetSession"}, strings.TrimPrefix(name, "p."))
		if got := r.Heavy(name); got == quick {
			t.Errorf("%s: heavy is %v", name, got)
		}
	}
	if r.Heavy("p.nonsense") {
		t.Error("an unknown command is heavy")
	}
}

func TestTheServiceIsAskedWithDefaults(t *testing.T) {
	service := &fake{}
	_, err := commands.New(service, contract.Parser{}, "").Run(context.Background(), "sessionls.searchSessions", list(`{"query":"x","limit":1000}`))
	if err != nil {
		t.Fatal(err)
	}
	want := contract.NewSearchSessionsRequest("x")
	want.Limit = 100
	if fmt.Sprintf("%+v", service.search) != fmt.Sprintf("%+v", want) {
		t.Errorf("asked %+v\nwant  %+v", service.search, want)
	}
}
