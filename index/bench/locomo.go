package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index/bench/corpus"
	"github.com/sessionls/sessionls/index/bench/report"
)

// LoCoMoReport is how well questions about long dialogues are answered with the
// session that holds the evidence. The data (Maharana et al., "Evaluating Very
// Long-Term Conversational Memory of LLM Agents", ACL 2024) is the user's: its
// licence does not allow it to be part of this program.
type LoCoMoReport struct {
	Dialogues int `json:"dialogues"`
	Sessions  int `json:"sessions"`
	// Together is true when all dialogues were in one index.
	Together   bool      `json:"together"`
	All        Answers   `json:"all"`
	Categories []Answers `json:"categories"`
}

// Answers is how questions of one category were answered. The shares are 0 to 1.
type Answers struct {
	Category  string `json:"category"`
	Questions int    `json:"questions"`
	// Hit1 and Hit5 are the share of questions for which a session with
	// evidence came first, or among the first five.
	Hit1 float64 `json:"hitAt1"`
	Hit5 float64 `json:"hitAt5"`
	// MRR is the mean of one over the rank of the first session with evidence,
	// 0 for one that is not among the first twenty.
	MRR float64 `json:"mrr"`
}

// dialogue is one of LoCoMo's. Conversation has session_1, session_2 … and
// session_1_date_time … beside the names of the speakers.
type dialogue struct {
	ID           string                     `json:"sample_id"`
	QA           []question                 `json:"qa"`
	Conversation map[string]json.RawMessage `json:"conversation"`
}

type question struct {
	Question string   `json:"question"`
	Evidence []string `json:"evidence"`
	Category int      `json:"category"`
}

type turn struct {
	Speaker string `json:"speaker"`
	Text    string `json:"text"`
}

func readLoCoMo(path string) ([]dialogue, error) {
	var out []dialogue
	if err := corpus.ReadJSON(path, &out); err != nil {
		return nil, fmt.Errorf("read LoCoMo, a file like locomo10.json: %w", err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read LoCoMo: %s holds no dialogue", path)
	}
	return out, nil
}

// category names the categories as the authors number them.
func category(n int) string {
	switch n {
	case 1:
		return "multi-hop"
	case 2:
		return "temporal"
	case 3:
		return "open-domain"
	case 4:
		return "single-hop"
	case 5:
		return "adversarial"
	}
	return fmt.Sprintf("category %d", n)
}

func loCoMo(ctx context.Context, o RelevanceOptions, dir string, ablations *ablations) (*LoCoMoReport, error) {
	dialogues, err := readLoCoMo(o.LoCoMo)
	if err != nil {
		return nil, err
	}
	out := &LoCoMoReport{Dialogues: len(dialogues), Together: o.Together, All: Answers{Category: "all"}}
	size := 1
	if o.Together {
		size = len(dialogues)
	}
	for i, group := range slices.Collect(slices.Chunk(dialogues, size)) {
		if err := out.ask(ctx, group, i*size, filepath.Join(dir, fmt.Sprintf("dialogues%d", i)), o.Tell, ablations); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out.Categories, func(a, b Answers) int { return strings.Compare(a.Category, b.Category) })
	out.All.close()
	for i := range out.Categories {
		out.Categories[i].close()
	}
	return out, nil
}

// ask puts a group of dialogues into one index and asks their questions. from
// is the number of the first.
func (r *LoCoMoReport) ask(ctx context.Context, group []dialogue, from int, dir string, tell Tell, ablations *ablations) (err error) {
	home := filepath.Join(dir, "home")
	for i := range group {
		n, err := group[i].write(home, from+i)
		if err != nil {
			return err
		}
		r.Sessions += n
	}
	l, err := build(ctx, home, filepath.Join(dir, "own"), "indexing dialogues", func(string, int64, int64) {})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	progress := func(i int) { tell("asking LoCoMo's questions", int64(from+i), int64(r.Dialogues)) }
	if err := l.question(ctx, group, from, progress, r.add); err != nil {
		return err
	}
	return ablations.each(ctx, l, func(l *library, a *Ablation) error {
		return l.question(ctx, group, from, progress, func(_ *question, rank int) { a.answered().add(rank) })
	})
}

// question asks the questions of a group of dialogues, of which from is the number
// of the first, and tells of each at which rank a session with evidence came, 0
// for none.
func (l *library) question(ctx context.Context, group []dialogue, from int, progress func(int), add func(*question, int)) error {
	for i := range group {
		progress(i)
		for k := range group[i].QA {
			q := &group[i].QA[k]
			want := evidence(*q, from+i)
			if len(want) == 0 {
				continue
			}
			found, err := l.found(ctx, q.Question)
			if err != nil {
				return err
			}
			add(q, 1+slices.IndexFunc(found, func(id string) bool { return slices.Contains(want, id) }))
		}
	}
	return nil
}

// add counts a question for its category and for all.
func (r *LoCoMoReport) add(q *question, rank int) {
	k := slices.IndexFunc(r.Categories, func(a Answers) bool { return a.Category == category(q.Category) })
	if k < 0 {
		k, r.Categories = len(r.Categories), append(r.Categories, Answers{Category: category(q.Category)})
	}
	r.Categories[k].add(rank)
	r.All.add(rank)
}

// turnRef is how evidence names a turn: dialogue session and turn.
var turnRef = regexp.MustCompile(`D:?(\d+):\d+`)

// evidence lists the ids of the sessions with evidence for a question.
func evidence(q question, dialogue int) []string {
	var out []string
	for _, e := range q.Evidence {
		for _, m := range turnRef.FindAllStringSubmatch(e, -1) {
			if n, err := strconv.Atoi(m[1]); err == nil {
				out = append(out, sessionID(dialogue, n))
			}
		}
	}
	return out
}

// sessionID is a UUID, as the agents' ids are, that names the dialogue and the
// session.
func sessionID(dialogue, session int) string {
	return fmt.Sprintf("10c00000-0000-4000-8%03d-%012d", dialogue%1000, session)
}

// write writes a dialogue's sessions as transcripts, in which the first speaker
// is the user, and returns how many there are.
func (d *dialogue) write(home string, number int) (int, error) {
	var user string
	if err := json.Unmarshal(d.Conversation["speaker_a"], &user); err != nil {
		return 0, fmt.Errorf("read LoCoMo: dialogue %q does not name its speakers: %w", d.ID, err)
	}
	for k := 1; ; k++ {
		raw, ok := d.Conversation[fmt.Sprintf("session_%d", k)]
		if !ok {
			return k - 1, nil
		}
		var turns []turn
		if err := json.Unmarshal(raw, &turns); err != nil {
			return 0, fmt.Errorf("read LoCoMo: session %d of dialogue %q: %w", k, d.ID, err)
		}
		at := d.began(k)
		events := make([]corpus.Event, len(turns))
		for i, t := range turns {
			events[i] = corpus.Event{At: at.Add(time.Duration(i) * time.Minute), Role: corpus.User, Text: t.Speaker + ": " + t.Text}
			if t.Speaker != user {
				events[i].Role = corpus.Assistant
			}
		}
		if err := corpus.Talk(home, sessionID(number, k), fmt.Sprintf("/home/dev/talk-%d", number), events); err != nil {
			return 0, fmt.Errorf("write a dialogue: %w", err)
		}
	}
}

// began is when a session took place; one without a time comes a week after the
// one before.
func (d *dialogue) began(session int) time.Time {
	var text string
	if json.Unmarshal(d.Conversation[fmt.Sprintf("session_%d_date_time", session)], &text) == nil {
		if at, err := time.Parse("3:04 pm on 2 January, 2006", text); err == nil {
			return at
		}
	}
	return time.Date(2023, 1, 7*session, 12, 0, 0, 0, time.UTC)
}

// add counts one question; the shares are sums until close.
func (a *Answers) add(rank int) {
	a.Questions++
	if rank == 1 {
		a.Hit1++
	}
	if rank > 0 && rank <= 5 {
		a.Hit5++
	}
	if rank > 0 {
		a.MRR += 1 / float64(rank)
	}
}

func (a *Answers) close() {
	n := float64(max(a.Questions, 1))
	a.Hit1, a.Hit5, a.MRR = a.Hit1/n, a.Hit5/n, a.MRR/n
}

func (r *LoCoMoReport) table() report.Table {
	how := "an index each"
	if r.Together {
		how = "in one index"
	}
	t := report.Table{
		Title:   fmt.Sprintf("LoCoMo, %d dialogues of %d sessions, %s, questions word for word", r.Dialogues, r.Sessions, how),
		Columns: []string{"category", "questions", "hit@1 %", "hit@5 %", "MRR"},
	}
	for _, a := range append(slices.Clone(r.Categories), r.All) {
		t.Add(a.Category, fmt.Sprint(a.Questions), fmt.Sprintf("%.1f", 100*a.Hit1), fmt.Sprintf("%.1f", 100*a.Hit5), fmt.Sprintf("%.3f", a.MRR))
	}
	return t
}
