package store

import (
	"context"
	"fmt"

	"github.com/sessionls/sessionls/index/transcript"
)

// AgentCounts is what the index holds of one agent.
type AgentCounts struct {
	Sessions int
	Events   int64
	Failed   int // sources that could not be read
}

// Counts is what the index holds.
type Counts struct {
	Sessions int
	Events   int64
	Read     int // sources read whole, copies and empty ones included
	Failed   int
	Bad      int // records inside readable sources that could not be read
	Agents   map[string]AgentCounts
}

// Counts counts sessions, events and sources.
func (s *Snapshot) Counts(ctx context.Context) (Counts, error) {
	c := Counts{Agents: map[string]AgentCounts{}}
	rows, err := s.tx.QueryContext(ctx, `SELECT agent, count(*), sum(events) FROM session GROUP BY agent`)
	if err != nil {
		return c, fmt.Errorf("count sessions: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var agent string
		var a AgentCounts
		if err := rows.Scan(&agent, &a.Sessions, &a.Events); err != nil {
			return c, fmt.Errorf("count sessions: %w", err)
		}
		c.Agents[agent] = a
		c.Sessions += a.Sessions
		c.Events += a.Events
	}
	if err := rows.Err(); err != nil {
		return c, fmt.Errorf("count sessions: %w", err)
	}
	states, err := s.tx.QueryContext(ctx, `SELECT agent, state = 'failed', count(*), sum(bad), sum(version = ?) FROM source GROUP BY 1, 2`, TalkOnly)
	if err != nil {
		return c, fmt.Errorf("count sources: %w", err)
	}
	defer states.Close()
	for states.Next() {
		var agent string
		var failed bool
		var n, bad, partly int
		if err := states.Scan(&agent, &failed, &n, &bad, &partly); err != nil {
			return c, fmt.Errorf("count sources: %w", err)
		}
		c.Bad += bad
		if !failed {
			c.Read += n - partly
			continue
		}
		c.Failed += n
		a := c.Agents[agent]
		a.Failed = n
		c.Agents[agent] = a
	}
	return c, states.Err()
}

// Trouble is a source that could not be read, or not whole.
type Trouble struct {
	Agent, Path, Key string
	State            State
	Error            string
	Fails, Bad       int
	Torn             bool
	Partial          string
}

// Barren is a source in a file of its own that holds no session.
type Barren struct {
	Agent, Path string
	// Unreadable says that it holds nothing that can be read.
	Unreadable bool
}

// Barren calls f for every file of some size that was read and holds no session,
// in order. Those that are kept out of the index are not among them.
func (s *Snapshot) Barren(ctx context.Context, f func(Barren)) error {
	rows, err := s.tx.QueryContext(ctx, `SELECT agent, path, partial = ? FROM source WHERE state = 'empty' AND error = '' AND key = '' AND size > 0 ORDER BY agent, path`, transcript.NothingRead)
	if err != nil {
		return fmt.Errorf("list files without a session: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var b Barren
		if err := rows.Scan(&b.Agent, &b.Path, &b.Unreadable); err != nil {
			return fmt.Errorf("list files without a session: %w", err)
		}
		f(b)
	}
	return rows.Err()
}

// Troubles lists sources with failures or damaged records, at most limit. Files
// of which nothing can be read are told by Barren.
func (s *Snapshot) Troubles(ctx context.Context, limit int) ([]Trouble, error) {
	rows, err := s.tx.QueryContext(ctx, `SELECT agent, path, key, state, error, fails, bad, torn, partial FROM source
		WHERE (state = 'failed' OR bad > 0 OR partial <> '') AND partial <> ? ORDER BY state = 'failed' DESC, agent, path, key LIMIT ?`, transcript.NothingRead, limit)
	if err != nil {
		return nil, fmt.Errorf("list failures: %w", err)
	}
	defer rows.Close()
	var out []Trouble
	for rows.Next() {
		var t Trouble
		if err := rows.Scan(&t.Agent, &t.Path, &t.Key, &t.State, &t.Error, &t.Fails, &t.Bad, &t.Torn, &t.Partial); err != nil {
			return nil, fmt.Errorf("list failures: %w", err)
		}
		out = append(out, t)
	}
	return out, rows.Err()
}
