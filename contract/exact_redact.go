package contract

import "slices"

// What follows is [RedactHeader] for the answers of the exact reads. Sender and
// receiver both apply it, twice is the same as once, and the answer given is
// not changed. Text, data and Markdown travel as they are.

// RedactSessions is a page of headers as it may travel.
func RedactSessions(r ListSessionsResponse, transport Transport) ListSessionsResponse {
	r.Sessions = redactHeaders(r.Sessions, transport)
	return r
}

// RedactTitles is the answer of readTitles as it may travel.
func RedactTitles(r ReadTitlesResponse, transport Transport) ReadTitlesResponse {
	r.Titles = slices.Clone(r.Titles)
	for i := range r.Titles {
		r.Titles[i].Session = redactOptional(r.Titles[i].Session, transport)
	}
	return r
}

// RedactLineage is the answer of traceSession as it may travel.
func RedactLineage(r TraceSessionResponse, transport Transport) TraceSessionResponse {
	if transport == TransportLocal {
		return r
	}
	r.Target = RedactHeader(r.Target, transport)
	r.Ancestors = redactHeaders(r.Ancestors, transport)
	r.Descendants = redactNodes(r.Descendants, transport)
	r.Root = redactOptional(r.Root, transport)
	r.UnresolvedParentID = redactParent(r.UnresolvedParentID)
	r.Deeper = slices.Clone(r.Deeper)
	for i := range r.Deeper {
		r.Deeper[i].Session = RedactHeader(r.Deeper[i].Session, transport)
	}
	return r
}

// RedactResumePlan is the answer of resumePlan as it may travel: a remote one
// holds what the asking side makes a plan from, and nothing that was looked at.
func RedactResumePlan(r ResumePlanResponse, transport Transport) ResumePlanResponse {
	if transport == TransportLocal {
		return r
	}
	out := ResumePlanResponse{Agent: r.Agent, SessionID: r.SessionID, Cwd: r.Cwd}
	for _, w := range r.Warnings {
		if w.Code == WarnNoCommand { // only that host knows of which form the session is
			out.Warnings = List[ResumeWarning]{{Code: w.Code, Message: "this session cannot be continued from a command line"}}
			break
		}
	}
	return out
}

func redactHeaders(list List[Header], transport Transport) List[Header] {
	list = slices.Clone(list)
	for i := range list {
		list[i] = RedactHeader(list[i], transport)
	}
	return list
}

func redactNodes(list []LineageNode, transport Transport) []LineageNode {
	list = slices.Clone(list)
	for i := range list {
		list[i].Session = RedactHeader(list[i].Session, transport)
		list[i].Descendants = redactNodes(list[i].Descendants, transport)
	}
	return list
}

func redactOptional(header *Header, transport Transport) *Header {
	if header == nil {
		return nil
	}
	redacted := RedactHeader(*header, transport)
	return &redacted
}
