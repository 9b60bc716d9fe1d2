package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sessionls/sessionls/cli"
	"github.com/sessionls/sessionls/index/bench"
)

// benches are the benches as the command line sees them.
type benches struct{}

// Relevance implements cli.Bench.
func (benches) Relevance(ctx context.Context, r cli.RelevanceBench, tell cli.Tell) (cli.Measured, error) {
	found, err := bench.Relevance(ctx, bench.RelevanceOptions{
		Needles: r.Needles, Seed: r.Seed, Corpus: r.Corpus, Truth: r.Truth, LoCoMo: r.LoCoMo, Together: r.Together, Ablate: r.Ablate,
		Tell: bench.Tell(tell),
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Performance implements cli.Bench.
func (benches) Performance(ctx context.Context, r cli.PerformanceBench, tell cli.Tell) (cli.Measured, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	found, err := bench.Performance(ctx, bench.PerformanceOptions{
		Program: program, Bytes: int64(r.MB) * 1_000_000, Seed: r.Seed, Corpus: r.Corpus, Rows: r.Rows, Queries: r.Queries, Tell: bench.Tell(tell),
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Pass implements cli.Bench.
func (benches) Pass(ctx context.Context, home, own string) (any, error) {
	return bench.RunPass(ctx, home, own)
}
