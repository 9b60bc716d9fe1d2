// Package query answers searchSessions, and searchEvents in its mode index, from
// one snapshot of the index: it reads the query's small grammar, asks the
// postings for rows, puts them together to sessions or events, ranks
// these, and cuts snippets for one page.
//
// # The ladder
//
// A session is placed by the best that it offers:
//
//	phrase   all words adjacent and in order in one message
//	and      all words in one message, then all words in the session
//	or       some of the words
//
// and inside a step by a score. All steps are answered, a lower one never above
// a higher one; the route names the highest that any session reached. Stop
// words count for the phrase only. Quoted phrases must be there in any case.
// Sorted by time there is no telling apart by rank, so only the highest group
// (all words; else some) is listed.
//
// # Lower rungs
//
// A word that nothing in the index holds is looked for further down, and the
// first rung on which a session is found, under the scope and all filters,
// counts for it alone:
//
//	prefix     words that begin with it
//	near       words one edit away
//	substring  words that contain it
//	far        words two edits away, if it has eight letters or more
//
// Those words come from the index's vocabulary (package vocabulary); that a word
// is held is asked of the index itself, and one that is held anywhere is never
// changed. Identifiers are taken whole, in their joined form, and by
// their parts. Words that are equally near and about equally common count
// together. Numbers, stop words, quoted text and scripts without spaces stay as
// they are. The route becomes typo+… or substring, and debug.repairedTerms tells
// the query as it was answered.
//
// # Events
//
// A search for events (events.go) asks for the same rows and puts those of one
// event together, of which there are several only when it is very long. An event
// stands on the ladder by what it holds itself, and quoted phrases, not: and the
// filters are held against it alone. Titles are no events. In one session
// nothing but that session decides the order.
//
// # Bounds
//
// For each word the newest rows are taken, up to a budget; rows outside the
// filters do not count against it. A word that meets its budget makes
// truncated.candidates true. Sorting by time, the events of one session, filters
// without text, quoted phrases and exclusions know no budget. Eight unknown words are looked for on
// lower rungs, and 128 words stand for one that they contain; more of them make
// truncated.candidates true, too.
package query
