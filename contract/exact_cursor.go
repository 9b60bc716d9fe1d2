package contract

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
)

// readCursorVersion also tells these cursors from those of searchSessions.
const readCursorVersion = 2

// ReadCursor is where a walk through the pages of an exact read stands. It
// names the last element of the page before, never a number of elements, and
// holds all state of the walk.
type ReadCursor struct {
	// RequestHash is the request's own, see [ListSessionsRequest.Hash].
	RequestHash string
	// Fence is the index's generation (listSessions) or the session's epoch.
	Fence Fence
	// Clock is the first page's time, for the filter on active sessions.
	Clock Instant
	// Last is the last element: a session's row id, or an event's position.
	Last int64
	// Check tells whether that position still is the same event.
	Check uint64
}

type readCursorWire struct {
	Version  int    `json:"v"`
	Hash     string `json:"q"`
	Fence    int64  `json:"g"`
	Identity string `json:"i"`
	Clock    int64  `json:"t"`
	Last     int64  `json:"l"`
	Check    uint64 `json:"c"`
}

// EncodeReadCursor gives the opaque string of a cursor: unpadded base64url of
// compact JSON.
func EncodeReadCursor(c ReadCursor) string {
	return encodeToken(readCursorWire{
		Version: readCursorVersion, Hash: c.RequestHash, Fence: c.Fence.Generation, Identity: c.Fence.Identity,
		Clock: int64(c.Clock), Last: c.Last, Check: c.Check,
	})
}

// DecodeReadCursor reads a cursor. Like [DecodeCursor] it takes only what was
// encoded here; the error is [ErrMalformedCursor].
func DecodeReadCursor(s string) (ReadCursor, error) {
	var wire readCursorWire
	if len(s) > maxCursorLength || !decodeToken(s, &wire) {
		return ReadCursor{}, ErrMalformedCursor
	}
	c := ReadCursor{
		RequestHash: wire.Hash, Fence: Fence{Generation: wire.Fence, Identity: wire.Identity},
		Clock: Instant(wire.Clock), Last: wire.Last, Check: wire.Check,
	}
	if wire.Version != readCursorVersion || wire.Hash == "" || wire.Fence < 0 || wire.Last < 0 ||
		len(wire.Identity) > maxIdentity || EncodeReadCursor(c) != s {
		return ReadCursor{}, ErrMalformedCursor
	}
	return c, nil
}

// CheckReadCursor reads the cursor of a request whose hash is requestHash and
// holds it against the index or the session. One that cannot be read or belongs
// to another request is INVALID_CURSOR; only then does its age matter, since
// the epochs of two sessions say nothing about each other: STALE_CURSOR.
func CheckReadCursor(s string, now Fence, requestHash string) (ReadCursor, error) {
	c, err := DecodeReadCursor(s)
	if err := checkRead(s, err, c.RequestHash == requestHash, c.Fence == now); err != nil {
		return ReadCursor{}, err
	}
	return c, nil
}

// checkRead is the fault of a cursor, nil if it has none.
func checkRead(s string, malformed error, sameRequest, sameState bool) error {
	switch {
	case malformed != nil:
		return InvalidParams("cursor", "%s is no cursor of this service; leave it out for the first page", quote(s))
	case !sameRequest:
		return InvalidParams("cursor", "the cursor belongs to another request; leave it out for the first page")
	case !sameState:
		return StaleCursorError()
	}
	return nil
}

// StaleCursorError says that what a cursor points into has changed.
func StaleCursorError() *Error {
	return Failed(CodeStaleCursor, nil, "what the cursor points into has changed since; ask for the first page again")
}

// Hash names the walk the request belongs to. Like [RequestHash] it covers
// neither the limit nor the host.
func (r ListSessionsRequest) Hash() string {
	f := canonicalFilters(r.Filters)
	f.Sort = ""
	return readHash("listSessions", SessionName{}, f, string(cmp.Or(r.Sort, SessionSortCreated)))
}

// Hash names the walk the request belongs to; of is the session that its name
// stands for.
func (r ListEventsRequest) Hash(of SessionName) string {
	return readHash("listEvents", of, canonicalEvents(r.Filters), "")
}

// Hash names the walk the request belongs to; of is the session that its name
// stands for.
func (r FilterEventsRequest) Hash(of SessionName) string {
	// No text and the empty text are one: a parser lets no empty text pass.
	text := ""
	if r.Text != nil {
		text = *r.Text
	}
	return readHash("filterEvents", of, canonicalEvents(r.Filters), text)
}

// Hash names the walk the request belongs to; of is the session that its name
// stands for.
func (r ReadSurfaceRequest) Hash(of SessionName) string {
	return readHash("readSurface", of, nil, "")
}

func readHash(command string, of SessionName, filters any, rest string) string {
	return hashOf(struct {
		Command string      `json:"command"`
		Session SessionName `json:"session"`
		Filters any         `json:"filters"`
		Rest    string      `json:"rest"`
	}{command, of, filters, rest})
}

// hashOf names a value by its JSON form.
func hashOf(value any) string {
	canonical, err := marshal(value)
	if err != nil {
		// Strings, integers and booleans always have a JSON form.
		canonical = []byte(err.Error())
	}
	sum := sha256.Sum256(canonical)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// canonicalFilters puts the lists of filters in order. Nil and empty stay
// different: the latter matches nothing.
func canonicalFilters(f Filters) Filters {
	f.Sort = cmp.Or(f.Sort, SortRelevance)
	f.Agents = sortedSet(f.Agents)
	f.ScopePaths = sortedSet(f.ScopePaths)
	f.SessionIDs = sortedSet(f.SessionIDs)
	f.Cwds = sortedNullable(f.Cwds)
	f.Parents = sortedNullable(f.Parents)
	f.Presence = sortedSet(f.Presence)
	f.Relations = sortedSet(f.Relations)
	f.Branches = sortedSet(f.Branches)
	f.Models = sortedSet(f.Models)
	f.Files = sortedSet(f.Files)
	f.Events = canonicalEvents(f.Events)
	return f
}

func canonicalEvents(e *EventFilters) *EventFilters {
	if e == nil {
		return nil
	}
	events := *e
	events.Types = sortedSet(events.Types)
	events.Surfaces = sortedSet(events.Surfaces)
	events.Roles = sortedSet(events.Roles)
	events.Tools = sortedSet(events.Tools)
	return &events
}
