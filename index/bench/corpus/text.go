package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// Words of languages without spaces between words, and Korean.
var (
	chinese  = strings.Fields(`编译器 仓库 脚本 断言 迁移 回滚 告警 网关 采样 校验 补丁 目录 指针 堆栈 回调 字节 端口 证书 令牌 阈值 抖动 归档 镜像 节点 流水线 覆盖率 先看 再跑 一次 还是 不行 换成 这里 仍然 报错 通过 为什么 慢 快 顺便 记得 下午 合并 之前 之后`)
	japanese = strings.Fields(`ビルド に 時間 かかる 理由 を 調べる 配列 の 境界 で 例外 起きる 型 推論 見直す 依存 更新 後 動作 遅い 計測 して 報告 下さい バッファ あふれ テーブル 列 増やす`)
	korean   = strings.Fields(`빌드가 느린 이유를 찾아 주세요 배열 경계에서 예외 발생 타입 추론 의존성 갱신 후 동작 측정 보고 로그인 세션 만료 재시도 횟수 늘려`)
	common   = strings.Fields("✅ ❌ ⚠️ 🚀 🔧 📝 🎉 🔍 💡 📌")
	endings  = strings.Fields("go ts py rs md json yaml sql css sh")
)

// voice writes the text of one session.
type voice struct {
	rnd   *rand.Rand
	v     *vocabulary
	zipf  *rand.Zipf
	topic []string
	files []*sourceFile
	// printed are outputs of the session, to be printed again.
	printed []string
	cjk     []string // words of the session's other language, nil if it has none
	glued   bool     // which has no spaces
}

// sourceFile is a file of a project; sessions read it again and again.
type sourceFile struct {
	path  string
	lines []string
}

func newVoice(rnd *rand.Rand, v *vocabulary) *voice {
	s := &voice{rnd: rnd, v: v, zipf: rand.NewZipf(rnd, 1.09, 6, uint64(len(v.words)-1))}
	for range 100 {
		s.topic = append(s.topic, v.words[v.plain+rnd.IntN(len(v.words)-v.plain)])
	}
	if chance(rnd, 1.0/8) {
		s.cjk = pick(rnd, [][]string{chinese, chinese, japanese, korean})
		s.glued = &s.cjk[0] != &korean[0]
	}
	return s
}

// length draws a size around a median, now and then much larger.
func (s *voice) length(median, spread float64, most int) int {
	return max(1, min(most, int(median*math.Exp(spread*s.rnd.NormFloat64()))))
}

func (s *voice) word() string {
	if chance(s.rnd, 0.08) {
		return pick(s.rnd, s.topic)
	}
	return s.v.words[s.zipf.Uint64()]
}

func (s *voice) camel() string {
	return s.word() + title(s.word()) + none(title(pick(s.rnd, suffixes)))
}

func (s *voice) snake() string { return s.word() + "_" + s.word() }

func (s *voice) path() string {
	return s.word() + "/" + s.word() + "_" + s.word() + "." + pick(s.rnd, endings)
}

func title(w string) string {
	if w == "" || w[0] < 'a' || w[0] > 'z' {
		return w
	}
	return string(w[0]-'a'+'A') + w[1:]
}

// sentence is a few words and a full stop.
func (s *voice) sentence(b *strings.Builder) {
	if s.cjk != nil && chance(s.rnd, 0.4) {
		for i := range between(s.rnd, 4, 12) {
			if i > 0 && !s.glued {
				b.WriteByte(' ')
			}
			b.WriteString(pick(s.rnd, s.cjk))
		}
		b.WriteString("。")
		return
	}
	for i := range between(s.rnd, 4, 16) {
		w := s.word()
		switch {
		case i == 0:
			w = title(w)
		case chance(s.rnd, 0.03):
			w = "`" + s.camel() + "`"
		case chance(s.rnd, 0.02):
			w = s.path()
		case chance(s.rnd, 0.02):
			w += "-" + s.word()
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	b.WriteString(pick(s.rnd, []string{". ", ". ", ". ", "? ", ": ", ".\n"}))
}

// prose is about n bytes of sentences.
func (s *voice) prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		s.sentence(&b)
	}
	return strings.TrimSpace(b.String())
}

// answer is prose with what assistants put into it.
func (s *voice) answer(n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch s.rnd.IntN(8) {
		case 0:
			b.WriteString("\n## " + pick(s.rnd, common) + " " + title(s.word()) + " " + s.word() + "\n\n")
		case 1:
			for range between(s.rnd, 2, 5) {
				b.WriteString("\n- **" + s.word() + "**: ")
				s.sentence(&b)
			}
		case 2:
			b.WriteString("\n```go\n")
			for range between(s.rnd, 3, 12) {
				b.WriteString(s.code() + "\n")
			}
			b.WriteString("```\n")
		default:
			s.sentence(&b)
		}
	}
	return strings.TrimSpace(b.String())
}

// code is a line of a program.
func (s *voice) code() string {
	indent := strings.Repeat("\t", s.rnd.IntN(4))
	switch s.rnd.IntN(9) {
	case 0:
		return indent + "func " + s.camel() + "(ctx context.Context, " + s.word() + " string) error {"
	case 1:
		return indent + "if err := " + s.camel() + "(" + s.snake() + "); err != nil {"
	case 2:
		return indent + "// " + title(s.word()) + " " + s.word() + " " + s.word() + " " + s.word() + "."
	case 3:
		return indent + "return fmt.Errorf(\"" + s.word() + " " + s.word() + ": %w\", err)"
	case 4:
		return fmt.Sprintf("%s%s.%s = %d", indent, s.word(), s.camel(), s.rnd.IntN(100000))
	case 5:
		return indent + "for _, " + s.word() + " := range " + s.camel() + " {"
	case 6:
		return indent + `"` + s.snake() + `": "` + s.word() + " " + s.word() + `",`
	case 7:
		return indent + "}"
	}
	return indent + s.word() + " := " + s.word() + "." + s.camel() + "(" + s.word() + ")"
}

func (s *voice) hex(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[s.rnd.IntN(16)]
	}
	return string(b)
}

// record is a line of a log, a listing, a diff or a test run, of which all lines
// of one output are.
func (s *voice) record(kind int) string {
	switch kind {
	case 0:
		at := time.Date(2026, 1, 1, 0, 0, s.rnd.IntN(15_000_000), s.rnd.IntN(1000)*1_000_000, time.UTC)
		return at.Format("2006-01-02T15:04:05.000Z") + " " + pick(s.rnd, []string{"INFO", "INFO", "WARN", "DEBUG", "ERROR"}) + " [" + s.snake() + "] " +
			s.word() + " " + s.word() + " " + s.word() + fmt.Sprintf(" duration=%d.%dms id=", s.rnd.IntN(900), s.rnd.IntN(10)) + s.hex(12)
	case 1:
		return fmt.Sprintf("%s:%d:\t%s", s.path(), s.rnd.IntN(2000), s.code())
	case 2:
		return pick(s.rnd, []string{"+", "-", " ", " "}) + s.code()
	case 3:
		return fmt.Sprintf("-rw-r--r--  1 dev dev %7d Mar %2d 09:%02d %s", s.rnd.IntN(1_000_000), between(s.rnd, 1, 28), s.rnd.IntN(60), s.path())
	case 4:
		return fmt.Sprintf("--- FAIL: Test%s (%d.%02ds)\n    %s:%d: got %d, want %d", title(s.camel()), s.rnd.IntN(9), s.rnd.IntN(100), s.path(), s.rnd.IntN(900), s.rnd.IntN(100), s.rnd.IntN(100))
	}
	return `{"id": ` + fmt.Sprint(s.rnd.IntN(1_000_000)) + `, "` + s.word() + `": "` + s.snake() + `", "hash": "` + s.hex(40) + `"},`
}

// output is about n bytes of what a command prints.
func (s *voice) output(n int) string {
	kind := s.rnd.IntN(6)
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(s.record(kind))
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *voice) newFile() *sourceFile {
	f := &sourceFile{path: "src/" + s.path()}
	for range between(s.rnd, 40, 500) {
		f.lines = append(f.lines, s.code())
	}
	return f
}

// read is what reading a stretch of a file shows.
func (f *sourceFile) read(rnd *rand.Rand) string {
	from := rnd.IntN(len(f.lines))
	if chance(rnd, 0.6) {
		from = 0
	}
	to := min(len(f.lines), from+between(rnd, 20, 300))
	var b strings.Builder
	for i, line := range f.lines[from:to] {
		fmt.Fprintf(&b, "%6d\t%s\n", from+i+1, line)
	}
	return b.String()
}

// blob is n characters of base64, as of an image.
func (s *voice) blob(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[s.rnd.IntN(64)]
	}
	return "iVBORw0KGgo" + string(b)
}
