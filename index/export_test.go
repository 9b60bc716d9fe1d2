package index

import "time"

// SetPatience shortens a wait that tests would have to sit through. Not to be
// called while requests run.
func SetPatience(s *Service, d time.Duration) { s.patience = d }
