package query_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/query"
	"github.com/sessionls/sessionls/index/store/storetest"
	"github.com/sessionls/sessionls/index/transcript"
)

// at is a session whose messages are of one time.
func at(id string, when time.Time, texts ...string) storetest.Session {
	s := storetest.Talk(id, texts...)
	for i := range s.Events {
		s.Events[i].Time = when.Add(time.Duration(i) * time.Minute)
	}
	return s
}

// TestEvidenceOrders: what ranks above what, each pair in both orders of indexing.
func TestEvidenceOrders(t *testing.T) {
	filler := "the rest of it is about other things and goes on for a while "
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 12, 0, 0, 0, time.UTC) }
	titled := storetest.Talk("title", filler)
	titled.Header.Title, titled.Header.TitleSource = "Harbour gauge", transcript.TitleAgent
	tool := storetest.Session{Header: transcript.Header{SessionID: "tool"}, Events: []transcript.Event{storetest.Say("tool", "the harbour gauge reads low")}}
	for _, c := range []struct {
		what, query  string
		first, after storetest.Session
	}{
		{"a title before a body", "gauge ", titled, storetest.Talk("body", "the harbour gauge reads low", filler)},
		{"a title with both words before a body", "gauge harbour ", titled, storetest.Talk("body", "a gauge of the harbour", filler)},
		{"conversation before tool text", "gauge ", storetest.Talk("talk", "the harbour gauge reads low"), tool},
		{"one message before two", "harbour gauge salt ", storetest.Talk("one", "salt in the gauge of the harbour", filler), storetest.Talk("two", "the harbour gauge", "harbour gauge", "salt")},
		{"neighbouring messages before distant ones", "gauge salt ", storetest.Talk("near", "the gauge reads low", "it is the salt", filler, filler, filler, filler, filler, filler),
			storetest.Talk("far", "the gauge reads low", filler, filler, filler, filler, filler, filler, "it is the salt")},
		{"the word before its forms", "gauge ", storetest.Talk("word", "a gauge is here"), storetest.Talk("form", "two gauges are here")},
		{"of equals the newer", "gauge ", at("new", day(11, 2), "the gauge reads low"), at("old", day(3, 2), "the gauge reads low")},
		{"more evidence before newer", "gauge ", at("old", day(3, 2), "the gauge reads low", "a gauge"), at("new", day(11, 2), "the gauge reads low")},
		{"the month that is named", "gauge in march ", at("march", day(3, 2), "the gauge reads low"), at("may", day(5, 2), "the gauge reads low")},
		{"the day that is named", "gauge 2 May 2026 ", at("may", day(5, 2), "the gauge reads low"), at("june", day(6, 2), "the gauge reads low")},
		{"a day reported the day after", "gauge 2026-05-02 ", at("may", day(5, 3), "the gauge reads low"), at("june", day(6, 2), "the gauge reads low")},
		{"may is also a verb", "may gauge ", at("june", day(6, 2), "the gauge reads low"), at("may", day(5, 2), "the gauge reads low")},
	} {
		for _, order := range [][]storetest.Session{{c.first, c.after}, {c.after, c.first}} {
			path := storetest.Path(t)
			storetest.Build(t, path, append(order, storetest.Talk("other", filler))...)
			res := search(t, storetest.Open(t, path), c.query)
			if len(res.Hits) != 2 || res.Hits[0].SessionID != c.first.Header.SessionID {
				t.Errorf("%s: %q finds %s", c.what, c.query, ids(res))
			}
		}
	}
}

// TestDebug: the account adds up to what was answered.
func TestDebug(t *testing.T) {
	path := storetest.Path(t)
	storetest.Build(t, path,
		at("a", time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC), "the gauge of the harbour", "salt on the gauge"),
		at("b", time.Date(2026, 6, 2, 12, 0, 0, 0, time.UTC), "two gauges", "no harbour"),
		storetest.Talk("c", "nothing of it"))
	req := contract.NewSearchSessionsRequest("the harbour gauge of May 2026 ")
	req.Debug = true
	res := ask(t, storetest.Open(t, path), req).Results
	if res == nil || res.Debug == nil || len(res.Hits) != 2 {
		t.Fatalf("%+v", res)
	}
	p := res.Debug.PlannerReport
	var words []string
	for _, x := range p.Terms {
		words = append(words, x.Text)
	}
	if !slices.Equal(words, []string{"the", "harbour", "gauge", "of", "May", "2026"}) || !p.Terms[0].Stop || p.Terms[2].Stop {
		t.Errorf("terms %+v", p.Terms)
	}
	if g := p.Terms[2]; g.Exact != 2 || g.Loose != 1 || g.Sessions != 2 || g.RowWeight <= 0 || g.SessionWeight <= 0 || g.Cut {
		t.Errorf("gauge %+v", g)
	}
	if !slices.Equal(p.Dates, []string{"2026-05"}) {
		t.Errorf("dates %q", p.Dates)
	}
	for i, h := range p.Hits {
		if h.SessionID != res.Hits[i].SessionID || h.Score != res.Hits[i].Score || len(h.Held) != len(p.Terms) || h.Row == 0 {
			t.Errorf("hit %d: %+v of %+v", i, h, res.Hits[i])
		}
		sum := 0.0
		for _, x := range h.Parts {
			sum += x.Value
		}
		r := query.DefaultRanking()
		if step := math.Floor(h.Score); math.Abs(h.Score-step-sum/(sum+r.Half)/2) > 1e-9 {
			t.Errorf("hit %d: score %v of parts %+v", i, h.Score, h.Parts)
		}
	}
	if a := p.Hits[0]; a.SessionID != "a" || a.Step != "some" || a.Held[2] != (contract.TermCount{Exact: 2}) || !slices.ContainsFunc(a.Parts, func(x contract.ScorePart) bool { return x.Name == "date" && x.Value > 1 }) {
		t.Errorf("%+v", a)
	}
	req.Debug = false
	if res := ask(t, storetest.Open(t, path), req).Results; res.Debug != nil {
		t.Error("an account that nobody asked for")
	}
}
