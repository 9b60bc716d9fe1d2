// Package store keeps the index: one SQLite database with sessions, their text
// in compressed blocks, and the postings of its terms. It is the only
// package that knows SQL.
//
// # Shape
//
// An event with searchable text is one or more rows of two streams: talk has what
// people and models said and the sessions' titles, tool has calls and output. They are apart
// because talk is a tenth of the text and most of what is looked for; a common word's
// list there is short. A row with both kinds of text has the same id in both.
//
// The terms that package analysis has split are kept in segments of package postings, whose
// pages are rows of a table of each stream; new rows are gathered in memory and written as a
// segment when the transaction ends, and neighbours of like size are merged after it (segments.go).
// SQLite's own FTS5 was used before: its lists take three times the room, because
// each number takes whole bytes, and half as much time again.
//
// After the terms of the text come its side terms (joined identifiers, special words) and the
// row's marks (tool names and event types, as "=tool=bash"), which have no position. A gap
// between pieces keeps phrases from spanning two of them.
//
// Rows of one session that were written together form a span; spans are small,
// are cached in memory, and tell the session, the kind and the length of any
// row without a query. A row without a span is gone: searches pass over it, and the next merge
// of its segment leaves it out. Events themselves (header fields and text) lie in
// zstd-compressed blocks of some tens of kilobytes that are read for the hits
// of a page only.
//
// A text of a kilobyte or more that is in another block already (the same file read
// twice, a prompt that begins hundreds of sessions) is not stored again: the part of the
// event has the id of a body instead, and table body says in which block and where in it
// the text lies (bodies.go, sharing.go). Table seen finds a text by its hash; table borrowed has
// which sessions refer to what is not their own. When a session goes, what others have of it
// moves into a block of no session, and goes when the last of them does. Postings are
// each session's own.
//
// All distinct words of the index stand in the vocabulary, chunks of which each
// transaction writes (words.go, package vocabulary); a search for a word that
// no row has looks through them for others.
//
// Row ids mean recency: a bulk build goes newest session first and takes blocks
// of ids downwards from 2^40, ascending inside a block; what is appended later goes
// upwards from there. No id is used twice, so that segments never overlap.
//
// A large build goes through older transcripts twice. TalkFirst leaves the tools' text out, so that
// what was said in all sessions is found early; its rows lie below 2^39, behind all others, until
// Bulk has read the session whole and dropped them. The source says by its version that it is to be
// read again, so a build that was stopped in between is taken up. Which spans were dropped is logged
// (unspan), so that readers need not read all of them again.
//
// # Generation
//
// Every change that an answer could show moves the generation, in the same
// transaction. The identity is minted with the file and never changes.
package store
