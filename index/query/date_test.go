package query

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/store"
)

func TestDatesOfAQuery(t *testing.T) {
	for text, want := range map[string]string{
		"the leak of 13 October 2023":      "2023-10-13",
		"the leak of October 13th, 2023":   "2023-10-13",
		"leak on the 3rd of May":           "--05-03",
		"leak Oct 13":                      "--10-13",
		"what broke in July?":              "--07",
		"december release":                 "--12",
		"2026-10-13 leak":                  "2026-10-13",
		"logs of 2026-10":                  "2026-10",
		"what changed in 2024":             "2024",
		"between August 11 and August 15":  "--08-11 --08-15",
		"1 May 2 June 3 July 4 August 5 s": "--05-01 --06-02 --07-03 --08-04",
		"may I march":                      "",
		"mar the jan and dec":              "",
		"edition 2021":                     "",
		"error 13":                         "",
		"1.10.2023":                        "",
		"2026-13-01":                       "",
		"2026-10-32":                       "",
		"192-168-1":                        "",
		`"13 October 2023"`:                "",
		"in 1066":                          "",
		"in march, may 99":                 "--03",
	} {
		var got []string
		q := parse(text, contract.Agents(), time.Now())
		for _, d := range dates(q.words) {
			got = append(got, d.String())
		}
		if fmt.Sprint(strings.Join(got, " ")) != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNearADate(t *testing.T) {
	at := func(text string) int64 {
		x, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return x.UnixMilli()
	}
	east := time.FixedZone("east", 9*60*60)
	for _, c := range []struct {
		d            date
		begun, ended string
		in           *time.Location
		want         float64
	}{
		{date{2026, 5, 2}, "2026-05-02 00:00", "2026-05-02 01:00", time.UTC, 1},
		{date{2026, 5, 2}, "2026-05-01 23:00", "2026-05-01 23:59", time.UTC, 0},
		{date{2026, 5, 2}, "2026-05-01 23:00", "2026-05-01 23:59", east, 1},
		{date{2026, 5, 2}, "2026-04-01 00:00", "2026-06-01 00:00", time.UTC, 1},
		{date{2026, 5, 2}, "2026-05-03 00:00", "2026-05-03 01:00", time.UTC, 0.5},
		{date{2026, 5, 2}, "2026-05-06 00:00", "2026-05-06 01:00", time.UTC, 0},
		{date{2026, 5, 0}, "2026-05-31 23:00", "2026-05-31 23:10", time.UTC, 1},
		{date{0, 12, 31}, "2026-01-01 08:00", "2026-01-01 09:00", time.UTC, 0.5},
		{date{0, 5, 0}, "2019-05-05 08:00", "2019-05-05 09:00", time.UTC, 1},
		{date{2026, 0, 0}, "2026-12-31 08:00", "2027-01-01 09:00", time.UTC, 1},
		{date{2026, 0, 0}, "2025-12-31 08:00", "2025-12-31 09:00", time.UTC, 0},
	} {
		if got := c.d.near(store.Times{Created: at(c.begun), Updated: at(c.ended)}, c.in, 3, 0.5); got != c.want {
			t.Errorf("%v and %s to %s: %v, want %v", c.d, c.begun, c.ended, got, c.want)
		}
	}
}
