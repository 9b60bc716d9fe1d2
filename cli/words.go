package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sessionls/sessionls/contract"
)

// count is a number and what is counted, such as "1 session" or "12,345 events".
func count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + many
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// size writes bytes in decimal units.
func size(n int64) string {
	if n < 1000 {
		return count(n, "byte", "bytes")
	}
	value, unit := float64(n)/1000, 0
	units := []string{"kB", "MB", "GB", "TB", "PB", "EB"}
	for value >= 999.5 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %s", value, units[unit])
	}
	return fmt.Sprintf("%.0f %s", value, units[unit])
}

// agoOrNever is contract.Age for the epoch milliseconds of a status.
func agoOrNever(ms *int64, now time.Time) string {
	if ms == nil {
		return "never"
	}
	return contract.Age(time.UnixMilli(*ms), now)
}

// project is contract.ProjectName for the terminal.
func project(cwd *string) string { return cleanLine(contract.ProjectName(cwd)) }

// text is the string or "".
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// stamp is the wire form of an instant, "-" if unknown: a column is never empty.
func stamp(i *contract.Instant) string {
	if i == nil || i.String() == "" {
		return "-"
	}
	return i.String()
}

// localTime is an instant for people, to the minute.
func localTime(i *contract.Instant, now time.Time) string {
	if i == nil {
		return ""
	}
	return i.Time().In(now.Location()).Format("2006-01-02 15:04")
}
