package index

import (
	"context"
	"time"
)

// SetPatience shortens a wait that tests would have to sit through. Not to be
// called while requests run.
func SetPatience(s *Service, d time.Duration) { s.patience = d }

// SetTakenWithin sets how long the writer may take to take a request.
func SetTakenWithin(s *Service, d time.Duration) { s.takenWithin = d }

// Ask makes a pass over what changed at some paths.
func Ask(s *Service, paths []string) error {
	r := s.ask(false, paths)
	<-r.done
	return r.err
}

// Seated reports whether the service watches for all processes.
func Seated(s *Service) bool {
	s.follower.mu.Lock()
	defer s.follower.mu.Unlock()
	return s.follower.seated
}

// Acting reports whether the service watches because the one that holds the seat
// was stopped.
func Acting(s *Service) bool {
	s.follower.mu.Lock()
	defer s.follower.mu.Unlock()
	return s.follower.acting
}

// SetSeatTimes shortens the time between two signs of life and two looks for
// them, and how old the last one may be. Not to be called after Start.
func SetSeatTimes(s *Service, interval, stale time.Duration) {
	s.follower.interval, s.follower.seatStale = interval, stale
}

// Unread is the error of a request that could not read the index for that reason.
func Unread(s *Service, err error) error { return s.unread(context.Background(), err) }
