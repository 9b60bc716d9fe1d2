package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/store/storetest"
)

// TestMeasure: the parts are the tables, and
// together they are no larger than the file.
func TestMeasure(t *testing.T) {
	path := storetest.Path(t)
	words := strings.Repeat("some words of a long talk with tide tables ", 2000)
	storetest.Build(t, path, storetest.Talk("s1", words), storetest.Talk("s2", words+"and others"))
	got, err := storetest.Open(t, path).Measure(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sum, sizes := got.Free, map[string]int64{}
	for i, p := range got.Parts {
		if i > 0 && p.Bytes > got.Parts[i-1].Bytes {
			t.Errorf("%s is larger than the part before", p.Part)
		}
		sum += p.Bytes
		sizes[p.Part] = p.Bytes
	}
	if sum > got.Total {
		t.Errorf("the parts have %d bytes of %d", sum, got.Total)
	}
	for _, part := range []string{"talk", "tool", "block", "body", "borrowed", "seen", "session", "source", "span"} {
		if _, ok := sizes[part]; !ok {
			t.Errorf("no part %s in %v", part, got.Parts)
		}
	}
	for part := range sizes {
		if strings.HasPrefix(part, "talk_") {
			t.Errorf("%s is not counted with talk", part)
		}
	}
	// 2000 repetitions of nine words: the index of positions dwarfs the text,
	// which is compressed.
	if sizes["talk"] < 10_000 || sizes["talk"] < sizes["block"] {
		t.Errorf("talk has %d bytes, block %d", sizes["talk"], sizes["block"])
	}
}
