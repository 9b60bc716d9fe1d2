package store

import (
	"database/sql"
	"fmt"
	"sync"
)

// Writing runs behind reading: inserts whose result nobody waits for are queued
// and run on a goroutine of their own, in order, while the next events are read
// and analysed, so that a first build uses two cores. Everything that looks into the database
// waits for the queue first (settle), so that it sees what was written before.
const (
	// behindRows and behindBytes bound the queue: enough that neither side waits
	// for the other at each row, little beside the rest of a build's memory.
	behindRows  = 512
	behindBytes = 4 << 20
)

// behind is the queue of a transaction. The zero value is ready.
type behind struct {
	queue chan write
	open  sync.WaitGroup

	mu     sync.Mutex
	less   sync.Cond // waits for inside to become less
	inside int       // bytes that are queued
	err    error     // the first failure; nothing runs after it
}

// write is a statement with its arguments, or something else to run.
type write struct {
	st   *sql.Stmt
	args []any
	run  func() error
	size int // about what it holds in memory, in bytes
}

func (w write) do() error {
	if w.run != nil {
		return w.run()
	}
	_, err := w.st.Exec(w.args...)
	return err
}

func (b *behind) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *behind) run(queue <-chan write) {
	for w := range queue {
		var err error
		if b.failure() == nil {
			err = w.do()
		}
		b.mu.Lock()
		if err != nil {
			b.err = fmt.Errorf("write to the index: %w", err)
		}
		b.inside -= w.size
		b.less.Signal()
		b.mu.Unlock()
		b.open.Done()
	}
}

// put queues a write, when there is room for it.
func (b *behind) put(w write) error {
	if b.queue == nil {
		b.queue = make(chan write, behindRows)
		b.less.L = &b.mu
		go b.run(b.queue)
	}
	b.mu.Lock()
	for b.inside > 0 && b.inside+w.size > behindBytes {
		b.less.Wait()
	}
	b.inside += w.size
	b.mu.Unlock()
	b.open.Add(1)
	b.queue <- w
	return b.failure()
}

// settle waits until all that was queued has run.
func (b *behind) settle() error {
	b.open.Wait()
	return b.failure()
}

// end lets the queue's goroutine go. Nothing may be queued afterwards.
func (b *behind) end() {
	b.open.Wait()
	if b.queue != nil {
		close(b.queue)
	}
}

// later runs a write whose result is not needed, at some time before the next
// look into the database. Its failure is told by one of the next calls, at the
// latest by the transaction's end. Arguments must not change afterwards.
func (t *Tx) later(query string, args ...any) error {
	st, err := t.prepared(query)
	if err != nil {
		return err
	}
	size := 0
	for _, a := range args {
		switch a := a.(type) {
		case string:
			size += len(a)
		case []byte:
			size += len(a)
		}
	}
	return t.behind.put(write{st: st, args: args, size: size})
}

// look gives the transaction for reading what was written so far.
func (t *Tx) look() (*sql.Tx, error) {
	if err := t.behind.settle(); err != nil {
		return nil, err
	}
	return t.tx, nil
}
