package requests_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sessionls/sessionls/index/requests"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens the requests at a path until the end of the test.
func open(t *testing.T, path string) *requests.Box {
	t.Helper()
	b, err := requests.Open(context.Background(), path)
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

func post(t *testing.T, b *requests.Box, kind requests.Kind) int64 {
	t.Helper()
	id, err := b.Post(context.Background(), kind, string(kind)+"?")
	must(t, err)
	return id
}

func take(t *testing.T, b *requests.Box, taker string) (out []int64) {
	t.Helper()
	list, err := b.Take(context.Background(), taker)
	must(t, err)
	for _, r := range list {
		if r.Argument != string(r.Kind)+"?" {
			t.Errorf("request %+v", r)
		}
		out = append(out, r.ID)
	}
	return out
}

func look(t *testing.T, b *requests.Box, id int64) requests.Answer {
	t.Helper()
	a, err := b.Look(context.Background(), id)
	must(t, err)
	return a
}

func same(t *testing.T, what string, got, want []int64) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// at runs a statement behind the package's back.
func at(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	_, err = db.Exec(statement)
	must(t, err)
}

func TestAskAndAnswer(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "50% ?#control.db")
	asker, writer := open(t, path), open(t, path)
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	a, b, c := post(t, asker, requests.Reconcile), post(t, asker, requests.Clear), post(t, asker, requests.Full)
	if a >= b || b >= c {
		t.Errorf("numbers %d %d %d", a, b, c)
	}
	if got := look(t, asker, a); got != (requests.Answer{}) {
		t.Errorf("posted: %+v", got)
	}
	must(t, asker.Withdraw(ctx, c))
	same(t, "taken", take(t, writer, "w"), []int64{a, b})
	same(t, "taken again", take(t, writer, "w"), nil)
	d := post(t, asker, requests.Reconcile)
	same(t, "and another", take(t, writer, "w"), []int64{d})
	if got := look(t, asker, a); got.State != requests.Taken {
		t.Errorf("taken: %+v", got)
	}
	// The asker of b does not wait any longer.
	if waits, err := writer.Waits(ctx, "w", b); err != nil || !waits {
		t.Errorf("waits: %v, %v", waits, err)
	}
	must(t, asker.Withdraw(ctx, b))
	if waits, err := writer.Waits(ctx, "w", b); err != nil || waits {
		t.Errorf("waits: %v, %v", waits, err)
	}
	must(t, writer.Finish(ctx, "w", []int64{a, b}, requests.Answer{State: requests.Done, Result: "{}"}))
	must(t, writer.Finish(ctx, "w", []int64{d}, requests.Answer{State: requests.Done, Code: "INDEX_FAILED", Message: "why"}))
	for id, want := range map[int64]requests.Answer{
		a: {State: requests.Done, Result: "{}"}, b: {State: requests.Withdrawn}, c: {State: requests.Withdrawn},
		d: {State: requests.Done, Code: "INDEX_FAILED", Message: "why"}, d + 1: {State: requests.Withdrawn},
	} {
		if got := look(t, asker, id); got != want {
			t.Errorf("%d: %+v, want %+v", id, got, want)
		}
	}
	must(t, asker.Withdraw(ctx, a))
	if got := look(t, asker, a); got.State != requests.Done {
		t.Errorf("withdrawn when it was done: %+v", got)
	}
}

// A writer that died is followed by one that takes what it had taken; should it
// only have been stopped, what it says then is of no matter.
func TestAnotherWriter(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "control.db")
	b := open(t, path)
	id := post(t, b, requests.Reconcile)
	same(t, "the first", take(t, b, "one"), []int64{id})
	same(t, "the second", take(t, b, "two"), []int64{id})
	must(t, b.Finish(ctx, "one", []int64{id}, requests.Answer{State: requests.Done}))
	if got := look(t, b, id); got.State != requests.Taken {
		t.Errorf("answered by the first: %+v", got)
	}
	must(t, b.Finish(ctx, "two", []int64{id}, requests.Answer{State: requests.Posted}))
	same(t, "given back", take(t, b, "three"), []int64{id})
}

// What nobody can be waiting for is not done, whether time went on or was set.
func TestStaleRequests(t *testing.T) {
	for _, ago := range []time.Duration{time.Minute, -time.Hour} {
		path := filepath.Join(t.TempDir(), "control.db")
		b := open(t, path)
		old := post(t, b, requests.Clear)
		at(t, path, fmt.Sprintf(`UPDATE request SET asked = %d`, time.Now().Add(-ago).UnixMilli()))
		id := post(t, b, requests.Reconcile)
		same(t, ago.String(), take(t, b, "w"), []int64{id})
		if got := look(t, b, old); got.State != requests.Withdrawn {
			t.Errorf("%v ago: %+v", ago, got)
		}
	}
}

func TestFewAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	b := open(t, path)
	first := post(t, b, requests.Reconcile)
	for range 400 {
		post(t, b, requests.Reconcile)
	}
	if got := look(t, b, first); got.State != requests.Withdrawn {
		t.Errorf("the first: %+v", got)
	}
	if got := take(t, b, "w"); len(got) != 256 {
		t.Errorf("%d are kept", len(got))
	}
}

// Whatever the file is, there is a desk afterwards; what was there is kept once.
func TestUnusableFiles(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, path string){
		"no database": func(t *testing.T, path string) {
			must(t, os.WriteFile(path, slices.Repeat([]byte("no database "), 1000), 0o600))
		},
		"empty": func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) },
		"cut off": func(t *testing.T, path string) {
			post(t, open(t, path), requests.Clear)
			must(t, os.Truncate(path, 5000))
		},
		"another's": func(t *testing.T, path string) { at(t, path, `CREATE TABLE t(x)`) },
		"earlier":   func(t *testing.T, path string) { at(t, path, `CREATE TABLE request(id); PRAGMA user_version = -1`) },
		"a hole":    func(t *testing.T, path string) { at(t, path, `CREATE TABLE other(id); PRAGMA user_version = 1`) },
		"overwritten": func(t *testing.T, path string) {
			post(t, open(t, path), requests.Clear)
			info, err := os.Stat(path)
			must(t, err)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteAt(slices.Repeat([]byte{0xa5}, int(info.Size())-4096), 4096)
			must(t, errors.Join(err, f.Close()))
		},
		"a foreign journal": func(t *testing.T, path string) {
			must(t, os.WriteFile(path+"-journal", slices.Repeat([]byte{0xd9, 0xd5, 5, 0xf9, 0x20, 0xa1, 0x63, 0xd7}, 600), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "control.db")
			make(t, path)
			b := open(t, path)
			id := post(t, b, requests.Reconcile)
			if got := take(t, b, "w"); len(got) == 0 || got[len(got)-1] != id {
				t.Errorf("taken %v, want %d", got, id)
			}
			must(t, b.Finish(context.Background(), "w", []int64{id}, requests.Answer{State: requests.Done}))
			if got := look(t, b, id); got.State != requests.Done {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A later version's file is left alone.
func TestLaterVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	at(t, path, `CREATE TABLE later(x); PRAGMA user_version = 99`)
	before, err := os.ReadFile(path)
	must(t, err)
	if _, err := requests.Open(context.Background(), path); !errors.Is(err, requests.ErrNewer) {
		t.Errorf("error %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !slices.Equal(before, after) {
		t.Errorf("it was changed, %v", err)
	}
}

// However many ask at once, each request is taken once and answered.
func TestManyAskers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	const askers, each = 6, 20
	ctx, cancel := context.WithCancel(context.Background())
	taken := map[int64]int{}
	var writer, all sync.WaitGroup
	writer.Go(func() {
		for ctx.Err() == nil {
			b, err := requests.Open(context.Background(), path)
			if err != nil {
				continue // locked for longer than it waits
			}
			if list, err := b.Take(context.Background(), "w"); err == nil && len(list) > 0 {
				var ids []int64
				for _, r := range list {
					taken[r.ID]++
					ids = append(ids, r.ID)
				}
				for b.Finish(context.Background(), "w", ids, requests.Answer{State: requests.Done}) != nil {
				}
			}
			must(t, b.Close())
		}
	})
	var mu sync.Mutex
	posted := 0
	for range askers {
		all.Go(func() {
			for range each {
				b, err := requests.Open(context.Background(), path)
				if err != nil {
					continue
				}
				if id, err := b.Post(context.Background(), requests.Reconcile, ""); err == nil {
					mu.Lock()
					posted++
					mu.Unlock()
					for end := time.Now().Add(30 * time.Second); ; {
						if a, err := b.Look(context.Background(), id); err == nil && a.State == requests.Done {
							break
						}
						if time.Now().After(end) {
							a, err := b.Look(context.Background(), id)
							t.Errorf("%d was not answered: %+v, %v", id, a, err)
							break
						}
						time.Sleep(time.Millisecond)
					}
				}
				must(t, b.Close())
			}
		})
	}
	all.Wait()
	cancel()
	writer.Wait()
	if _, err := os.Stat(requests.Damaged(path)); err == nil {
		t.Error("it was set aside")
	}
	for id, n := range taken {
		if n != 1 {
			t.Errorf("%d was taken %d times", id, n)
		}
	}
	if posted == 0 || len(taken) != posted {
		t.Errorf("%d posted, %d taken", posted, len(taken))
	}
}
