// Package analysis turns text into search terms, for the index and for queries alike.
//
// A text becomes two streams. The main stream is an ordered list of terms whose ordinals are
// their positions, so a phrase is a run of consecutive terms:
//
//   - Words of alphabetic scripts, lower-cased, without diacritics, in one normal form. Identifiers
//     are split where their case changes and at every character that is neither letter nor digit:
//     resolveTerminalPath, resolve_terminal_path and resolve-terminal-path are the same three terms.
//     Letters and digits stay together (utf8, E0308); where they begin a dotted number, the letters and
//     the digits follow once more, each alone (go1.26: go1 go 1 26), so that the number is found without the name.
//   - Runs of scripts written without spaces (Han, kana, Hangul, Thai, Lao, Khmer, Myanmar and a
//     few more) as overlapping pairs of characters followed by the last character alone, so that
//     the term at position p begins with character p, n characters are a phrase of n-1 pairs, and one
//     character is a prefix.
//   - Emoji, one term each.
//
// The side stream holds terms without meaningful positions: the joined form of every identifier
// of several parts (resolveterminalpath) and the few names that are made of punctuation (c++, .net).
//
// A term is valid UTF-8 of 1 to [MaxTerm] bytes and never contains a space, a double quote or a
// control character, so terms joined by single spaces can be given to a tokenizer that splits at
// spaces, and quoted in a query without escaping.
//
// Index and query must be analysed by the same version of this package; a change that alters
// terms must raise [Version].
package analysis

// Version names the set of rules by which text becomes terms. An index written under another
// version cannot be queried with this one.
const Version = 2

// MaxTerm is the longest term in bytes. Longer ones are cut at a rune boundary, in texts and queries alike.
const MaxTerm = 64
