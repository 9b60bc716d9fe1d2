package contract

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// Age says as people do how long before now t was, in one unit; beyond a month
// it is the date.
func Age(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < -time.Minute:
		return t.In(now.Location()).Format("2006-01-02")
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d/time.Minute))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d/time.Hour))
	case d < 48*time.Hour:
		return "yesterday"
	case d < 31*24*time.Hour:
		return fmt.Sprintf("%d days ago", int(d/(24*time.Hour)))
	}
	return t.In(now.Location()).Format("2006-01-02")
}

// ProjectName is what people call a folder: its last segment, in the spelling
// of any system; "" if the folder is unknown.
func ProjectName(cwd *string) string {
	if cwd == nil || *cwd == "" {
		return ""
	}
	p := strings.TrimRight(strings.ReplaceAll(*cwd, `\`, "/"), "/")
	if p == "" {
		return "/"
	}
	return path.Base(p)
}
