package contract

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf16"
)

// reader takes the fields of one JSON object of a request. The first fault is
// kept and later calls change nothing, so the order of the calls is the order
// of the checks. Readers of nested objects share their parent's fault.
//
// Keys match exactly, the last of duplicate keys wins, and lone surrogates and
// invalid UTF-8 become U+FFFD: that is what encoding/json does with maps and
// strings (with structs it would also accept keys in another case).
type reader struct {
	path   string // "" at the top, else "filters."
	fields map[string]json.RawMessage
	fault  **Error
}

// argumentsField names the request object itself in an error.
const argumentsField = "arguments"

// newReader opens the request object; nothing at all is an empty object.
func newReader(raw []byte) reader {
	var fault *Error
	r := reader{fault: &fault}
	if len(bytes.TrimSpace(raw)) == 0 {
		return r
	}
	if kind := kindOf(raw); kind != "object" {
		r.fail(argumentsField, "want one object, got %s", kind)
		return r
	}
	if err := json.Unmarshal(raw, &r.fields); err != nil {
		r.fail(argumentsField, "the object cannot be read: %v", err)
	}
	return r
}

// err is the first fault as an error; a nil fault must not become a non-nil
// interface.
func (r reader) err() error {
	if *r.fault == nil {
		return nil
	}
	return *r.fault
}

func (r reader) failed() bool { return *r.fault != nil }

// fail keeps the first fault. field is relative to the reader's object.
func (r reader) fail(field, format string, args ...any) {
	r.keep(InvalidParams(r.path+field, format, args...))
}

func (r reader) keep(fault *Error) {
	if *r.fault == nil {
		*r.fault = fault
	}
}

// field gives the raw value of a field; null counts as absent.
func (r reader) field(name string) (json.RawMessage, bool) {
	raw, ok := r.fields[name]
	if !ok || r.failed() || kindOf(raw) == "null" {
		return nil, false
	}
	return raw, true
}

// object opens a nested object; ok is false when it is absent or wrong.
func (r reader) object(name string) (nested reader, ok bool) {
	raw, ok := r.field(name)
	if !ok {
		return reader{}, false
	}
	if kind := kindOf(raw); kind != "object" {
		r.fail(name, "want an object, got %s", kind)
		return reader{}, false
	}
	nested = reader{path: r.path + name + ".", fault: r.fault}
	if err := json.Unmarshal(raw, &nested.fields); err != nil {
		r.fail(name, "the object cannot be read: %v", err)
		return reader{}, false
	}
	return nested, true
}

// text reads an optional string; nil is absent.
func (r reader) text(name string) *string {
	raw, ok := r.field(name)
	if !ok {
		return nil
	}
	s, ok := stringOf(raw)
	if !ok {
		r.fail(name, "want a string, got %s", kindOf(raw))
		return nil
	}
	return &s
}

// flag reads an optional boolean; nil is absent. Only true and false will do.
func (r reader) flag(name string) *bool {
	raw, ok := r.field(name)
	if !ok {
		return nil
	}
	value := kindOf(raw) == "true"
	if !value && kindOf(raw) != "false" {
		r.fail(name, "want true or false, got %s", kindOf(raw))
		return nil
	}
	return &value
}

// clamped reads an optional number: an integer is clamped, a fraction or
// absence gives the default, another type is a fault.
func (r reader) clamped(name string, low, high, fallback int) int {
	raw, ok := r.field(name)
	if !ok {
		return fallback
	}
	if kindOf(raw) != "a number" {
		r.fail(name, "want a number from %d to %d, got %s", low, high, kindOf(raw))
		return fallback
	}
	n, whole := integerOf(string(raw))
	if !whole {
		return fallback
	}
	return int(min(max(n, int64(low)), int64(high)))
}

// instant reads an optional time with an offset.
func (r reader) instant(name string) (time.Time, bool) {
	s := r.text(name)
	if s == nil {
		return time.Time{}, false
	}
	t, ok := parseTime(*s)
	if !ok {
		r.fail(name, "%s is not a time with an offset, such as 2026-11-01T09:30:00Z or 2026-11-01T09:30:00+01:00", quote(*s))
	}
	return t, ok
}

// elements reads an optional list; nil is absent, which an empty list is not.
func (r reader) elements(name string) []json.RawMessage {
	raw, ok := r.field(name)
	if !ok {
		return nil
	}
	list := []json.RawMessage{}
	if kind := kindOf(raw); kind != "a list" {
		r.fail(name, "want a list, got %s", kind)
		return nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		r.fail(name, "the list cannot be read: %v", err)
		return nil
	}
	return list
}

// texts reads an optional list of strings, each of which check may refuse.
func (r reader) texts(name string, check func(s string)) []string {
	list := r.elements(name)
	if list == nil {
		return nil
	}
	out := make([]string, 0, len(list))
	for i, raw := range list {
		s, ok := stringOf(raw)
		if !ok {
			r.fail(name, "element %d: want a string, got %s", i, kindOf(raw))
			return nil
		}
		if check != nil {
			check(s)
			if r.failed() {
				return nil
			}
		}
		out = append(out, s)
	}
	return out
}

// nullableTexts reads an optional list of strings and nulls.
func (r reader) nullableTexts(name string) []*string {
	list := r.elements(name)
	if list == nil {
		return nil
	}
	out := make([]*string, 0, len(list))
	for i, raw := range list {
		if kindOf(raw) == "null" {
			out = append(out, nil)
			continue
		}
		s, ok := stringOf(raw)
		if !ok {
			r.fail(name, "element %d: want a string or null, got %s", i, kindOf(raw))
			return nil
		}
		out = append(out, &s)
	}
	return out
}

// word reads an optional string that must be one of the allowed ones; absent is
// the fallback.
func word[T ~string](r reader, name string, fallback T, allowed ...T) T {
	s := r.text(name)
	if s == nil {
		return fallback
	}
	if !slices.Contains(allowed, T(*s)) {
		r.keep(NotAllowed(r.path+name, *s, plain(allowed)))
		return fallback
	}
	return T(*s)
}

// words reads an optional list of strings, all of them among the allowed ones.
func words[T ~string](r reader, name string, allowed ...T) []T {
	list := r.texts(name, func(s string) {
		if !slices.Contains(allowed, T(s)) {
			r.keep(NotAllowed(r.path+name, s, plain(allowed)))
		}
	})
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	for i, s := range list {
		out[i] = T(s)
	}
	return out
}

func plain[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// instantRange reads an optional {from?, to?} of times. Decimals beyond
// milliseconds are rounded inwards, so that a bound of 0.5 ms after an event
// excludes it. Neither end means no constraint, hence nil.
func (r reader) instantRange(name string) *InstantRange {
	nested, ok := r.object(name)
	if !ok {
		return nil
	}
	from, hasFrom := nested.instant("from")
	to, hasTo := nested.instant("to")
	if r.failed() || (!hasFrom && !hasTo) {
		return nil
	}
	if hasFrom && hasTo && from.After(to) {
		r.fail(name, "from is later than to")
		return nil
	}
	out := &InstantRange{}
	if hasFrom {
		out.From = ceilInstant(from)
	}
	if hasTo {
		out.To = floorInstant(to)
	}
	return out
}

// floorInstant and ceilInstant round a bound to milliseconds. An offset can
// put it beyond the years that the wire can express, where no session is: the
// last year that can be will do.
func floorInstant(t time.Time) *Instant {
	i := min(max(InstantOf(t), minInstant), maxInstant)
	return &i
}

func ceilInstant(t time.Time) *Instant {
	i := InstantOf(t)
	if i.Time().Before(t) {
		i++
	}
	i = min(max(i, minInstant), maxInstant)
	return &i
}

// seqRange reads an optional {from?, to?} of positions. Fractions are rounded
// inwards. Neither end means no constraint, hence nil.
func (r reader) seqRange(name string) *SeqRange {
	nested, ok := r.object(name)
	if !ok {
		return nil
	}
	from, hasFrom := nested.number("from")
	to, hasTo := nested.number("to")
	if r.failed() || (!hasFrom && !hasTo) {
		return nil
	}
	if hasFrom && hasTo && from.after(to) {
		r.fail(name, "from is greater than to")
		return nil
	}
	out := &SeqRange{}
	if hasFrom {
		ceil := from.ceil()
		out.From = &ceil
	}
	if hasTo {
		out.To = &to.floor
	}
	return out
}

// number reads an optional finite number.
func (r reader) number(name string) (real, bool) {
	raw, ok := r.field(name)
	if !ok {
		return real{}, false
	}
	if kindOf(raw) != "a number" {
		r.fail(name, "want a number, got %s", kindOf(raw))
		return real{}, false
	}
	n, ok := realOf(string(raw))
	if !ok {
		r.fail(name, "%s is too large", quote(string(raw)))
	}
	return n, ok
}

// kindOf names the type of a JSON value, for checks and messages. The value
// may still be broken further on.
func kindOf(raw []byte) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		if string(bytes.TrimSpace(raw)) == "null" {
			return "null"
		}
	}
	if raw[0] == '-' || (raw[0] >= '0' && raw[0] <= '9') {
		return "a number"
	}
	return "no JSON"
}

func stringOf(raw []byte) (s string, ok bool) {
	if kindOf(raw) != "a string" {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// utf16Length counts UTF-16 code units, the contract's unit of lengths.
func utf16Length(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
