//go:build !sqlite_fts5 && !fts5

package store

// The build tag compiles FTS5 into SQLite. The index has postings of its own and does not need
// it, but indexes of before schema 9 have FTS5 tables: without it SQLite could neither check
// nor drop them. This line makes a build without the tag fail at once, with the remedy in its name.
var _ = sessionls_needs_SQLite_FTS5_build_with_make_build_or_go_build_tags_sqlite_fts5
