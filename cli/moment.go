package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// moment reads a time of the command line: an instant, a day of the user's zone, or
// a span back from now, in the forms that search takes. Of a day the end is meant
// when end is true. ok is false for anything else.
func moment(s string, now time.Time, end bool) (at contract.Instant, ok bool) {
	day := func(t time.Time) (contract.Instant, bool) {
		t = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, now.Location())
		if end {
			return contract.InstantOf(t.AddDate(0, 0, 1)) - 1, true
		}
		return contract.InstantOf(t), true
	}
	switch {
	case instantForm.MatchString(s):
		return at, at.UnmarshalJSON([]byte(strconv.Quote(s))) == nil
	case s == "today":
		return day(now)
	case s == "yesterday":
		return day(now.AddDate(0, 0, -1))
	case isDay(s):
		t, err := time.Parse(time.DateOnly, s)
		if err != nil {
			return 0, false
		}
		return day(t)
	case !spanForm.MatchString(s):
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimRight(s, "hdwmy"))
	if err != nil {
		return 0, false
	}
	switch s[len(s)-1] {
	case 'h':
		return contract.InstantOf(now.Add(-time.Duration(n) * time.Hour)), true
	case 'w':
		n *= 7
	case 'm':
		return contract.InstantOf(now.AddDate(0, -n, 0)), true
	case 'y':
		return contract.InstantOf(now.AddDate(-n, 0, 0)), true
	}
	return contract.InstantOf(now.AddDate(0, 0, -n)), true
}
