// Package store keeps the index: one SQLite database with sessions, their text
// in compressed blocks, and an FTS5 table of analysed terms. It is the only
// package that knows SQL.
//
// # Shape
//
// An event with searchable text is one or more rows of two contentless FTS
// tables: talk has what people and models said and the sessions' titles, tool
// has calls and output. They are apart because talk is a tenth of the text and
// most of what is looked for; a common word's list there is short. A row with
// both kinds of text has the same id in both.
//
// The one column holds terms that package analysis has already split, so the
// tokenizer only separates at spaces. After the terms of the text come its side
// terms (joined identifiers, special words) and the row's marks (tool names and
// event types, as "=tool=bash"). A gap term between pieces keeps phrases from
// spanning two of them. No query needs a column filter, which would make FTS5
// decode every position list it passes.
//
// Rows of one session that were written together form a span; spans are small,
// are cached in memory, and tell the session, the kind and the length of any
// row without a query. Events themselves (header fields and text) lie in
// zstd-compressed blocks of some tens of kilobytes that are read for the hits
// of a page only.
//
// All distinct words of the index stand in the vocabulary, chunks of which each
// transaction writes (words.go, package vocabulary); a search for a word that
// no row has looks through them for others.
//
// Row ids mean recency: a bulk build goes newest session first and takes blocks
// of ids downwards from 2^40, ascending inside a block, as FTS5 wants it; what
// is appended later goes upwards from there.
//
// # Generation
//
// Every change that an answer could show moves the generation, in the same
// transaction. The identity is minted with the file and never changes.
package store
