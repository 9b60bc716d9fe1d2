package index

import (
	"io/fs"
	"os"
	"sync/atomic"
)

// suspicion names the database in which reading or writing met damage, so that
// the next pass sets it aside although it can be opened. It is of that file and
// of no other: another process may have replaced it meanwhile.
type suspicion struct{ file atomic.Pointer[fs.FileInfo] }

// fall says that this file is damaged; nil is none.
func (s *suspicion) fall(on fs.FileInfo) {
	if on != nil {
		s.file.Store(&on)
	}
}

// fallOn is fall for whoever holds the lock: the file at the path cannot be
// replaced meanwhile.
func (s *suspicion) fallOn(path string) {
	if info, err := os.Stat(path); err == nil {
		s.fall(info)
	}
}

// on reports whether the file at the path is the damaged one.
func (s *suspicion) on(path string) bool {
	suspect := s.file.Load()
	if suspect == nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, *suspect)
}

func (s *suspicion) clear() { s.file.Store(nil) }
