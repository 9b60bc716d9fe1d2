// Package postings is the inverted index of the text: which rows hold a term, and
// where in them.
//
// It is made of segments that never change. A segment covers a range of rows that no
// other segment of its stream reaches into; new rows come in a new segment, and
// neighbours are merged when there are many. A segment numbers its rows from the newest,
// so that a search for the newest reads the beginnings of lists only.
//
// # Format of a segment
//
// A segment is five files, cut into pages, and a root of some kilobytes:
//
//   - Terms: leaves of sorted terms, each with what it shares with the one before, how
//     many rows hold it and, for up to 128 rows, its list; else where its list is.
//   - Index: the first terms of the leaves, where the root would become too large.
//   - Rows: the row ids, as differences.
//   - Documents: the long lists in blocks of up to 128 rows. A block begins with how many it
//     has, its first row (as the distance to the block before), its last, and its lengths in
//     this and the next file, so that what is not wanted is passed over; then come the distances.
//   - Positions: how often each row of a block holds the term, and where.
//
// Distances, counts and positions are Rice codes (R. F. Rice, "Some Practical Universal Noiseless Coding
// Techniques", 1979) whose parameters are chosen for each block. In this way a term of a text
// takes about 14 bits, a third of what FTS5 needs, because nothing is
// rounded up to bytes.
//
// For each Latin letter and digit there is a list, without positions, of the rows that have
// a term beginning with it: the first letter of a word that is being typed.
//
// Marks, which filters look for, and joined forms of identifiers have no position.
//
// # Searching
//
// An expression is evaluated on a window of rows after the other, newest first, each
// part giving a set of bits. Windows grow, so that a search for a few rows does little
// and one for all rows has few steps.
package postings
