// Package corpus invents libraries of coding-agent sessions whose contents are
// known: transcripts as five agents write them, with planted texts ("needles")
// and what a person would type to find each of them. The benches measure on
// them, so that a figure can be had again from a seed.
//
// The text is as varied as can be invented cheaply: words follow Zipf's law,
// every session has words of its own, files of a project are read again and
// again, and most of the bytes are tool output, some of it very long. One
// session in eight is partly Chinese, Japanese or Korean.
//
// The same configuration gives the same bytes; on another processor a word may
// differ here and there, as floating-point numbers do.
package corpus
