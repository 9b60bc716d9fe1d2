package claude

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// member is one file of a family of copies.
type member struct {
	id   string
	key  string // of the scan, for caches
	path string
	*scan
}

// family collects the files that share first records with p, directly or by
// way of each other; p comes first, the others by name. All members see the
// same family, and so agree on who owns what.
func (c *familyCache) family(ctx context.Context, p place, id string) ([]*member, error) {
	dir := filepath.Dir(p.path)
	seen := map[string]bool{filepath.Base(p.path): true}
	queue := []string{filepath.Base(p.path)}
	var out []*member
	for len(queue) > 0 && len(out) < maxRelatives {
		o := placeOf(filepath.Join(dir, queue[0]))
		queue = queue[1:]
		s, key, err := c.scan(ctx, o.path)
		if err != nil {
			if ctx.Err() != nil || len(out) == 0 {
				return nil, err
			}
			continue // unreadable or gone: it can own nothing
		}
		m := &member{id: id, key: key, path: o.path, scan: s}
		if len(out) > 0 {
			if m.id = o.session; m.id == "" {
				m.id = s.session
			}
			if m.id == "" {
				m.id = o.stem
			}
			if m.id == id || o.copied {
				continue // a copy of this file, not of its conversation
			}
		}
		out = append(out, m)
		for _, name := range c.relatives(o.path, s.head) {
			if !seen[name] {
				seen[name] = true
				queue = append(queue, name)
			}
		}
	}
	slices.SortFunc(out[1:], func(a, b *member) int { return strings.Compare(a.id, b.id) })
	return out, nil
}

// rank orders a family so that originals precede their copies. Two files are
// compared on facts that appending does not change, so that never both count
// as the other's copy; should the comparisons of several form a circle, it is
// opened at the file with most in favour, the same way for every member.
func (c *familyCache) rank(family []*member) map[string]int {
	all := slices.Clone(family)
	slices.SortFunc(all, func(a, b *member) int { return strings.Compare(a.id, b.id) })
	var key strings.Builder
	for _, m := range all {
		key.WriteString(m.key + "\x00")
	}
	c.mu.Lock()
	rank := c.ranks[key.String()]
	c.mu.Unlock()
	if rank != nil {
		return rank
	}
	wins := make([][]bool, len(all))
	for i := range all {
		wins[i] = make([]bool, len(all))
	}
	for i, a := range all {
		for j := range i {
			b := all[j]
			switch d := relate(a, b); {
			case d < 0:
				wins[i][j] = true
			case d > 0:
				wins[j][i] = true
			}
		}
	}
	rank = make(map[string]int, len(all))
	left := make([]int, len(all))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		best, bestLost, bestWon := 0, len(all)+1, -1
		for k, i := range left {
			lost, won := 0, 0
			for _, j := range left {
				if wins[j][i] {
					lost++
				}
				if wins[i][j] {
					won++
				}
			}
			if lost < bestLost || lost == bestLost && won > bestWon {
				best, bestLost, bestWon = k, lost, won
			}
		}
		rank[all[left[best]].id] = len(rank)
		left = slices.Delete(left, best, best+1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ranks) >= maxRanks || c.ranks == nil {
		c.ranks = map[string]map[string]int{}
	}
	c.ranks[key.String()] = rank
	return rank
}

// leading is how many of m's first records are copies of o's: up to the last
// common one before m's first own turn.
func (m *member) leading(o *member) int {
	n := 0
	for i, k := range m.all {
		if _, ok := o.index[k]; ok {
			n = i + 1
		} else if m.turns[i] {
			break
		}
	}
	return n
}

// relate is negative when a is the original and b the copy, positive the other
// way round, 0 when they have nothing in common.
func relate(a, b *member) int {
	firstA, gapsA, common := divergence(a, b)
	if !common {
		return 0
	}
	firstB, gapsB, _ := divergence(b, a)
	yes := func(original bool) int {
		if original {
			return -1
		}
		return 1
	}
	// The copy says so itself.
	if a.forked != b.forked {
		return yes(b.forked)
	}
	// Copied records kept the session id they were written under.
	if aNamed, bNamed := b.session == a.id && a.session != b.id, a.session == b.id && b.session != a.id; aNamed != bNamed {
		return yes(aNamed)
	}
	// A background process copied; only its records are stamped so.
	if a.bg != b.bg {
		return yes(b.bg)
	}
	// Records without uuid, side branches and progress are not copied: only the
	// original has something between the common ones.
	if (gapsA > 0) != (gapsB > 0) {
		return yes(gapsA > 0)
	}
	// A copy is made of all there is, so the original goes on later or not at all.
	if firstA != firstB {
		return yes(firstA == 0 || firstB != 0 && firstA > firstB)
	}
	return strings.Compare(a.id, b.id)
}

// divergence returns the time of a's first record after those it has in common
// with b (0: none), and how many records lie between the common ones that b
// lacks.
func divergence(a, b *member) (first int64, gaps int, common bool) {
	start, end, n := -1, -1, 0
	for i, k := range a.all {
		if _, ok := b.index[k]; !ok {
			continue
		}
		if start < 0 {
			start = i
		}
		end = i
		n++
	}
	if start < 0 {
		return 0, 0, false
	}
	if end+1 < len(a.all) {
		first = max(a.times[end+1], 1)
	}
	return first, end + 1 - start - n + int(a.gaps[end]-a.gaps[start]), true
}
