package index

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/sessionls/sessionls/contract"
	"github.com/sessionls/sessionls/index/requests"
	"github.com/sessionls/sessionls/index/store"
)

// The writer is the process that holds the seat. Another one that needs something
// written asks it through package requests. It does so only as long as it is
// answered: a writer that was stopped or died holds up nobody, since whoever
// asked then takes the lock and does it himself. Both may do it; that is a
// second look at the disk, never a wrong one.

const (
	// takenWithin is how long the writer may take to say that it knows of a
	// request. It listens all the time, so it does so within a few milliseconds,
	// and on a machine that is busy all over within some tens; people do not
	// notice this wait before the same work is done here.
	takenWithin = 200 * time.Millisecond
	// glanceEvery is the time between two glances at the lock that the writer
	// holds while it works, and idleGlances how many in a row must find nobody at
	// work on a request that was taken until it counts as abandoned.
	glanceEvery = 100 * time.Millisecond
	idleGlances = 4
	// lookMin and lookMax bound the time between two looks for the answer.
	lookMin = time.Millisecond
	lookMax = 20 * time.Millisecond
)

// askWriter has the writer do something and returns its result. It is not served
// if there is no other process that writes, or it does not answer. meanwhile,
// which may be nil, is called now and then. An error is the writer's, or the end
// of ctx.
func (s *Service) askWriter(ctx context.Context, kind requests.Kind, argument string, meanwhile func()) (result string, served bool, err error) {
	// In this order: this process is seated before it listens, and must not wait
	// for itself.
	if !s.writerListens() || s.follower.isSeated() {
		return "", false, nil
	}
	box, err := requests.Open(ctx, s.paths.Requests())
	if err != nil {
		return "", false, s.unasked(ctx, err)
	}
	defer box.Close()
	id, err := box.Post(ctx, kind, argument)
	if err != nil {
		return "", false, s.unasked(ctx, err)
	}
	a, err := s.await(ctx, box, id, meanwhile)
	switch {
	case err != nil || a.State != requests.Done:
		// Not by ctx, which may be the reason. Should it fail: the writer does it
		// for nobody.
		_ = box.Withdraw(context.WithoutCancel(ctx), id)
		return "", false, s.unasked(ctx, err)
	case a.Code != "":
		return "", true, contract.Failed(a.Code, nil, "%s", a.Message)
	}
	return a.Result, true, nil
}

// unasked drops an error of asking, which is none of the request, unless ctx ended.
func (s *Service) unasked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.log.Debug().Err(err).Msg("the process that writes the index cannot be asked; this one does without")
	}
	return nil
}

// await waits for the end of a request. What is not Done then is not to be
// waited for.
func (s *Service) await(ctx context.Context, box *requests.Box, id int64, meanwhile func()) (requests.Answer, error) {
	ring(s.paths.Bell())
	began := time.Now()
	glanced, idle := began, 0
	for pause := lookMin; ; pause = min(2*pause, lookMax) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return requests.Answer{}, ctx.Err()
		}
		a, err := box.Look(ctx, id)
		now := time.Now()
		switch {
		case err != nil, a.State == requests.Done, a.State == requests.Withdrawn, a.State == requests.Posted && now.Sub(began) > s.takenWithin:
			return a, err
		case a.State == requests.Taken && now.Sub(glanced) > glanceEvery:
			glanced = now
			if idle++; heldElsewhere(s.paths.Lock()) {
				idle = 0
			}
			if idle >= idleGlances {
				return a, nil
			}
		}
		if meanwhile != nil {
			meanwhile()
		}
	}
}

// writerListens reports whether another process holds the seat. It is alive, or
// was stopped not long ago.
func (s *Service) writerListens() bool {
	if seatSilent(s.paths.Seat(), s.follower.seatStale) {
		return false
	}
	is, err := listens(s.paths.Bell())
	if errors.Is(err, errors.ErrUnsupported) {
		return heldElsewhere(s.paths.Seat())
	}
	return err == nil && is
}

// forward has the writer make the pass. The index that this process found
// damaged it sets aside itself, and only the writer asks for passes over single
// paths.
func (s *Service) forward(ctx context.Context, r *run) (served bool, err error) {
	if s.passes.targeted(r) || s.suspect.on(s.paths.Index()) || !s.writerListens() || s.follower.isSeated() {
		return false, nil
	}
	// Who asks from here on asks for the next one: the pass begins after the
	// request is posted, which need not be after that.
	s.passes.mu.Lock()
	r.begun = true
	kind := requests.Reconcile
	if r.full {
		kind = requests.Full
	}
	s.passes.mu.Unlock()
	_, served, err = s.askWriter(ctx, kind, "", func() {
		select {
		case <-r.opened:
		default:
			// There is an index to search when it can be opened.
			if _, release, err := s.handles.acquire(ctx); err == nil {
				release()
				r.open()
			}
		}
	})
	if !served || err != nil {
		return served, err
	}
	if !s.allowed() {
		return true, errInterrupted
	}
	// The writer may be of another version, whose index this one cannot read.
	_, release, err := s.handles.acquire(ctx)
	if err == nil {
		release()
	}
	return !errors.Is(err, store.ErrForeign) && !store.IsDamage(err), nil
}

// askFor is askWriter for what is asked and answered in JSON.
func askFor[Q, A any](ctx context.Context, s *Service, kind requests.Kind, question Q) (answer A, served bool, err error) {
	raw, err := json.Marshal(question)
	if err != nil {
		return answer, false, err
	}
	result, served, err := s.askWriter(ctx, kind, string(raw), nil)
	if served && err == nil && result != "" {
		err = json.Unmarshal([]byte(result), &answer)
	}
	return answer, served, err
}
