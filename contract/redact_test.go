package contract_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/contract"
)

func TestRedact(t *testing.T) {
	with := func(change func(*contract.Hit)) contract.Hit {
		hit := fullHit()
		change(&hit)
		return hit
	}
	missing := with(func(h *contract.Hit) { h.Source.Presence = contract.PresenceMissing })
	unverifiable := with(func(h *contract.Hit) { h.Source.Presence = contract.PresenceUnverifiable })
	for _, tt := range []struct {
		name      string
		hit       contract.Hit
		transport contract.Transport
		want      contract.Hit
	}{
		{"local keeps all of a present hit", fullHit(), contract.TransportLocal, fullHit()},
		{"local resumes only what is present", missing, contract.TransportLocal, with(func(h *contract.Hit) {
			h.Source.Presence, h.ResumeCommand = contract.PresenceMissing, ""
		})},
		{"local does not resume the unverifiable", unverifiable, contract.TransportLocal, with(func(h *contract.Hit) {
			h.Source.Presence, h.ResumeCommand = contract.PresenceUnverifiable, ""
		})},
		{"remote loses paths and the command, nothing else", fullHit(), contract.TransportRemote, with(func(h *contract.Hit) {
			h.Source, h.ResumeCommand = contract.Source{Presence: contract.PresencePresent}, ""
		})},
		{"remote keeps the presence", missing, contract.TransportRemote, with(func(h *contract.Hit) {
			h.Source, h.ResumeCommand = contract.Source{Presence: contract.PresenceMissing}, ""
		})},
		{"remote keeps the base name of a parent that is a path", with(func(h *contract.Hit) { h.ParentSessionID = ptr("/home/ann/.pi/p.jsonl") }),
			contract.TransportRemote, with(func(h *contract.Hit) {
				h.Source, h.ResumeCommand, h.ParentSessionID = contract.Source{Presence: contract.PresencePresent}, "", ptr("p.jsonl")
			})},
		{"and of one from Windows", with(func(h *contract.Hit) { h.ParentSessionID = ptr(`C:\Users\ann\p.jsonl`) }),
			contract.TransportRemote, with(func(h *contract.Hit) {
				h.Source, h.ResumeCommand, h.ParentSessionID = contract.Source{Presence: contract.PresencePresent}, "", ptr("p.jsonl")
			})},
		{"an unknown transport is remote", fullHit(), "", with(func(h *contract.Hit) {
			h.Source, h.ResumeCommand = contract.Source{Presence: contract.PresencePresent}, ""
		})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := wire(t, tt.hit)
			got := contract.Redact(tt.hit, tt.transport)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %s\nwant %s", wire(t, got), wire(t, tt.want))
			}
			if again := contract.Redact(got, tt.transport); !reflect.DeepEqual(again, got) {
				t.Errorf("twice: %s", wire(t, again))
			}
			if wire(t, tt.hit) != before {
				t.Error("the hit given was changed")
			}
		})
	}
}

func TestRedactResponse(t *testing.T) {
	response := contract.ResultsResponse(contract.SearchResults{Hits: []contract.Hit{fullHit(), fullHit()}})
	before := wire(t, response)
	got := wire(t, contract.RedactResponse(response, contract.TransportRemote))
	if strings.Contains(got, "/home/ann") || strings.Contains(got, "resumeCommand") || strings.Count(got, `"sessionId"`) != 2 {
		t.Errorf("got %s", got)
	}
	if wire(t, response) != before {
		t.Error("the answer given was changed")
	}
	stale := contract.StaleResponse(2, 1)
	if got := contract.RedactResponse(stale, contract.TransportRemote); !reflect.DeepEqual(got, stale) {
		t.Errorf("got %+v", got)
	}
}

func TestRedactStatus(t *testing.T) {
	status := fullStatus()
	before := wire(t, status)

	if got := wire(t, contract.RedactStatus(status, contract.TransportLocal)); got != before {
		t.Errorf("local: %s", got)
	}
	status.Agents[0].Roots = nil
	if got := wire(t, contract.RedactStatus(status, contract.TransportLocal)); !strings.Contains(got, `"roots":[]`) {
		t.Errorf("no roots, local: %s", got)
	}

	want := fullStatus()
	want.Agents[0].Roots = nil
	want.DegradedRoots = []contract.DegradedRoot{
		{Reason: "Source root could not be verified."}, {Reason: "Source root could not be verified."},
	}
	status = fullStatus()
	got := contract.RedactStatus(status, contract.TransportRemote)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("remote: got %s\nwant %s", wire(t, got), wire(t, want))
	}
	if again := contract.RedactStatus(got, contract.TransportRemote); !reflect.DeepEqual(again, got) {
		t.Errorf("twice: %s", wire(t, again))
	}
	if wire(t, status) != before {
		t.Error("the status given was changed")
	}
}

func TestRedactHeader(t *testing.T) {
	header := contract.Header{
		SourcePath: "/home/ann/.pi/s.jsonl", Cwd: ptr("/home/ann/app"), ParentSessionID: ptr("/home/ann/.pi/p.jsonl"),
		Warnings: []string{
			"parent /home/ann/.pi/p.jsonl was not found",
			`cannot read "C:\Users\Ann B\x.jsonl": denied`,
			"3 records could not be decoded",
		},
	}
	before := wire(t, header)
	if got := wire(t, contract.RedactHeader(header, contract.TransportLocal)); got != before {
		t.Errorf("local: %s", got)
	}
	got := contract.RedactHeader(header, contract.TransportRemote)
	want := contract.Header{
		Cwd: ptr("/home/ann/app"), ParentSessionID: ptr("p.jsonl"),
		Warnings: []string{"parent p.jsonl was not found", `cannot read "x.jsonl": denied`, "3 records could not be decoded"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("remote: got %s\nwant %s", wire(t, got), wire(t, want))
	}
	if wire(t, header) != before {
		t.Error("the header given was changed")
	}
}
