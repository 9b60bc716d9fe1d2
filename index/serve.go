package index

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/requests"
)

// desk serves, in the process that holds the seat, what others ask for.
type desk struct {
	s     *Service
	taker string        // this process, for as long as it lives
	rung  chan struct{} // room for one: there may be requests
	hears atomic.Bool   // the bell wakes it; else the folder is watched for requests

	mu      sync.Mutex
	serving map[*run][]int64 // which requests a pass will answer
}

func (d *desk) init(s *Service) {
	d.s, d.taker, d.rung, d.serving = s, rand.Text(), make(chan struct{}, 1), map[*run][]int64{}
}

// ring says that there may be requests.
func (d *desk) ring() {
	select {
	case d.rung <- struct{}{}:
	default:
	}
}

// serve takes requests until ctx ends.
func (d *desk) serve(ctx context.Context) {
	bell, err := openBell(d.s.paths.Bell())
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		d.s.log.Warn().Err(err).Msg("other processes cannot wake this one; they write the index themselves")
	}
	var listening sync.WaitGroup
	defer listening.Wait()
	if bell != nil {
		defer bell.Close()
		listening.Go(func() { d.listen(bell) })
		stop := context.AfterFunc(ctx, func() { _ = bell.Close() })
		defer stop()
	}
	for {
		// First of all what an earlier holder of the seat has left.
		d.take(ctx)
		select {
		case <-d.rung:
		case <-ctx.Done():
			return
		}
	}
}

// listen passes on what the bell says until it is closed. A pipe that cannot be
// waited at (as on macOS) is no bell; it only shows that this process lives.
func (d *desk) listen(bell *os.File) {
	if bell.SetReadDeadline(time.Time{}) != nil {
		return
	}
	d.hears.Store(true)
	defer d.hears.Store(false)
	var b [256]byte
	for {
		if _, err := bell.Read(b[:]); err != nil {
			return
		}
		d.ring()
	}
}

// take takes what is asked for and sees to it that it is done.
func (d *desk) take(ctx context.Context) {
	if _, err := os.Stat(d.s.paths.Requests()); err != nil {
		return // nobody ever asked
	}
	var list []requests.Request
	err := d.open(ctx, func(box *requests.Box) (err error) {
		list, err = box.Take(ctx, d.taker)
		return err
	})
	if err != nil {
		// The askers help themselves.
		if ctx.Err() == nil {
			d.s.log.Warn().Err(err).Msg("what other processes ask for cannot be read")
		}
		return
	}
	for _, r := range list {
		switch r.Kind {
		case requests.Reconcile:
			d.pass(false, r.ID)
		case requests.Full:
			d.pass(true, r.ID)
		case requests.Policy:
			// A pass that runs goes by the old one.
			d.s.passes.interrupt()
			if d.s.allowed() {
				d.pass(false, r.ID)
				continue
			}
			d.do(r, func(ctx context.Context, _ func(context.Context) error) (any, error) { return nil, d.s.stop(ctx) })
		case requests.Clear:
			d.do(r, func(ctx context.Context, wanted func(context.Context) error) (any, error) {
				defer d.s.wake.all()
				return d.s.clear(ctx, wanted)
			})
		case requests.Forget:
			d.do(r, func(ctx context.Context, wanted func(context.Context) error) (any, error) {
				var name contract.SessionName
				if err := json.Unmarshal([]byte(r.Argument), &name); err != nil {
					return nil, fmt.Errorf("forget a session: %w", err)
				}
				return d.s.forget(ctx, name, wanted)
			})
		default: // a later version's
			d.finish([]int64{r.ID}, requests.Answer{State: requests.Withdrawn})
		}
	}
}

func (d *desk) open(ctx context.Context, f func(*requests.Box) error) error {
	box, err := requests.Open(ctx, d.s.paths.Requests())
	if err != nil {
		return err
	}
	return errors.Join(f(box), box.Close())
}

// pass has requests answered by a pass that begins now or later.
func (d *desk) pass(full bool, ids ...int64) {
	r := d.s.request(full)
	d.mu.Lock()
	_, known := d.serving[r]
	d.serving[r] = append(d.serving[r], ids...)
	d.mu.Unlock()
	if !known {
		d.s.work.Go(func() { d.passed(r) })
	}
}

// passed answers the requests of a pass at its end.
func (d *desk) passed(r *run) {
	<-r.done
	d.mu.Lock()
	ids := d.serving[r]
	delete(d.serving, r)
	d.mu.Unlock()
	if errors.Is(r.err, errInterrupted) && d.s.allowed() {
		d.pass(r.full, ids...)
		return
	}
	err := r.err
	if errors.Is(err, errInterrupted) {
		err = nil // no consent: the asker looks for himself
	}
	d.answer(ids, nil, err)
}

// errUnwanted ends what nobody waits for any more.
var errUnwanted = errors.New("the request was withdrawn")

// do does what is no pass. f asks wanted when it has the lock, right before it
// begins: the asker may have helped himself while this process was stopped.
func (d *desk) do(r requests.Request, f func(ctx context.Context, wanted func(context.Context) error) (any, error)) {
	d.s.work.Go(func() {
		result, err := f(d.s.ctx, func(ctx context.Context) error {
			waits := false
			err := d.open(ctx, func(box *requests.Box) (err error) {
				waits, err = box.Waits(ctx, d.taker, r.ID)
				return err
			})
			if err == nil && !waits {
				err = errUnwanted
			}
			return err
		})
		d.answer([]int64{r.ID}, result, err)
		if r.Kind != requests.Policy && d.s.allowed() {
			d.s.request(false) // it interrupted one, and forks may be due
		}
	})
}

// answer tells the askers how it ended.
func (d *desk) answer(ids []int64, result any, err error) {
	a := requests.Answer{State: requests.Done}
	switch {
	case errors.Is(err, errClosed), errors.Is(err, context.Canceled), errors.Is(err, errUnwanted):
		a.State = requests.Posted // for the next one, or for the asker himself
	case err != nil:
		e := indexError(err)
		a.Code, a.Message = e.Code, e.Message
	case result != nil:
		raw, err := json.Marshal(result)
		if err != nil {
			a.State = requests.Withdrawn
		}
		a.Result = string(raw)
	}
	d.finish(ids, a)
}

func (d *desk) finish(ids []int64, a requests.Answer) {
	// Also while the service closes, so not by its context.
	ctx := context.WithoutCancel(d.s.ctx)
	err := d.open(ctx, func(box *requests.Box) error { return box.Finish(ctx, d.taker, ids, a) })
	if err != nil {
		d.s.log.Warn().Err(err).Msg("other processes cannot be answered; they help themselves")
	}
}
