package index

import "time"

// SetPatience shortens a wait that tests would have to sit through. Not to be
// called while requests run.
func SetPatience(s *Service, d time.Duration) { s.patience = d }

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
