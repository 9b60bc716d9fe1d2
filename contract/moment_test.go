package contract

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	zone := time.FixedZone("somewhere", 2*3600)
	now := time.Date(2026, 3, 31, 0, 30, 0, 0, zone)
	for text, want := range map[string]struct{ from, to string }{
		"12h": {"2026-03-30T12:30:00+02:00", ""}, "7d": {"2026-03-24T00:30:00+02:00", ""}, "2W": {"2026-03-17T00:30:00+02:00", ""},
		"1m": {"2026-03-03T00:30:00+02:00", ""}, "1y": {"2025-03-31T00:30:00+02:00", ""}, "0d": {"2026-03-31T00:30:00+02:00", ""},
		"today":               {"2026-03-31T00:00:00+02:00", "2026-03-31T23:59:59.999+02:00"},
		"Yesterday":           {"2026-03-30T00:00:00+02:00", "2026-03-30T23:59:59.999+02:00"},
		"2026-02-28":          {"2026-02-28T00:00:00+02:00", "2026-02-28T23:59:59.999+02:00"},
		"2026-02-28T10:00":    {"2026-02-28T10:00:00+02:00", ""},
		"2026-02-28t10:00:01": {"2026-02-28T10:00:01+02:00", ""}, "2026-02-28T10:00Z": {"2026-02-28T10:00:00Z", ""},
		"2026-02-28T10:00:00.25-05:30": {"2026-02-28T10:00:00.25-05:30", ""},
	} {
		m, ok := ParseMoment(text)
		if !ok {
			t.Errorf("%s is no time", text)
			continue
		}
		if want.to == "" {
			want.to = want.from
		}
		for end, want := range map[bool]string{false: want.from, true: want.to} {
			if at, err := time.Parse(time.RFC3339Nano, want); err != nil || !m.At(now, end).Equal(at) {
				t.Errorf("%s, end %v: %v, want %s", text, end, m.At(now, end), want)
			}
		}
		if _, err := time.Parse(time.RFC3339Nano, text); m.Fixed() != (err == nil || text == "2026-02-28T10:00Z") {
			t.Errorf("%s: fixed %v", text, m.Fixed())
		}
	}
	for _, text := range []string{"", "d", "7", "7x", "-7d", "7 d", "1234567d", "2026-02-30", "2026-2-1", "tomorrow", "2026-02-28T25:00Z", "2026-02-28 10:00", "７d", "\x00d"} {
		if m, ok := ParseMoment(text); ok {
			t.Errorf("%q: %+v", text, m)
		}
	}
}
