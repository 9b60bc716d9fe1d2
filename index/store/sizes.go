package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// PartSize is how large one part of the index is.
type PartSize struct {
	// Part is a table with its indexes.
	Part string `json:"part"`
	// Bytes is the size of the pages where SQLite was built with dbstat, else
	// of the values in them.
	Bytes int64 `json:"bytes"`
}

// Sizes is how large the parts of the index at a path are.
type Sizes struct {
	// Parts are the largest first. What is missing to Total is, without
	// dbstat, the indexes and the structure of the pages.
	Parts []PartSize `json:"parts"`
	// Free is unused pages, Total the whole database without its sidecars, in
	// bytes.
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
	// Exact says that the parts are whole pages.
	Exact bool `json:"exact"`
}

// Measure measures the parts of the index. It reads all of it.
func (r *Reader) Measure(ctx context.Context) (Sizes, error) {
	var out Sizes
	var page, pages, free int64
	err := r.db.QueryRowContext(ctx, `SELECT (SELECT page_size FROM pragma_page_size), (SELECT page_count FROM pragma_page_count), (SELECT freelist_count FROM pragma_freelist_count)`).
		Scan(&page, &pages, &free)
	if err != nil {
		return out, fmt.Errorf("measure the index: %w", err)
	}
	out.Total, out.Free = page*pages, page*free
	parts := map[string]int64{}
	out.Exact = true
	// https://sqlite.org/dbstat.html; a build without it knows no such table.
	err = r.sum(ctx, parts, `SELECT coalesce((SELECT tbl_name FROM sqlite_schema WHERE name = dbstat.name), name), sum(pgsize) FROM dbstat WHERE aggregate = TRUE GROUP BY 1`)
	if err != nil && strings.Contains(err.Error(), "no such table: dbstat") {
		out.Exact = false
		err = r.sumValues(ctx, parts)
	}
	if err != nil {
		return out, fmt.Errorf("measure the index: %w", err)
	}
	for part, n := range parts {
		out.Parts = append(out.Parts, PartSize{part, n})
	}
	slices.SortFunc(out.Parts, func(a, b PartSize) int {
		if a.Bytes != b.Bytes {
			return int(max(-1, min(1, b.Bytes-a.Bytes)))
		}
		return strings.Compare(a.Part, b.Part)
	})
	return out, nil
}

// sum adds the rows of a query, name and bytes, to the parts they belong to.
func (r *Reader) sum(ctx context.Context, parts map[string]int64, query string) error {
	rows, err := r.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return err
		}
		parts[name] += n
	}
	return rows.Err()
}

// sumValues measures every table by the sizes of the values in it.
func (r *Reader) sumValues(ctx context.Context, parts map[string]int64) error {
	rows, err := r.db.QueryContext(ctx, `SELECT s.name, group_concat('coalesce(octet_length("' || c.name || '"),0)', '+')
		FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = 'table' AND s.rootpage > 0 GROUP BY s.name`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var queries []string
	for rows.Next() {
		var name, columns string
		if err := rows.Scan(&name, &columns); err != nil {
			return err
		}
		queries = append(queries, fmt.Sprintf(`SELECT '%s', coalesce(sum(%s),0) FROM "%s"`, name, columns, name))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return r.sum(ctx, parts, strings.Join(queries, " UNION ALL "))
}
