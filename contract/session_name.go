package contract

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MinPrefixLength is the shortest prefix of a session id that may name a
// session, in code points.
const MinPrefixLength = 8

// SessionName names a session in a request: its id or a unique prefix of it,
// and the agent when the id alone could mean several.
type SessionName struct {
	SessionID string `json:"sessionId"`
	// Agent is "" for any.
	Agent string `json:"agent,omitzero"`
}

// String is "agent:id", or the id alone.
func (n SessionName) String() string {
	if n.Agent == "" {
		return n.SessionID
	}
	return n.Agent + ":" + n.SessionID
}

// IsPrefix reports whether the name is long enough to be tried as a prefix when
// no session has exactly that id.
func (n SessionName) IsPrefix() bool {
	return utf8.RuneCountInString(n.SessionID) >= MinPrefixLength
}

// Match tells whether a session of that agent with that id is named, exactly
// or by a prefix. An exact match beats every match by prefix.
func (n SessionName) Match(agent, sessionID string) (exact, prefix bool) {
	if n.SessionID == "" || (n.Agent != "" && n.Agent != agent) {
		return false, false
	}
	exact = n.SessionID == sessionID
	return exact, !exact && n.IsPrefix() && strings.HasPrefix(sessionID, n.SessionID)
}

// ParseSessionName reads {sessionId, agent?} from a request object; its other
// fields are left alone.
func (p Parser) ParseSessionName(raw []byte) (SessionName, error) {
	r := newReader(raw)
	name := p.sessionName(r)
	if err := r.err(); err != nil {
		return SessionName{}, err
	}
	return name, nil
}

func (p Parser) sessionName(r reader) SessionName {
	var name SessionName
	if id := r.text("sessionId"); id != nil && *id != "" {
		name.SessionID = *id
	} else {
		r.fail("sessionId", "a session id, or %d or more characters of its beginning, is required", MinPrefixLength)
	}
	if agent := r.text("agent"); agent != nil {
		if known := p.agents(); !slices.Contains(known, *agent) {
			r.keep(NotAllowed("agent", *agent, known))
		}
		name.Agent = *agent
	}
	return name
}

// SessionArgument reads the name of a session on a command line: "id",
// "agent:id" or "agent/id". What stands before the first separator is an agent
// only when that agent is known, because ids may hold separators themselves.
func (p Parser) SessionArgument(s string) SessionName {
	if i := strings.IndexAny(s, ":/"); i > 0 && i+1 < len(s) && slices.Contains(p.agents(), s[:i]) {
		return SessionName{Agent: s[:i], SessionID: s[i+1:]}
	}
	return SessionName{SessionID: s}
}
