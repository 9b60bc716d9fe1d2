package analysis_test

import (
	"strings"
	"testing"

	"github.com/sessionls/sessionls/index/analysis"
)

var benchTexts = []struct{ name, text string }{
	{"prose", strings.Repeat("The parser failed on the second line, so I moved the check in front of it and ran the tests again.\n", 600)},
	{"code", strings.Repeat("func (s *Server) resolveTerminalPath(ctx context.Context, raw string) (string, error) {\n\tif err := s.check_path(raw); err != nil {\n\t\treturn \"\", fmt.Errorf(\"src/main.go:%d: %w\", 42, err)\n", 350)},
	{"chinese", strings.Repeat("昨晚重构了索引服务，重跑gen-itgc后测试全部通过。", 900)},
	{"accents", strings.Repeat("Où est passée la bibliothèque où l’élève étudiait déjà ? ", 1000)},
}

func BenchmarkAppend(b *testing.B) {
	for _, bb := range benchTexts {
		b.Run(bb.name, func(b *testing.B) {
			a := analysis.New()
			var main, side []byte
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				main, side, _ = a.Append(main[:0], side[:0], bb.text)
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	for _, bb := range benchTexts {
		b.Run(bb.name, func(b *testing.B) {
			m := analysis.NewMatcher(patterns("resolveTerminalPath failing stampede 索引服务 wor"))
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				m.Find(bb.text, 1<<20)
			}
		})
	}
}

func BenchmarkLiteral(b *testing.B) {
	l := analysis.NewLiteral("in front of the index")
	b.SetBytes(int64(len(benchTexts[0].text)))
	for b.Loop() {
		if l.In(benchTexts[0].text) {
			b.Fatal("found")
		}
	}
}

func BenchmarkVariants(b *testing.B) {
	for b.Loop() {
		analysis.Variants("implementation")
	}
}
