// Package requests is the desk at which processes ask the one that writes the
// index for something: a small SQLite database beside the index, control.db.
// It is no archive. A request is of use while its asker waits, which is seconds,
// and every asker can help itself when nobody answers. So nothing here is worth
// repairing or waiting for: each call ends within fractions of a second, and any
// error means only that the asker does without.
//
// # States
//
// A request is posted, then taken by the writer, then done. The asker withdraws
// one that it does not wait for any longer; the writer gives one back that it
// cannot serve. Requests are numbered in the order in which they were posted, and
// taking takes all that there are, so what the writer begins after taking begins
// after each of them was posted.
//
// # File
//
// Unlike the index it has a rollback journal: there are no files besides the
// database that are mapped into memory (see package store about doors), and
// reading it changes no file, so whoever watches the folder is not woken by his
// own looking. Nothing is synced to the disk: after a power failure nobody waits.
package requests
