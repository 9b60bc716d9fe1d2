// Package store keeps the index: one SQLite database with sessions, their text
// in compressed blocks, and an FTS5 table of analysed terms. It is the only
// package that knows SQL.
//
// # Shape
//
// An event with searchable text is one or more rows of the contentless FTS
// table ft. Its columns hold terms that package analysis has already split, so
// the tokenizer only separates at spaces:
//
//	u  what a person typed      h  title, branch and project of a session
//	a  what the model said      x  joined identifiers and special words of u, a, h
//	t  tool calls and output    y  the same of t
//	                            m  marks: tool names and event types, as "=tool=bash"
//
// Rows of one session that were written together form a span; spans are small,
// are cached in memory, and tell the session, the kind and the length of any
// row without a query. Events themselves (header fields and text) lie in
// zstd-compressed blocks of some tens of kilobytes that are read for the hits
// of a page only.
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
