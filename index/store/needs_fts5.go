//go:build !sqlite_fts5 && !fts5

package store

// SQLite is compiled from source by the driver and leaves FTS5 out unless a
// build tag asks for it; the program would start and then fail at its first
// query. This line makes such a build fail at once, with the remedy in its name.
var _ = sessionls_needs_SQLite_FTS5_build_with_make_build_or_go_build_tags_sqlite_fts5
