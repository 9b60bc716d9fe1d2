package query

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/store"
)

// date is a day, month or year that the query names; 0 where it does not say.
type date struct{ year, month, day int }

var monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// maxDates bounds the dates of one query.
const maxDates = 4

// dates finds the dates in the words of a query: 13 October 2023, Oct 13th,
// October, 2023-10-13, 2023-10, in 2023. A word that is also another one (may,
// march, the short names) needs a number or a preposition beside it.
func dates(words []word) []date {
	var out []date
	taken := -1 // words up to here belong to a date
	for i := range words {
		if i <= taken || words[i].quoted || len(out) == maxDates {
			continue
		}
		d, last := dateAt(words, i, taken)
		if d != (date{}) {
			out = append(out, d)
			taken = last
		}
	}
	return out
}

// dateAt reads the date around word i, of which no word up to taken is part.
func dateAt(words []word, i, taken int) (d date, last int) {
	number := func(k int) string {
		if k <= taken || k >= len(words) || words[k].quoted || len(words[k].Terms) != 1 {
			return ""
		}
		return words[k].Terms[0]
	}
	terms := words[i].Terms
	switch {
	case len(terms) == 2 || len(terms) == 3:
		d.year, d.month = yearOf(terms[0]), numberIn(terms[1], 2, 12)
		if len(terms) == 3 {
			d.day = dayOf(terms[2])
		}
		if d.year == 0 || d.month == 0 || len(terms) == 3 && d.day == 0 || !strings.Contains(words[i].Text, "-") {
			return date{}, 0
		}
		return d, i
	case len(terms) != 1:
		return date{}, 0
	}
	led := i > 0 && leads[strings.ToLower(words[i-1].Text)]
	month, sure := monthOf(terms[0])
	if month == 0 {
		if led {
			d.year = yearOf(terms[0])
		}
		return d, i
	}
	d.month, last = month, i
	before := i - 1
	if before > taken && strings.EqualFold(words[before].Text, "of") {
		before--
	}
	if d.day = dayOf(number(before)); d.day == 0 {
		if d.day = dayOf(number(i + 1)); d.day > 0 {
			last++
		}
	}
	if d.year = yearOf(number(last + 1)); d.year > 0 {
		last++
	}
	if !sure && d.day == 0 && d.year == 0 && !led {
		return date{}, 0
	}
	return d, last
}

// leads are the words before a month or a year.
var leads = map[string]bool{"in": true, "of": true, "since": true, "during": true, "until": true, "till": true, "by": true, "before": true, "after": true, "from": true, "last": true, "early": true, "late": true, "mid": true}

// monthOf knows a month by its name; sure is false for names that are other
// words, too.
func monthOf(term string) (month int, sure bool) {
	for k, name := range monthNames {
		switch {
		case term == name:
			return k + 1, name != "may" && name != "march" && name != "august"
		case term == name[:3], name == "september" && term == "sept":
			return k + 1, false
		}
	}
	return 0, false
}

func yearOf(term string) int {
	if n := numberIn(term, 4, 2099); n >= 1990 {
		return n
	}
	return 0
}

// dayOf reads 3, 03 and 3rd.
func dayOf(term string) int {
	for _, ordinal := range []string{"st", "nd", "rd", "th"} {
		if n, ok := strings.CutSuffix(term, ordinal); ok {
			term = n
			break
		}
	}
	return numberIn(term, 2, 31)
}

// numberIn reads a decimal number of few digits up to most, else 0.
func numberIn(term string, digits, most int) int {
	if len(term) == 0 || len(term) > digits {
		return 0
	}
	n, err := strconv.ParseUint(term, 10, 32)
	if err != nil || n > uint64(most) {
		return 0
	}
	return int(n)
}

// near is how near a session is to the date: 1 if it was under way then, after
// if it began within days after, else 0. Without a year any year will do.
func (d date) near(t store.Times, in *time.Location, days int, after float64) float64 {
	begun, ended := time.UnixMilli(t.Created).In(in), time.UnixMilli(t.Updated).In(in)
	if d.year > 0 {
		return d.nearIn(d.year, begun, ended, days, after)
	}
	best := 0.0
	for year := begun.Year() - 1; year <= ended.Year() && year < begun.Year()+2; year++ {
		best = max(best, d.nearIn(year, begun, ended, days, after))
	}
	return best
}

func (d date) nearIn(year int, begun, ended time.Time, days int, after float64) float64 {
	var from, to time.Time
	at := begun.Location()
	switch {
	case d.month == 0:
		from, to = time.Date(year, 1, 1, 0, 0, 0, 0, at), time.Date(year+1, 1, 1, 0, 0, 0, 0, at)
	case d.day == 0:
		from, to = time.Date(year, time.Month(d.month), 1, 0, 0, 0, 0, at), time.Date(year, time.Month(d.month)+1, 1, 0, 0, 0, 0, at)
	default:
		from, to = time.Date(year, time.Month(d.month), d.day, 0, 0, 0, 0, at), time.Date(year, time.Month(d.month), d.day+1, 0, 0, 0, 0, at)
	}
	switch {
	case begun.Before(to) && !ended.Before(from):
		return 1
	case !begun.Before(to) && begun.Before(to.AddDate(0, 0, days)):
		return after
	}
	return 0
}

// dated weighs the sessions' times by the query's dates, by session: for each
// date its rarity among sessions times how near the session is.
func (m *matching) dated(times map[int64]store.Times) map[int64]float64 {
	m.dates = dates(m.s.query.words)
	if len(m.dates) == 0 || m.r.Date == 0 {
		return nil
	}
	out := map[int64]float64{}
	for _, d := range m.dates {
		near := map[int64]float64{}
		df := 0.0
		for id, t := range times {
			if n := d.near(t, m.s.clock.Location(), m.r.DateDays, m.r.DateAfter); n > 0 {
				near[id] = n
				df++
			}
		}
		rarity := math.Log(1 + (max(float64(len(times))-df, 0)+0.5)/(df+0.5))
		for id, n := range near {
			out[id] += n * rarity
		}
	}
	return out
}
