package cline

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/sessionls/sessionls/index/transcript"
	"github.com/sessionls/sessionls/index/transcript/jsonv"
)

// result is what the model was sent of a call.
type result struct {
	tool, about, text string
	failed, used      bool
}

// about lists the arguments that tell calls of one tool apart.
var about = []string{"path", "command", "url", "query", "regex", "server_name", "action", "skill_name"}

func aboutOf(input jsonv.Value) string {
	for _, key := range about {
		if s := input.Get(key).Str(); s != "" {
			return s
		}
	}
	return ""
}

// answers are the results in one message.
type answers struct {
	index int // of the message
	list  []result
	size  int
}

// results reads what was sent beside what was shown, as far as it is needed: the
// two lists are in one order. Its methods do nothing on nil.
type results struct {
	next  func() (answers, bool)
	stop  func()
	ahead []answers
	cwd   string // from the first environment that names one
}

// resultLimits bounds what is kept of a message. It is read beside what was shown, and
// the results of calls are not kept word for word anyway (matching.md rule 11).
var resultLimits = jsonv.Limits{String: 8 << 20, StringTail: 64 << 10, Total: 16 << 20, Skip: bulk}

// openResults opens the list that the model was sent; nil if it is not there.
func (b *builder) openResults(path string) *results {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil
	}
	r := &results{}
	calls := map[string]result{} // of the message before
	next, stop := iter.Pull(func(yield func(answers) bool) {
		lost, _ := transcript.ReadArray(b.ctx, io.LimitReader(f, f.Size), resultLimits, func(i int, v jsonv.Value) error {
			if v.Get("role").IsStr("assistant") {
				clear(calls)
				v.Get("content").Items(func(p jsonv.Value) {
					if p.Get("type").IsStr("tool_use") {
						calls[p.Get("id").Str()] = result{tool: transcript.CleanWord(p.Get("name").Str()), about: aboutOf(p.Get("input"))}
					}
				})
				return nil
			}
			if !yield(answers{index: i, list: r.read(v.Get("content"), calls)}) {
				return io.EOF
			}
			return nil
		})
		if lost > 0 {
			b.cp.Partial = partialCut
		}
	})
	r.next = next
	r.stop = func() { stop(); f.Close() }
	return r
}

func (r *results) close() {
	if r != nil {
		r.stop()
	}
}

// read takes the results out of a message.
func (r *results) read(content jsonv.Value, calls map[string]result) []result {
	var list []result
	open := false // whether a text goes on with the last result
	content.Items(func(p jsonv.Value) {
		if p.Get("type").IsStr("tool_result") {
			res := calls[p.Get("tool_use_id").Str()]
			text := texts(p.Get("content"))
			if tool, about, rest, ok := resultHeader(text); ok {
				res.tool, res.about, text = first(res.tool, tool), first(res.about, about), rest
			}
			res.text, res.failed = output(text), p.Get("is_error").True() || failed(text)
			list, open = append(list, res), false
			return
		}
		text := p.Str()
		if p.Kind() == jsonv.Object {
			text = p.Get("text").Str()
		}
		trimmed := strings.TrimSpace(text)
		switch tool, about, rest, ok := resultHeader(trimmed); {
		case ok:
			list, open = append(list, result{tool: tool, about: about, text: output(rest), failed: failed(rest)}), true
		case strings.HasPrefix(trimmed, "<environment_details>"):
			open = false
			if r.cwd == "" {
				r.cwd = workingFolder(trimmed)
			}
		case trimmed == "", !open:
		case typed(trimmed) != trimmed: // something was said to it
			open = false
		default:
			last := &list[len(list)-1]
			last.failed = last.failed || last.text == "" && failed(trimmed)
			last.text = strings.TrimPrefix(last.text+"\n"+output(text), "\n")
		}
	})
	return list
}

// texts joins the texts of a content.
func texts(content jsonv.Value) string {
	if content.Kind() == jsonv.String {
		return content.Str()
	}
	var b strings.Builder
	content.Items(func(p jsonv.Value) {
		text := p.Str()
		if p.Kind() == jsonv.Object {
			text = first(p.Get("text").Str(), p.Get("content").Str())
		}
		if strings.TrimSpace(text) == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	})
	return b.String()
}

const (
	maxAhead     = 4        // messages that are looked through for a call whose place is not known
	maxAheadSize = 16 << 20 // bytes of results that are kept for that
)

// pull reads one more message that has results; false at the end.
func (r *results) pull() bool {
	for {
		a, ok := r.next()
		if !ok {
			return false
		}
		if len(a.list) == 0 {
			continue
		}
		for i := range a.list {
			a.size += len(a.list[i].text)
		}
		r.ahead = append(r.ahead, a)
		return true
	}
}

// start reads up to the first environment, which tells the folder.
func (r *results) start() {
	if r != nil && r.cwd == "" {
		r.pull()
	}
}

// take finds the result of a call: in the first message after the one with the index
// that the shown entry names, else in one of the next few.
func (r *results) take(after jsonv.Value, tools []string, about string) (result, bool) {
	if r == nil {
		return result{}, false
	}
	if index, known := after.Int(); known {
		for len(r.ahead) > 0 && int64(r.ahead[0].index) <= index {
			r.ahead = r.ahead[1:]
		}
		for len(r.ahead) == 0 || int64(r.ahead[len(r.ahead)-1].index) <= index {
			r.ahead = r.ahead[:0]
			if !r.pull() {
				return result{}, false
			}
		}
		return pick(r.ahead[0].list, tools, about)
	}
	for i, size := 0, 0; i < maxAhead && size < maxAheadSize; i++ {
		if i == len(r.ahead) && !r.pull() {
			break
		}
		size += r.ahead[i].size
		if res, ok := pick(r.ahead[i].list, tools, about); ok {
			r.ahead = r.ahead[i:] // calls are answered in their order
			return res, true
		}
	}
	return result{}, false
}

// pick takes the first result of one of the tools that is about that, else the
// only one that is left of them.
func pick(list []result, tools []string, about string) (result, bool) {
	left := -1
	for i := range list {
		res := &list[i]
		if res.used || !slices.Contains(tools, res.tool) {
			continue
		}
		if about == "" || res.about == "" || res.about == about || strings.Contains(res.about, about) || strings.Contains(about, res.about) {
			left = i
			break
		}
		if left >= 0 {
			return result{}, false
		}
		left = i
	}
	if left < 0 {
		return result{}, false
	}
	list[left].used = true
	return list[left], true
}
