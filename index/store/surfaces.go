package store

import (
	"encoding/binary"

	"github.com/sessionls/sessionls/index/transcript"
)

// surfaces keeps the surface of every event of a session as runs: most
// sessions need a few dozen bytes, and shadowing a range rewrites no block.
type surfaces struct {
	runs []run
}

type run struct {
	from int
	s    transcript.Surface
}

var surfaceCodes = []transcript.Surface{transcript.Current, transcript.Shadowed, transcript.LogOnly}

func surfaceCode(s transcript.Surface) byte {
	for i, x := range surfaceCodes {
		if x == s {
			return byte(i)
		}
	}
	return 2
}

// add sets the surface of the next event in order.
func (s *surfaces) add(seq int, to transcript.Surface) {
	if n := len(s.runs); n > 0 && s.runs[n-1].s == to {
		return
	}
	s.runs = append(s.runs, run{seq, to})
}

// set changes the surface of events [from, to); end is the number of events.
func (s *surfaces) set(from, to, end int, v transcript.Surface) {
	if from >= to {
		return
	}
	after := s.at(to)
	out := make([]run, 0, len(s.runs)+2)
	add := func(r run) {
		if n := len(out); n > 0 && out[n-1].s == r.s {
			return
		}
		out = append(out, r)
	}
	for _, r := range s.runs {
		if r.from < from {
			add(r)
		}
	}
	add(run{from, v})
	if to < end {
		add(run{to, after})
	}
	for _, r := range s.runs {
		if r.from > to {
			add(r)
		}
	}
	s.runs = out
}

func (s *surfaces) at(seq int) transcript.Surface {
	lo, hi := 0, len(s.runs)
	for lo < hi {
		m := (lo + hi) / 2
		if s.runs[m].from <= seq {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 {
		return transcript.LogOnly
	}
	return s.runs[lo-1].s
}

func (s *surfaces) encode() []byte {
	var b []byte
	prev := 0
	for _, r := range s.runs {
		b = binary.AppendUvarint(b, uint64(r.from-prev)<<2|uint64(surfaceCode(r.s)))
		prev = r.from
	}
	return b
}

func decodeSurfaces(b []byte) surfaces {
	var s surfaces
	at := 0
	for len(b) > 0 {
		u, n := binary.Uvarint(b)
		if n <= 0 {
			break
		}
		b = b[n:]
		at += int(u >> 2)
		s.runs = append(s.runs, run{at, surfaceCodes[min(int(u&3), 2)]})
	}
	return s
}
