package analysis_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/sessionls/sessionls/index/analysis"
)

func TestWord(t *testing.T) {
	for _, tt := range []struct {
		text string
		want analysis.Word
	}{
		{"Plain", analysis.Word{Terms: []string{"plain"}, Side: []string{"plain"}, Open: true}},
		{"x", analysis.Word{Terms: []string{"x"}, Open: true}},
		{"foo(", analysis.Word{Terms: []string{"foo"}, Side: []string{"foo"}}},
		{`"foo"`, analysis.Word{Terms: []string{"foo"}, Side: []string{"foo"}}},
		{"100%", analysis.Word{Terms: []string{"100"}, Side: []string{"100"}}},
		{"cafe\u0301", analysis.Word{Terms: []string{"cafe"}, Side: []string{"cafe"}, Open: true}},
		{"fooBar_baz", analysis.Word{Terms: []string{"foo", "bar", "baz"}, Side: []string{"foobarbaz"}, Open: true}},
		{"a/fooBar", analysis.Word{Terms: []string{"a", "foo", "bar"}, Open: true}},
		{"10.0.0.5", analysis.Word{Terms: []string{"10", "0", "0", "5"}, Open: true}},
		{"c++", analysis.Word{Terms: []string{"c"}, Side: []string{"c++"}, SideOnly: true}},
		{"(.NET)", analysis.Word{Terms: []string{"net"}, Side: []string{".net"}, SideOnly: true}},
		{"c++17", analysis.Word{Terms: []string{"c", "17"}, Open: true}},
		{"The", analysis.Word{Terms: []string{"the"}, Side: []string{"the"}, Open: true, Stop: true}},
		{"what's", analysis.Word{Terms: []string{"what", "s"}, Open: true, Stop: true}},
		{"don’t", analysis.Word{Terms: []string{"don", "t"}, Open: true, Stop: true}},
		{"the_it", analysis.Word{Terms: []string{"the", "it"}, Side: []string{"theit"}, Open: true}},
		{"kestrel's", analysis.Word{Terms: []string{"kestrel", "s"}, Open: true}},
		{`"to be"`, analysis.Word{Terms: []string{"to", "be"}}},
		{"索", analysis.Word{Terms: []string{"索"}, Single: true}},
		{"索引", analysis.Word{Terms: []string{"索引"}}},
		{"索引服", analysis.Word{Terms: []string{"索引", "引服"}}},
		{"🚀🔥", analysis.Word{Terms: []string{"🚀", "🔥"}}},
	} {
		got, ok := analysis.New().Word(tt.text, 3)
		tt.want.Text, tt.want.Start, tt.want.End = tt.text, 3, 3+len(tt.text)
		if !ok || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Word(%q) = %+v, want %+v", tt.text, got, tt.want)
		}
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"", nil},
		{" \t", nil},
		{"two  words\n", []string{"two", "words"}},
		{"a * \x00 b", []string{"a", "b"}},
		{"重构，索引。「服务」", []string{"重构", "索引", "服务"}},
		{"什么是index？", []string{"什么是index"}},
		{"wide\u3000space", []string{"wide", "space"}},
	} {
		var got []string
		for _, w := range analysis.New().Words(tt.query) {
			if tt.query[w.Start:w.End] != w.Text {
				t.Errorf("%q: range of %q is %q", tt.query, w.Text, tt.query[w.Start:w.End])
			}
			got = append(got, w.Text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("Words(%q) = %q, want %q", tt.query, got, tt.want)
		}
	}
}

func TestPieces(t *testing.T) {
	for _, tt := range []struct {
		query         string
		content, stop []string
	}{
		{"索引服务", nil, nil},
		{"plain_word", nil, nil},
		{"索引是什么时候重构的？", []string{"索引", "候重", "重构"}, []string{"引是", "是什", "什么", "么时", "时候", "构的"}},
		{"重跑gen-itgc后", []string{"重跑", "gen-itgc", "后"}, nil},
		{"使用.NET开发", []string{"使用", ".NET", "开发"}, nil},
		{"これはどこですか", []string{"これ", "れは", "はど", "どこ", "こで", "です", "すか"}, nil}, // better than nothing
	} {
		words := analysis.New().Words(tt.query)
		if len(words) != 1 {
			t.Fatalf("Words(%q) = %+v", tt.query, words)
		}
		var content, stop []string
		for _, p := range words[0].Pieces {
			if tt.query[p.Start:p.End] != p.Text || p.Pieces != nil {
				t.Errorf("%q: piece %+v", tt.query, p)
			}
			if p.Stop {
				stop = append(stop, p.Text)
			} else {
				content = append(content, p.Text)
			}
		}
		if !slices.Equal(content, tt.content) || !slices.Equal(stop, tt.stop) {
			t.Errorf("%q: pieces %q, grammar %q; want %q, %q", tt.query, content, stop, tt.content, tt.stop)
		}
	}
}
