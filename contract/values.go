package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Instant is a point in time in milliseconds since 1970-01-01T00:00:00Z. On
// the wire it is ISO 8601 UTC with exactly three decimals; a time outside the
// years 0000 to 9999 has no such form and is null, which means unknown.
type Instant int64

// The first and the last instant that the wire form can express.
const (
	minInstant Instant = -62167219200000
	maxInstant Instant = 253402300799999
)

const instantLayout = "2006-01-02T15:04:05.000Z"

// InstantOf is t cut to milliseconds, towards the past.
func InstantOf(t time.Time) Instant { return Instant(t.UnixMilli()) }

// Time is the instant in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

// String is the wire form, or "" outside the years 0000 to 9999.
func (i Instant) String() string {
	if i < minInstant || i > maxInstant {
		return ""
	}
	return i.Time().Format(instantLayout)
}

// MarshalJSON gives the wire form.
func (i Instant) MarshalJSON() ([]byte, error) {
	s := i.String()
	if s == "" {
		return []byte("null"), nil
	}
	return []byte(`"` + s + `"`), nil
}

// UnmarshalJSON reads any ISO 8601 time with an offset, cut to milliseconds.
// null leaves the instant as it is.
func (i *Instant) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("reading an instant: %w", err)
	}
	t, ok := parseTime(s)
	if !ok {
		return fmt.Errorf("reading an instant: %s is not an ISO 8601 time with an offset", quote(s))
	}
	*i = InstantOf(t)
	return nil
}

var timePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$`)

// parseTime reads an ISO 8601 date and time with Z or ±hh:mm; seconds and
// decimals may be missing. A date alone or a time without offset is refused:
// what instant it names depends on where it is read.
func parseTime(s string) (time.Time, bool) {
	// The longest sensible form has nine decimals; more digits are harmless
	// but a megabyte of them is not worth matching.
	if len(s) > 64 || !timePattern.MatchString(s) {
		return time.Time{}, false
	}
	layout := time.RFC3339
	if s[16] != ':' {
		layout = "2006-01-02T15:04Z07:00"
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}, false
	}
	return t, true
}

// List is a slice that is [] on the wire when it has no elements, never null.
type List[T any] []T

// MarshalJSON writes the elements, or [] for nil.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// Optional is a field that can be absent, null or have a value, where null is a
// value of its own.
type Optional[T any] struct {
	// Set is false when the field was absent.
	Set bool
	// Value is nil when the field was null (or absent).
	Value *T
}

// Some is an Optional with that value.
func Some[T any](value T) Optional[T] { return Optional[T]{Set: true, Value: &value} }

// Null is an Optional that was given as null.
func Null[T any]() Optional[T] { return Optional[T]{Set: true} }

// IsZero reports whether the field is absent; `omitzero` asks for it.
func (o Optional[T]) IsZero() bool { return !o.Set }

// MarshalJSON writes the value or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return marshal(o.Value) }

// UnmarshalJSON marks the field as given and reads its value.
func (o *Optional[T]) UnmarshalJSON(raw []byte) error {
	*o = Optional[T]{Set: true}
	return json.Unmarshal(raw, &o.Value)
}

// marshal is json.Marshal without the escaping of <, > and &, which would make
// every code snippet longer and harder to read.
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// quote shows a piece of a request in a message: bounded, on one line, safe
// for a terminal.
func quote(s string) string {
	const limit = 80
	runes := []rune(s[:min(len(s), 4*limit)])
	if len(runes) > limit {
		return strconv.Quote(string(runes[:limit])) + "…"
	}
	return strconv.Quote(string(runes))
}
