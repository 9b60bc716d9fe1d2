package contract

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
)

// Bounds of cursors, in bytes. A longer one was not made here.
const (
	maxCursorLength  = 1024
	maxWrappedLength = 16 << 10
	maxIdentity      = 128
)

const cursorVersion = 1

// ErrMalformedCursor says that a string is no cursor of this service (or of
// that host).
var ErrMalformedCursor = errors.New("malformed cursor")

// Cursor is where a walk through the pages of searchSessions stands. It holds
// all state of the walk, the server keeps none.
type Cursor struct {
	// RequestHash is [RequestHash] of the request it belongs to.
	RequestHash string
	// Generation is the index's generation the pages are read from.
	Generation int64
	// Identity is the index's; a cursor without one is stale.
	Identity string
	// Clock is the first page's time, for `since:7d` and `active`.
	Clock Instant
	// Position is the last hit of the page before.
	Position Position
}

// Position is a place in the total order of hits.
type Position struct {
	// Score is finite and survives the cursor bit for bit.
	Score float64
	// UpdatedAt is nil for a session without a time.
	UpdatedAt *Instant
	// SessionRow is the session's row id in the index.
	SessionRow int64
	// Offset is how many hits came before.
	Offset int64
}

// cursorWire is the JSON of a cursor; scores are the hex of their bits.
type cursorWire struct {
	Version    int          `json:"v"`
	Hash       string       `json:"q"`
	Generation int64        `json:"g"`
	Identity   string       `json:"i,omitempty"`
	Clock      int64        `json:"t"`
	Position   positionWire `json:"p"`
}

type positionWire struct {
	Score     string `json:"s"`
	UpdatedAt *int64 `json:"u"`
	Row       int64  `json:"r"`
	Offset    int64  `json:"o"`
}

// EncodeCursor gives the opaque string of a cursor: unpadded base64url of
// compact JSON.
func EncodeCursor(c Cursor) string {
	wire := cursorWire{
		Version:    cursorVersion,
		Hash:       c.RequestHash,
		Generation: c.Generation,
		Identity:   c.Identity,
		Clock:      int64(c.Clock),
		Position: positionWire{
			Score:     strconv.FormatUint(math.Float64bits(c.Position.Score), 16),
			UpdatedAt: (*int64)(c.Position.UpdatedAt),
			Row:       c.Position.SessionRow,
			Offset:    c.Position.Offset,
		},
	}
	return encodeToken(wire)
}

// DecodeCursor reads a cursor. It takes only what [EncodeCursor] gives: the
// decoded cursor must encode to the same string, which rules out padding, line
// breaks, unknown, repeated or missing fields, other spellings of numbers and
// anything that follows. The error is [ErrMalformedCursor].
func DecodeCursor(s string) (Cursor, error) {
	var wire cursorWire
	if len(s) > maxCursorLength || !decodeToken(s, &wire) {
		return Cursor{}, ErrMalformedCursor
	}
	bits, err := strconv.ParseUint(wire.Position.Score, 16, 64)
	score := math.Float64frombits(bits)
	if err != nil || math.IsNaN(score) || math.IsInf(score, 0) {
		return Cursor{}, ErrMalformedCursor
	}
	if wire.Version != cursorVersion || wire.Hash == "" || wire.Generation < 0 ||
		len(wire.Identity) > maxIdentity || wire.Position.Row < 0 || wire.Position.Offset < 0 {
		return Cursor{}, ErrMalformedCursor
	}
	c := Cursor{
		RequestHash: wire.Hash,
		Generation:  wire.Generation,
		Identity:    wire.Identity,
		Clock:       Instant(wire.Clock),
		Position: Position{
			Score:      score,
			UpdatedAt:  (*Instant)(wire.Position.UpdatedAt),
			SessionRow: wire.Position.Row,
			Offset:     wire.Position.Offset,
		},
	}
	if EncodeCursor(c) != s {
		return Cursor{}, ErrMalformedCursor
	}
	return c, nil
}

// Fence is the state of an index that a cursor is held against.
type Fence struct {
	Generation int64
	Identity   string
}

// CheckCursor reads the cursor of a request whose hash is requestHash and
// holds it against the index. It checks in the contract's order: undecodable
// or of a wrong shape is malformed, another generation is stale, another or no
// identity is stale, another request is malformed. A refusal is the answer to
// give; it is nil when the cursor is good.
func CheckCursor(s string, now Fence, requestHash string) (c Cursor, refusal *SearchSessionsResponse) {
	c, err := DecodeCursor(s)
	var answer SearchSessionsResponse
	switch {
	case err != nil:
		answer = MalformedResponse()
	case c.Generation != now.Generation, c.Identity == "", c.Identity != now.Identity:
		answer = StaleResponse(now.Generation, c.Generation)
	case c.RequestHash != requestHash:
		answer = MalformedResponse()
	default:
		return c, nil
	}
	return Cursor{}, &answer
}

// RequestHash names the walk a request belongs to. It covers the query, the
// scope and the filters with their sort, but neither the order of list elements
// nor limit, cursor, freshness, debug or host. A default and its absence have
// the same hash.
func RequestHash(request SearchSessionsRequest) string {
	return hashOf(struct {
		Query   string  `json:"query"`
		Scope   Scope   `json:"scope"`
		Filters Filters `json:"filters"`
	}{request.Query, cmp.Or(request.Scope, ScopeAll), canonicalFilters(request.Filters)})
}

func sortedSet[T cmp.Ordered](list []T) []T {
	if list == nil {
		return nil
	}
	out := append(make([]T, 0, len(list)), list...)
	slices.Sort(out)
	return slices.Compact(out)
}

// sortedNullable is sortedSet with null first.
func sortedNullable(list []*string) []*string {
	if list == nil {
		return nil
	}
	out := append(make([]*string, 0, len(list)), list...)
	compare := func(a, b *string) int {
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil:
			return -1
		case b == nil:
			return 1
		}
		return cmp.Compare(*a, *b)
	}
	slices.SortFunc(out, compare)
	return slices.CompactFunc(out, func(a, b *string) bool { return compare(a, b) == 0 })
}

// wrappedWire is a cursor of another host with that host's name around it.
type wrappedWire struct {
	Host   Host   `json:"h"`
	Cursor string `json:"c"`
}

// WrapCursor puts the name of the host that made it around a cursor, so that
// it cannot be sent to another host. The inner cursor is opaque here.
func WrapCursor(host Host, inner string) string {
	return encodeToken(wrappedWire{Host: host, Cursor: inner})
}

// UnwrapCursor takes the cursor of that host out of its wrapping. A cursor of
// this machine or of another host is [ErrMalformedCursor], without a call.
func UnwrapCursor(host Host, s string) (string, error) {
	var wire wrappedWire
	if len(s) > maxWrappedLength || !decodeToken(s, &wire) || wire.Host != host ||
		WrapCursor(wire.Host, wire.Cursor) != s {
		return "", ErrMalformedCursor
	}
	return wire.Cursor, nil
}

func encodeToken(wire any) string {
	raw, err := marshal(wire)
	if err != nil {
		// The wire structs hold strings and integers only; "" is malformed.
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func decodeToken(s string, wire any) bool {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, wire) == nil
}
