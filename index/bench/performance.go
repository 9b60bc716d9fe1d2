package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessionls/sessionls/index"
	"github.com/sessionls/sessionls/index/bench/corpus"
	"github.com/sessionls/sessionls/index/bench/report"
	"github.com/sessionls/sessionls/index/store"
)

// Rows that can be measured.
const (
	RowIndex   = "index"
	RowRefresh = "refresh"
	RowQuery   = "query"
)

// Rows are all rows, in the order of a report.
func Rows() []string { return []string{RowIndex, RowRefresh, RowQuery} }

// PerformanceOptions say what to measure.
type PerformanceOptions struct {
	// Program is the path of this program.
	Program string
	// Bytes is the size of the corpus that is written, from Seed.
	Bytes int64
	Seed  uint64
	// Corpus is a home to measure on instead; it is only read.
	Corpus string
	// Rows are what is measured, of [Rows]; nil is all.
	Rows []string
	// Queries is how many searches of each kind there are.
	Queries int
	Tell    Tell
}

// PerformanceReport is what the program costs.
type PerformanceReport struct {
	Bench string `json:"bench"` // performance
	// Corpus is a home that was named, "" for one written from Seed.
	Corpus  string       `json:"corpus,omitempty"`
	Seed    uint64       `json:"seed"`
	Index   IndexReport  `json:"index"`
	Refresh []Refresh    `json:"refresh,omitempty"`
	Query   *QueryReport `json:"query,omitempty"`
	rows    map[string]bool
}

// IndexReport is what a first index costs.
type IndexReport struct {
	Cost
	Pass
	// Transcripts is the size of what was indexed, in bytes.
	Transcripts int64 `json:"transcriptBytes"`
	// PerByte is bytes of the index for each of the transcripts, MBPerS what
	// was indexed in a second of wall time, MBPerCPUS in one of processor time.
	PerByte   float64     `json:"indexPerByte"`
	MBPerS    float64     `json:"mbPerS"`
	MBPerCPUS float64     `json:"mbPerCpuS"`
	Sizes     store.Sizes `json:"sizes"`
}

// Refresh is what it costs to make an index current again: the median of some
// runs, each a process of its own.
type Refresh struct {
	Change string  `json:"change"`
	Runs   int     `json:"runs"`
	WallMs float64 `json:"wallMs"`
	CPUMs  float64 `json:"cpuMs"`
}

// Performance measures the program.
func Performance(ctx context.Context, o PerformanceOptions) (_ *PerformanceReport, err error) {
	out := &PerformanceReport{Bench: "performance", Seed: o.Seed, rows: map[string]bool{}}
	for _, row := range o.Rows {
		if !slices.Contains(Rows(), row) {
			return nil, fmt.Errorf("there is no row %q; there are %s", row, strings.Join(Rows(), ", "))
		}
		out.rows[row] = true
	}
	dir, remove, err := folder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	p := &program{path: o.Program, home: filepath.Join(dir, "home"), own: filepath.Join(dir, "own")}
	if o.Corpus != "" {
		if p.home, err = absolute(o.Corpus); err != nil {
			return nil, err
		}
		out.Corpus = p.home
	} else {
		c := corpus.Config{Seed: o.Seed, Bytes: o.Bytes}
		if _, err := corpus.Write(ctx, p.home, c, func(done int64) { o.Tell("writing a corpus", done, c.Bytes) }); err != nil {
			return nil, err
		}
	}
	grown := new(growth)
	if out.has(RowRefresh) {
		if grown, err = newGrowth(p.own, filepath.Join(dir, "more")); err != nil {
			return nil, err
		}
	}
	o.Tell("indexing it", 0, 0)
	if out.Index, err = p.first(ctx); err != nil {
		return nil, err
	}
	if out.Index.Sessions <= grown.n {
		return nil, errors.New("the corpus holds no session that can be read")
	}
	if out.has(RowRefresh) {
		if out.Refresh, err = p.refresh(ctx, grown, o.Tell); err != nil {
			return nil, err
		}
	}
	if out.has(RowQuery) {
		kinds, err := p.kinds(ctx, o)
		if err != nil {
			return nil, err
		}
		if out.Query, err = p.idle(ctx, kinds, o.Tell); err != nil {
			return nil, err
		}
		again := &program{path: p.path, home: p.home, own: filepath.Join(dir, "again")}
		if err := again.whileBuilding(ctx, kinds, out.Query, o.Tell); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// has reports whether a row is wanted; none named is all.
func (r *PerformanceReport) has(row string) bool { return len(r.rows) == 0 || r.rows[row] }

// first measures a first index.
func (p *program) first(ctx context.Context) (IndexReport, error) {
	pass, cost, err := p.pass(ctx)
	if err != nil {
		return IndexReport{}, err
	}
	r := IndexReport{Cost: cost, Pass: *pass, Transcripts: pass.Read}
	megabytes := float64(pass.Read) / 1e6
	r.PerByte = thousandths(float64(pass.Index) / float64(max(pass.Read, 1)))
	r.MBPerS = thousandths(megabytes / (cost.WallMs / 1000))
	if cost.CPUMs > 0 {
		r.MBPerCPUS = thousandths(megabytes / (cost.CPUMs / 1000))
	}
	reader, err := store.OpenReader(ctx, index.PathsUnder(p.own).Index())
	if err != nil {
		return r, err
	}
	r.Sizes, err = reader.Measure(ctx)
	return r, errors.Join(err, reader.Close())
}

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// kinds makes the queries.
func (p *program) kinds(ctx context.Context, o PerformanceOptions) (_ []queryKind, err error) {
	l, err := openLibrary(ctx, p.home, p.own)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	s, err := takeSample(ctx, l, o.Tell)
	if err != nil {
		return nil, err
	}
	return s.queries(o.Seed, o.Queries), nil
}

// growth is a further folder of transcripts, named in the configuration of the
// bench's own index: what changes is there, and the corpus stays as it is.
type growth struct {
	home string
	n    int
}

// grownBytes is about the size of a session that is added.
const grownBytes = 300_000

func newGrowth(own, home string) (*growth, error) {
	g := &growth{home: home}
	if err := g.add("nothing"); err != nil {
		return nil, err
	}
	paths := index.PathsUnder(own)
	if err := os.MkdirAll(paths.Config, 0o700); err != nil {
		return nil, fmt.Errorf("make a configuration: %w", err)
	}
	config := fmt.Sprintf("[roots]\nclaude = [%q]\n", filepath.ToSlash(filepath.Join(home, ".claude")))
	if err := os.WriteFile(paths.ConfigFile(), []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("make a configuration: %w", err)
	}
	return g, nil
}

func (g *growth) id(n int) string { return fmt.Sprintf("9e0a0000-0000-4000-8000-%012d", n) }

// add adds a session that holds a word.
func (g *growth) add(word string) error {
	g.n++
	return corpus.Filler(g.home, g.id(g.n), uint64(g.n), grownBytes, word)
}

// extend appends a message to the first session.
func (g *growth) extend(word string) error {
	return corpus.Extend(g.home, g.id(1), word, time.Now())
}

// runs is how often a change is made.
const runs = 5

// refresh measures how the index is made current after changes, and that it is.
func (p *program) refresh(ctx context.Context, g *growth, tell Tell) ([]Refresh, error) {
	var out []Refresh
	for _, change := range []struct {
		name string
		make func(word string) error
	}{
		{"nothing changed", nil},
		{"one line appended", g.extend},
		{"one file of 300 KB added", g.add},
	} {
		tell("refreshing: "+change.name, 0, 0)
		var wall, cpu []float64
		for i := range runs {
			word := fmt.Sprintf("zvq%dkz%d", len(out), i)
			if change.make != nil {
				if err := change.make(word); err != nil {
					return nil, err
				}
			}
			_, cost, err := p.pass(ctx)
			if err != nil {
				return nil, err
			}
			wall, cpu = append(wall, cost.WallMs), append(cpu, cost.CPUMs)
			if change.make == nil {
				continue
			}
			if err := p.holds(ctx, word); err != nil {
				return nil, err
			}
		}
		slices.Sort(wall)
		slices.Sort(cpu)
		out = append(out, Refresh{change.name, runs, wall[runs/2], cpu[runs/2]})
	}
	return out, nil
}

// holds fails if the index does not find a word that was added.
func (p *program) holds(ctx context.Context, word string) (err error) {
	l, err := openLibrary(ctx, p.home, p.own)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	found, err := l.found(ctx, word+" ")
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("the word %s, which was added, is found in %d sessions", word, len(found))
	}
	return err
}

// Tables are the report for people.
func (r *PerformanceReport) Tables() []report.Table {
	what := fmt.Sprintf("seed %d", r.Seed)
	if r.Corpus != "" {
		what = r.Corpus
	}
	x := &r.Index
	main := report.Table{
		Title:   fmt.Sprintf("%s of transcripts (%s): %d sessions, %d events", megabytes(x.Transcripts), what, x.Sessions, x.Events),
		Columns: []string{"", "wall s", "CPU s", "MB/s", "MB/CPU s", "peak MB"},
	}
	if r.has(RowIndex) {
		main.Add("first index", seconds(x.WallMs), seconds(x.CPUMs), fmt.Sprintf("%.1f", x.MBPerS), fmt.Sprintf("%.1f", x.MBPerCPUS), peak(x.Peak))
		for _, phase := range x.Phases {
			main.Add("– "+phase.Name, seconds(phase.WallMs), seconds(phase.CPUMs))
		}
		main.Add("all found by what was said after", seconds(x.Talk.WallMs), seconds(x.Talk.CPUMs))
	}
	for _, c := range r.Refresh {
		main.Add(c.Change, seconds(c.WallMs), seconds(c.CPUMs))
	}
	if q := r.Query; q != nil {
		main.Add("server, all searches", seconds(q.Server.WallMs), seconds(q.Server.CPUMs), "–", "–", peak(q.Server.Peak))
		main.Add("server, building the index", seconds(q.Building.ReadyMs), seconds(q.Building.Server.CPUMs), "–", "–", peak(q.Building.Server.Peak))
		main.Add("– first hit after", seconds(q.Building.FirstHitMs))
	}
	out := []report.Table{main}
	if r.has(RowIndex) {
		out = append(out, x.sizes())
	}
	if r.Query != nil {
		out = append(out, r.Query.table())
	}
	return out
}

func (r *IndexReport) sizes() report.Table {
	t := report.Table{
		Title:   fmt.Sprintf("The index: %s, %.2f bytes per byte of transcript", megabytes(r.Index), r.PerByte),
		Columns: []string{"part", "MB", "%"},
	}
	add := func(part string, n int64) {
		t.Add(part, fmt.Sprintf("%.1f", float64(n)/1e6), fmt.Sprintf("%.1f", 100*float64(n)/float64(max(r.Sizes.Total, 1))))
	}
	rest := r.Sizes.Total - r.Sizes.Free
	var small int64
	for _, p := range r.Sizes.Parts {
		rest -= p.Bytes
		if p.Bytes*100 < r.Sizes.Total {
			small += p.Bytes
			continue
		}
		add(p.Part, p.Bytes)
	}
	add("parts below 1 %", small)
	if !r.Sizes.Exact {
		add("indexes, page structure", rest)
		t.Notes = append(t.Notes, "by the sizes of values: this SQLite was built without dbstat")
	}
	add("free pages", r.Sizes.Free)
	return t
}

func (r *QueryReport) table() report.Table {
	t := report.Table{
		Title:   fmt.Sprintf("Searches over LSP, ms (initialize %.1f, first search %.1f)", r.InitializeMs, r.FirstSearchMs),
		Columns: []string{"kind", "cold p50", "p95", "warm p50", "p95", "CPU", "indexing p50", "p95"},
		Notes: []string{
			"cold: each query's first time in a new server; warm: its second; CPU: the server's for a warm one, on average;",
			fmt.Sprintf("indexing: %d searches while a server builds the index", r.Building.Searches),
		},
	}
	for _, l := range append(slices.Clone(r.Kinds), r.All) {
		cells := []string{l.Kind, tenths(l.Cold.P50), tenths(l.Cold.P95), tenths(l.Warm.P50), tenths(l.Warm.P95), "n/a"}
		if l.CPUMs != nil {
			cells[5] = tenths(*l.CPUMs)
		}
		if l.Indexing != nil {
			cells = append(cells, tenths(l.Indexing.P50), tenths(l.Indexing.P95))
		}
		t.Add(cells...)
	}
	return t
}

func tenths(ms float64) string { return fmt.Sprintf("%.1f", ms) }

func seconds(ms float64) string { return fmt.Sprintf("%.3f", ms/1000) }

// peak is memory in MB; the system may not tell it.
func peak(n int64) string {
	if n == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%.0f", float64(n)/1e6)
}
