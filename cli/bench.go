package cli

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessionls/sessionls/index/bench/report"
)

// Bench measures the program itself. tell, which is never nil, is told what is
// being done and how far it is; it may be called from any goroutine.
type Bench interface {
	// Relevance measures what searches find.
	Relevance(ctx context.Context, request RelevanceBench, tell Tell) (Measured, error)
	// Performance measures what the program costs.
	Performance(ctx context.Context, request PerformanceBench, tell Tell) (Measured, error)
	// Pass makes one pass over the transcripts below one folder into an index in
	// another: the part that Performance measures from outside.
	Pass(ctx context.Context, home, own string) (any, error)
}

// Tell is told what is being done; total is 0 where that is not known.
type Tell func(what string, done, total int64)

// Measured is what a bench found. Its JSON is for programs.
type Measured interface {
	Tables() []report.Table
}

// RelevanceBench asks what searches find.
type RelevanceBench struct {
	// Needles is how many of each kind to plant; 0 plants none.
	Needles int
	Seed    uint64
	// Corpus and Truth are a home with needles and its truth file, "" for one of
	// the bench's own.
	Corpus, Truth string
	// LoCoMo is a file of dialogues, "" for none.
	LoCoMo   string
	Together bool
	// Ablate asks again without each part of the ranking.
	Ablate bool
}

// PerformanceBench asks what the program costs.
type PerformanceBench struct {
	// MB is the size of the corpus to write, in 10⁶ bytes.
	MB   int
	Seed uint64
	// Corpus is a home to measure on, "" for one of the bench's own.
	Corpus string
	// Rows are what to measure, nil for all.
	Rows []string
	// Queries is how many searches of each kind there are.
	Queries int
}

const benchHelp = `Measure the program: how long a first index takes, what it costs to make it current again, how
long searches take over the Language Server Protocol while nothing else is going on and while
the index is being built, how much memory and disk that takes.

It happens on an invented corpus, the same for the same --seed and --mb, or on the transcripts
of a home folder that is named; they are only read. Your own index is neither read nor written:
everything is in a temporary folder, which is removed at the end, also after Ctrl-C.

  index    a first index: time, processor time, memory, bytes on disk and of what
  refresh  nothing changed, one line appended, one file added: a process each, median of 5
  query    searches over LSP by kind, new server (cold) and again (warm), and while indexing

The tables are for you, the line of JSON below them for programs; --json prints only that.
Processor time depends less than wall time on what else the machine does.`

const benchExamples = `  sessionls bench --mb 10                      # a first impression, half a minute
  sessionls bench --mb 1000 --rows index,refresh
  sessionls bench --corpus "$HOME" --rows query
  sessionls bench --json > before.json
  sessionls bench relevance --help`

const relevanceHelp = `Measure whether searches find what they should.

Needles are texts that are planted in an invented corpus, some of each kind of query: a rare
word, two words of one message or of two, part of an identifier, Chinese characters, a typing
mistake, and so on. recall@1 says how often a session that holds the needle came first,
recall@10 which share of those that hold it were among the first ten.

--corpus and --truth take a corpus of somebody else with its truth file: JSON with "needles",
each with "kind", "query" and "expect", the ids of the sessions that hold it.

--locomo takes the file locomo10.json of LoCoMo (Maharana et al., ACL 2024), which is not part of
this program, and asks its questions word for word of its dialogues: hit@1, hit@5, MRR.

--ablate asks everything again of the ranking without each of its parts: what a part is worth is
what is lost without it.

The JSON also names needles that were not found as they should be.`

const relevanceExamples = `  sessionls bench relevance
  sessionls bench relevance --needles 100 --seed 2
  sessionls bench relevance --needles 0 --locomo locomo10.json
  sessionls bench relevance --locomo locomo10.json --ablate
  sessionls bench relevance --json | jq '.needles.kinds[] | select(.recallAt1 < 1)'`

func (a *app) benchCommand() *cobra.Command {
	request := PerformanceBench{MB: 100, Seed: 1, Queries: 25}
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure how fast it is, and with `bench relevance` what it finds",
		Long:    benchHelp,
		Example: benchExamples,
		Args:    cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			for i, row := range request.Rows {
				request.Rows[i] = strings.ToLower(strings.TrimSpace(row))
				if !slices.Contains(benchRows(), request.Rows[i]) {
					return usage("", "--rows: %q is not known; allowed: %s", cleanLine(row), strings.Join(benchRows(), ", "))
				}
			}
			if request.MB < 1 || request.MB > 100_000 {
				return usage("", "--mb: want a whole number from 1 to 100000")
			}
			if request.Queries < 1 || request.Queries > 1000 {
				return usage("", "--queries: want a whole number from 1 to 1000")
			}
			return a.measure(ctx, func(tell Tell) (Measured, error) { return a.opts.Bench.Performance(ctx, request, tell) })
		}),
	}
	cmd.Flags().IntVar(&request.MB, "mb", request.MB, "size of the invented corpus, in megabytes")
	cmd.Flags().Uint64Var(&request.Seed, "seed", request.Seed, "which corpus, and which searches")
	cmd.Flags().StringVar(&request.Corpus, "corpus", "", "measure on the transcripts of this home folder")
	cmd.Flags().StringSliceVar(&request.Rows, "rows", nil, "what to measure: index, refresh, query (default all)")
	cmd.Flags().IntVar(&request.Queries, "queries", request.Queries, "searches of each kind")
	a.complete(cmd, "rows", benchRows()...)
	cmd.AddCommand(a.relevanceCommand(), a.passCommand())
	return a.jsonFlag(cmd)
}

// benchRows are the rows of a performance bench.
func benchRows() []string { return []string{"index", "refresh", "query"} }

func (a *app) relevanceCommand() *cobra.Command {
	request := RelevanceBench{Needles: 20, Seed: 1}
	cmd := &cobra.Command{
		Use:     "relevance",
		Short:   "Measure whether searches find what they should",
		Long:    relevanceHelp,
		Example: relevanceExamples,
		Args:    cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			switch {
			case request.Needles < 0 || request.Needles > 1000:
				return usage("", "--needles: want a whole number from 0 to 1000")
			case (request.Corpus == "") != (request.Truth == ""):
				return usage("", "--corpus and --truth go together")
			case request.Together && request.LoCoMo == "":
				return usage("", "--together: it needs --locomo")
			case request.Needles == 0 && request.Corpus == "" && request.LoCoMo == "":
				return usage("", "--needles: 0 leaves nothing to measure; name --locomo or --corpus")
			}
			return a.measure(ctx, func(tell Tell) (Measured, error) { return a.opts.Bench.Relevance(ctx, request, tell) })
		}),
	}
	cmd.Flags().IntVar(&request.Needles, "needles", request.Needles, "needles of each kind; 0 plants none")
	cmd.Flags().Uint64Var(&request.Seed, "seed", request.Seed, "which corpus")
	cmd.Flags().StringVar(&request.Corpus, "corpus", "", "look for needles in the transcripts of this home folder")
	cmd.Flags().StringVar(&request.Truth, "truth", "", "the truth file of --corpus")
	cmd.Flags().StringVar(&request.LoCoMo, "locomo", "", "ask the questions of this file")
	cmd.Flags().BoolVar(&request.Together, "together", false, "all of LoCoMo's dialogues in one index instead of one each")
	cmd.Flags().BoolVar(&request.Ablate, "ablate", false, "ask again without each part of the ranking")
	return a.jsonFlag(cmd)
}

// passCommand is for bench itself.
func (a *app) passCommand() *cobra.Command {
	var home, own string
	cmd := &cobra.Command{
		Use:    "pass",
		Short:  "Make one pass over transcripts and tell what it took, as JSON; bench runs this",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: a.run(func(ctx context.Context, _ []string) error {
			if home == "" || own == "" {
				return usage("", "--home and --own are required")
			}
			pass, err := a.opts.Bench.Pass(ctx, home, own)
			if err != nil {
				return err
			}
			return a.printValue(pass)
		}),
	}
	cmd.Flags().StringVar(&home, "home", "", "the home folder with the transcripts")
	cmd.Flags().StringVar(&own, "own", "", "the folder with the index")
	return cmd
}

// measure runs a bench and prints what it found.
func (a *app) measure(ctx context.Context, run func(Tell) (Measured, error)) error {
	found, err := run(a.steps())
	if ctx.Err() != nil {
		return &fault{code: ExitInterrupted, what: "interrupted", hint: "nothing was kept", cause: ctx.Err()}
	}
	if err != nil {
		// Not explain's: doctor knows nothing of a bench.
		return &fault{code: ExitFailed, what: err.Error(), cause: err}
	}
	if !a.asJSON {
		for _, table := range found.Tables() {
			if err := table.Write(a.out); err != nil {
				return failed(err, "writing the answer")
			}
			a.screen.say("")
		}
	}
	return a.printValue(found)
}

// steps tells on standard error what is being done: a line for each step, and
// one now and then within a long one.
func (a *app) steps() Tell {
	var mu sync.Mutex
	var last string
	var at time.Time
	return func(what string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case what != last:
			last, at = what, time.Now()
			a.screen.note("%s …", what)
		case total > 0 && time.Since(at) > lineInterval:
			at = time.Now()
			a.screen.note("%s: %d %%", what, 100*min(done, total)/total)
		}
	}
}
