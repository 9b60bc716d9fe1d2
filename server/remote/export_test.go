package remote

import "time"

// Impatient shortens the waits that tests would have to sit through.
func Impatient(o Options, start, quiet, probe time.Duration) Options {
	o.startTimeout, o.quiet, o.probeTimeout = start, quiet, probe
	return o
}

// Lingering has connections that nobody waits for be made for so long.
func Lingering(o Options, linger time.Duration) Options {
	o.linger = linger
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

// Lines counts the hosts that are connected, or about to be.
func Lines(h *Hosts) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.lines)
}
