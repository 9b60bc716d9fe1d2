package transcript

import (
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// earliest is the first instant a transcript can honestly carry; coding agents
// did not exist before.
var earliest = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)

// ParseTime reads a time stamp in any of the forms agents write: ISO 8601 with
// or without zone, epoch seconds, milliseconds or microseconds, as a number or
// as a string (formats.md §2.4: > 1e14 µs, > 1e11 ms, else s). The zero time
// stands for anything unreadable, before 2015, or after the year 9000; what a
// wrong clock said is kept, and left out of headers by Header.SawTime.
func ParseTime(v jsonv.Value) time.Time {
	if f, ok := v.Float(); ok {
		return sane(FromEpoch(f))
	}
	if v.Kind() != jsonv.String || len(v) > 64 {
		return time.Time{}
	}
	return ParseTimeText(v.Str())
}

// ParseTimeText reads a time stamp written as text; see ParseTime.
func ParseTimeText(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return sane(t.UTC())
		}
	}
	return time.Time{}
}

// FromEpoch converts a count since 1970 whose unit is told by its size.
func FromEpoch(f float64) time.Time {
	switch {
	case f > 1e14 && f < 1e17:
		return time.UnixMicro(int64(f)).UTC()
	case f > 1e11 && f <= 1e14:
		return time.UnixMilli(int64(f)).UTC()
	case f > 0 && f <= 1e11:
		return time.UnixMilli(int64(f * 1000)).UTC()
	}
	return time.Time{}
}

func sane(t time.Time) time.Time {
	if t.Before(earliest) || t.Year() > 9000 {
		return time.Time{}
	}
	return t
}
