// Package vocabulary keeps the distinct words of an index in memory, where all
// of them can be looked through in milliseconds: which are spelt almost like a
// given word, and which contain it.
//
// Words come in chunks, one for what a transaction added. In a chunk they are
// grouped by length, so that a search passes over lengths that cannot match
// and the words of one length need nothing between them. A [Vocabulary] is a
// list of chunks; a word may stand in several of them.
//
// A vocabulary only proposes. It may hold words that the index has dropped
// meanwhile, so whether a word is there is for the index to say.
package vocabulary
