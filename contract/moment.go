package contract

import (
	"strings"
	"time"
)

// Moment is a time as a person writes it: in a query (since:7d), and in the flags of
// the command line.
type Moment struct {
	at   time.Time // an instant, or a day or time of no zone yet
	form momentForm
	n    int // of a span back from now, or of days back
	unit byte
}

type momentForm uint8

const (
	momentInstant momentForm = iota
	momentLocal              // a time of day in the user's zone
	momentDate
	momentDay // today, or some days before
	momentSpan
)

// MomentForms names the forms of a time for a message.
const MomentForms = "12h, 7d, 2w, 3m, 1y, today, yesterday, 2026-11-01, 2026-11-01T09:00, 2026-11-01T09:00:00Z"

// ParseMoment reads a time: 12h, 7d, 2w, 3m, 1y before now; today, yesterday or a
// date; a time of day without a zone, which is the user's; or an instant. ok is
// false for anything else. Case does not matter.
func ParseMoment(s string) (m Moment, ok bool) {
	s = strings.ToUpper(s)
	for _, layout := range []struct {
		text string
		form momentForm
	}{
		{time.DateOnly, momentDate}, {time.RFC3339Nano, momentInstant}, {"2006-01-02T15:04Z07:00", momentInstant},
		{"2006-01-02T15:04:05", momentLocal}, {"2006-01-02T15:04", momentLocal},
	} {
		if t, err := time.Parse(layout.text, s); err == nil {
			return Moment{at: t, form: layout.form}, true
		}
	}
	switch {
	case s == "TODAY":
		return Moment{form: momentDay}, true
	case s == "YESTERDAY":
		return Moment{form: momentDay, n: 1}, true
	case len(s) < 2 || len(s) > 6:
		return Moment{}, false
	}
	m = Moment{form: momentSpan, unit: s[len(s)-1]}
	for _, c := range []byte(s[:len(s)-1]) {
		if c < '0' || c > '9' {
			return Moment{}, false
		}
		m.n = 10*m.n + int(c-'0')
	}
	return m, strings.IndexByte("HDWMY", m.unit) >= 0
}

// Fixed reports whether the moment is an instant, whatever the clock and the zone
// of who reads it.
func (m Moment) Fixed() bool { return m.form == momentInstant }

// At is the instant that is meant at a time: its zone is the user's. Of a day it is
// the beginning, or the end where end is true.
func (m Moment) At(now time.Time, end bool) time.Time {
	year, month, day := m.at.Date()
	switch m.form {
	case momentInstant:
		return m.at
	case momentLocal:
		hour, minute, second := m.at.Clock()
		return time.Date(year, month, day, hour, minute, second, m.at.Nanosecond(), now.Location())
	case momentDay:
		year, month, day = now.Date()
		day -= m.n
	case momentSpan:
		switch m.unit {
		case 'H':
			return now.Add(-time.Duration(m.n) * time.Hour)
		case 'D':
			return now.AddDate(0, 0, -m.n)
		case 'W':
			return now.AddDate(0, 0, -7*m.n)
		case 'M':
			return now.AddDate(0, -m.n, 0)
		}
		return now.AddDate(-m.n, 0, 0)
	}
	t := time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	if end {
		t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
	}
	return t
}
