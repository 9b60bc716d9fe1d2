package remote

import "time"

// Impatient shortens the waits that tests would have to sit through.
func Impatient(o Options, start, quiet, probe time.Duration) Options {
	o.startTimeout, o.quiet, o.probeTimeout = start, quiet, probe
	return o
}

// Connected counts the hosts that are connected.
func Connected(h *Hosts) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, l := range h.lines {
		if l.conn != nil {
			n++
		}
	}
	return n
}
