package contract

import (
	"cmp"
	"math"
	"strconv"
)

// eventCursorVersion tells these cursors from all others.
const eventCursorVersion = 3

// EventCursor is where a walk through the pages of searchEvents stands: at its
// last hit. It holds all state of the walk, the server keeps none.
type EventCursor struct {
	// RequestHash is the request's own, see [SearchEventsRequest.Hash].
	RequestHash string
	// Fence is the index's generation, or of a walk through one session what
	// names that session's content.
	Fence Fence
	// Clock is the first page's time, for `since:7d` and `active`.
	Clock Instant
	// Plan names how the words were looked for; with another plan there would
	// be other hits.
	Plan uint64
	// Key is the last hit's place in the order: its score, or its time in
	// milliseconds; minus infinity if it has none. Session and Row tell equals
	// apart.
	Key          float64
	Session, Row int64
}

type eventCursorWire struct {
	Version  int    `json:"v"`
	Hash     string `json:"q"`
	Fence    int64  `json:"g"`
	Identity string `json:"i"`
	Clock    int64  `json:"t"`
	Plan     string `json:"p"`
	Key      string `json:"k"`
	Session  int64  `json:"s"`
	Row      int64  `json:"r"`
}

// EncodeEventCursor gives the opaque string of a cursor: unpadded base64url of
// compact JSON.
func EncodeEventCursor(c EventCursor) string {
	return encodeToken(eventCursorWire{
		Version: eventCursorVersion, Hash: c.RequestHash, Fence: c.Fence.Generation, Identity: c.Fence.Identity, Clock: int64(c.Clock),
		Plan: strconv.FormatUint(c.Plan, 16), Key: strconv.FormatUint(math.Float64bits(c.Key), 16), Session: c.Session, Row: c.Row,
	})
}

// DecodeEventCursor reads a cursor. Like [DecodeCursor] it takes only what was
// encoded here; the error is [ErrMalformedCursor].
func DecodeEventCursor(s string) (EventCursor, error) {
	var wire eventCursorWire
	if len(s) > maxCursorLength || !decodeToken(s, &wire) {
		return EventCursor{}, ErrMalformedCursor
	}
	plan, err := strconv.ParseUint(wire.Plan, 16, 64)
	bits, keyErr := strconv.ParseUint(wire.Key, 16, 64)
	c := EventCursor{
		RequestHash: wire.Hash, Fence: Fence{Generation: wire.Fence, Identity: wire.Identity}, Clock: Instant(wire.Clock),
		Plan: plan, Key: math.Float64frombits(bits), Session: wire.Session, Row: wire.Row,
	}
	if err != nil || keyErr != nil || wire.Version != eventCursorVersion || wire.Hash == "" || wire.Fence < 0 || math.IsNaN(c.Key) ||
		wire.Session < 0 || wire.Row < 0 || len(wire.Identity) > maxIdentity || EncodeEventCursor(c) != s {
		return EventCursor{}, ErrMalformedCursor
	}
	return c, nil
}

// CheckEventCursor reads the cursor of a request whose hash is requestHash and
// holds it against the index or the session, as [CheckReadCursor] does.
func CheckEventCursor(s string, now Fence, requestHash string) (EventCursor, error) {
	c, err := DecodeEventCursor(s)
	if err := checkRead(s, err, c.RequestHash == requestHash, c.Fence == now); err != nil {
		return EventCursor{}, err
	}
	return c, nil
}

// Hash names the walk the request belongs to; of is the session that its name
// stands for, nothing when all are searched.
func (r SearchEventsRequest) Hash(of SessionName) string {
	f := canonicalFilters(r.Filters)
	if r.OfSession() {
		f = Filters{Sort: f.Sort, Events: f.Events}
	}
	return readHash("searchEvents", of, f, string(cmp.Or(r.Scope, ScopeAll))+" "+r.Query)
}
