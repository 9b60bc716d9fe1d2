package store

import "os"

// Sizes in bytes up to which the log may grow before it is started anew, while
// appending and during a bulk build, where the same pages change again and again.
const (
	maxLog     = 16 << 20
	maxBulkLog = 64 << 20
)

// trimLog starts the log anew when it has grown long. SQLite does so by itself
// only in a moment without readers, and where several processes search all the
// time there is none: the log of an index that follows a busy agent then grows
// by megabytes a second. Here those who read at this moment are waited for, half
// a second at most, while later ones need only the database. If they take
// longer, a later transaction tries again.
func (w *Writer) trimLog() {
	limit := int64(maxLog)
	if w.building() {
		limit = maxBulkLog
	}
	info, err := os.Stat(w.path + "-wal")
	if err != nil || info.Size() < max(limit, w.nextTrim) {
		return
	}
	w.nextTrim = info.Size() + limit/2
	// What fails here, for want of space perhaps, fails the next transaction
	// that needs it; this one is written.
	if _, err := w.db.Exec(`PRAGMA busy_timeout = 500`); err != nil {
		return
	}
	var busy, frames, moved int
	if err := w.db.QueryRow(`PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved); err == nil && busy == 0 {
		w.nextTrim = 0
	}
	_, _ = w.db.Exec(`PRAGMA busy_timeout = 5000`)
}
