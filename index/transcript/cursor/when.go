package cursor

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/transcript"
)

// zone matches the end of a prompt's time: (UTC), (UTC-7), (UTC+5:30).
var zone = regexp.MustCompile(`\s*\((?:UTC|GMT)(?:([+-])(\d{1,2})(?::?(\d\d))?)?\)$`)

// promptTime reads the time that stands before a prompt, such as "Wednesday, Mar
// 11, 2026, 10:00 AM (UTC-7)". One without a known zone is none: it would be off
// by hours.
func promptTime(s string) time.Time {
	if len(s) > 128 {
		return time.Time{}
	}
	m := zone.FindStringSubmatch(s)
	if m == nil {
		return transcript.ParseTimeText(s)
	}
	hours, _ := strconv.Atoi(m[2])
	minutes, _ := strconv.Atoi(m[3])
	off := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if m[1] == "-" {
		off = -off
	}
	s = strings.TrimSpace(strings.TrimSuffix(s, m[0]))
	for _, layout := range []string{"Monday, Jan 2, 2006, 3:04 PM", "Monday, January 2, 2006, 3:04 PM", "Monday, Jan 2, 2006, 3:04:05 PM", "Monday, Jan 2, 2006, 15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return transcript.ParseTimeText(t.Add(-off).Format(time.RFC3339))
		}
	}
	return time.Time{}
}
