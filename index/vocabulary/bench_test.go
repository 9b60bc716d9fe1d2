package vocabulary_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sessionls/sessionls/index/vocabulary"
)

// text is a long text with words as common and as many as in transcripts: the
// n-th is used one n-th as often as the first.
func text(tokens int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := rand.NewZipf(rnd, 1.1, 8, 1<<20)
	var b []byte
	for range tokens {
		n := words.Uint64()
		b = fmt.Appendf(b, "w%cor%x ", 'a'+byte(n%26), n*2654435761%(1<<32))
	}
	return b
}

func BenchmarkAdd(b *testing.B) {
	const tokens = 1_000_000
	t := text(tokens)
	b.ReportAllocs()
	for b.Loop() {
		s := vocabulary.NewSet()
		s.Add(t)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
}

func BenchmarkTake(b *testing.B) {
	t := text(1_000_000)
	for b.Loop() {
		b.StopTimer()
		s := vocabulary.NewSet()
		s.Add(t)
		b.StartTimer()
		s.Take(1 << 20)
	}
}

func BenchmarkSearch(b *testing.B) {
	s := vocabulary.NewSet()
	s.Add(text(4_000_000))
	var v vocabulary.Vocabulary
	words := 0
	for _, raw := range s.Take(1 << 20) {
		c, err := vocabulary.Decode(raw)
		if err != nil {
			b.Fatal(err)
		}
		c.Words(func([]byte) bool { words++; return true })
		v = append(v, c)
	}
	b.Run("near", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Near(context.Background(), "waor12345678", 2); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(words), "words")
	})
	b.Run("containing", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := v.Containing(context.Background(), "zqzq", 64); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(words), "words")
	})
}
