package query

// Ranking is every constant of the order of an answer, in one place.
//
// A session stands on a step of the ladder (matching.md, rule 7): the phrase,
// all words in one message, all in one session, some. Within a step it is
// ordered by the sum of its evidence, each kind of which is a sum of BM25 over
// the query's words with its own weight:
//
//   - its best row and, damped, its next ones: what a message says;
//   - its best window of neighbouring turns: what a question and its answer say
//     together, where each alone has half of the words;
//   - the session as a whole, with words rare among sessions: what it is about;
//   - its time, where the query names a date;
//   - a nudge for the recent, below all others, so that of equals the newer is
//     first.
//
// [DefaultRanking] was set on the LoCoMo questions by moving one constant at a
// time until none gained, choosing the middle of flat stretches, with the
// planted needles as a guard; [Ablations] tell what each kind is worth
// (sessionls bench relevance --ablate).
type Ranking struct {
	// Step is the height of a step of the ladder; 0 turns the ladder off.
	Step float64

	// Head, Talk and Tool weigh a word by where it stands: a title says what a
	// session is about, tool output mentions everything. A title is little above
	// a message because many agents' titles are the first message over again.
	Head, Talk, Tool float64
	// Form weighs an inflected or completed word against the word itself, Piece
	// a long unspaced word of which only pieces were found.
	Form, Piece float64
	// Phrase is what the phrase of all words adds to a row, as a share of the
	// weight of all words.
	Phrase float64

	// Row weighs the best row; each further one counts RowDamp times the one
	// before.
	Row, RowDamp float64
	// RowK and RowB are BM25's k1 and b of a row, RowTerms the length, in terms,
	// that is neither long nor short. b is below the usual 0.75 because a long
	// answer is not a padded one.
	RowK, RowB, RowTerms float64

	// Window weighs the best window of WindowTurns turns. WindowK and WindowB
	// are BM25's.
	Window           float64
	WindowTurns      int
	WindowK, WindowB float64

	// Session weighs the session as a whole. SessionK and SessionB are BM25's;
	// b is the length prior: against an average session.
	Session, SessionK, SessionB float64

	// Date weighs the time of a session against the dates that the query names.
	// A session that began within DateDays after counts DateAfter: people
	// report what was.
	Date, DateAfter float64
	DateDays        int

	// Recent is what the newest session gets more than an old one; it halves
	// every RecentDays. It is far below what any word weighs.
	Recent     float64
	RecentDays float64

	// Half is the sum of evidence that reaches the middle of a step's range.
	Half float64
	// MinCover is the share of the words' weight that a session must hold to be
	// listed by an answer in order of time, where there are more than two words.
	// By relevance the slightest come last and need no bound.
	MinCover float64
}

// DefaultRanking is the ranking of searches.
func DefaultRanking() Ranking {
	return Ranking{
		Step: 1,
		Head: 1.2, Talk: 1, Tool: 0.45, Form: 0.65, Piece: 0.8, Phrase: 0.6,
		Row: 1, RowDamp: 0.35, RowK: 1.2, RowB: 0.45, RowTerms: 120,
		Window: 2, WindowTurns: 5, WindowK: 2, WindowB: 0.45,
		Session: 4, SessionK: 2, SessionB: 0.6,
		Date: 12, DateAfter: 0.5, DateDays: 3,
		Recent: 0.02, RecentDays: 30,
		Half: 60, MinCover: 0.15,
	}
}

// Ablation is a ranking that lacks one kind of evidence.
type Ablation struct {
	Name    string
	Ranking Ranking
}

// Ablations are the default ranking without each of its parts in turn, for the
// benches: what a part is worth is what is lost without it.
func Ablations() []Ablation {
	parts := []struct {
		name string
		drop func(*Ranking)
	}{
		{"ladder", func(r *Ranking) { r.Step = 0 }},
		{"title weight", func(r *Ranking) { r.Head = r.Talk }},
		{"tool text weight", func(r *Ranking) { r.Tool = r.Talk }},
		{"word form weight", func(r *Ranking) { r.Form = 1 }},
		{"phrase", func(r *Ranking) { r.Phrase = 0 }},
		{"best row", func(r *Ranking) { r.Row = 0 }},
		{"further rows", func(r *Ranking) { r.RowDamp = 0 }},
		{"row length", func(r *Ranking) { r.RowB, r.WindowB = 0, 0 }},
		{"windows of turns", func(r *Ranking) { r.Window = 0 }},
		{"session as a whole", func(r *Ranking) { r.Session = 0 }},
		{"session length prior", func(r *Ranking) { r.SessionB = 0 }},
		{"dates", func(r *Ranking) { r.Date = 0 }},
		{"recency", func(r *Ranking) { r.Recent = 0 }},
	}
	out := make([]Ablation, len(parts))
	for i, p := range parts {
		out[i] = Ablation{Name: p.name, Ranking: DefaultRanking()}
		p.drop(&out[i].Ranking)
	}
	return out
}
