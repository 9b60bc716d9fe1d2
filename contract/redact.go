package contract

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// Transport is how far an answer travels. It is known from the connection,
// never from the request.
type Transport string

// TransportLocal stays on this machine; TransportRemote leaves it (or came
// from another one).
const (
	TransportLocal  Transport = "local"
	TransportRemote Transport = "remote"
)

type transportKey struct{}

// WithTransport is the context of what is asked over a connection of that
// transport. Who serves the connection sets it.
func WithTransport(ctx context.Context, transport Transport) context.Context {
	return context.WithValue(ctx, transportKey{}, transport)
}

// TransportOf is the transport of the connection that a request came over;
// [TransportLocal] for one that came over none.
func TransportOf(ctx context.Context) Transport {
	if transport, ok := ctx.Value(transportKey{}).(Transport); ok {
		return transport
	}
	return TransportLocal
}

// UnverifiedRoot is the reason a remote host sees for every degraded root.
const UnverifiedRoot = "Source root could not be verified."

// Redact is the hit as it may travel: a remote one has no paths of the
// transcript and no resume command; a local one keeps its resume command only
// while the transcript is present. Sender and receiver both apply it, twice is
// the same as once. Anything but [TransportLocal] counts as remote.
func Redact(hit Hit, transport Transport) Hit {
	if hit.Source.Presence != PresencePresent {
		hit.ResumeCommand = ""
	}
	if transport == TransportLocal {
		return hit
	}
	hit.Source = Source{Presence: hit.Source.Presence}
	hit.ResumeCommand = ""
	hit.ParentSessionID = redactParent(hit.ParentSessionID)
	return hit
}

// RedactResponse applies [Redact] to every hit of an answer. The answer given
// is not changed.
func RedactResponse(response SearchSessionsResponse, transport Transport) SearchSessionsResponse {
	if response.Results == nil {
		return response
	}
	results := *response.Results
	results.Hits = slices.Clone(results.Hits)
	for i, hit := range results.Hits {
		results.Hits[i] = Redact(hit, transport)
	}
	response.Results = &results
	return response
}

// RedactStatus is the status as it may travel: a remote one names no folder,
// every degraded root keeps its place but only the reason [UnverifiedRoot]. The
// status given is not changed.
func RedactStatus(status Status, transport Transport) Status {
	status.Agents = slices.Clone(status.Agents)
	if transport == TransportLocal {
		for i := range status.Agents {
			if status.Agents[i].Roots == nil {
				status.Agents[i].Roots = []string{}
			}
		}
		return status
	}
	for i := range status.Agents {
		status.Agents[i].Roots = nil
	}
	status.DegradedRoots = slices.Clone(status.DegradedRoots)
	for i := range status.DegradedRoots {
		status.DegradedRoots[i] = DegradedRoot{Reason: UnverifiedRoot}
	}
	return status
}

// RedactHeader is the header as it may travel: a remote one has no path of the
// transcript, and of paths in the parent and the warnings only base names. The
// header given is not changed.
func RedactHeader(header Header, transport Transport) Header {
	if transport == TransportLocal {
		return header
	}
	header.SourcePath = ""
	header.ParentSessionID = redactParent(header.ParentSessionID)
	header.Warnings = slices.Clone(header.Warnings)
	for i, warning := range header.Warnings {
		header.Warnings[i] = redactPaths(warning)
	}
	return header
}

// redactParent keeps of a parent that is a path its base name.
func redactParent(parent *string) *string {
	if parent == nil {
		return nil
	}
	name := baseName(*parent)
	return &name
}

// pathPattern finds paths in a sentence: quoted ones whole, since they may hold
// spaces, and any word with a separator in it.
var pathPattern = regexp.MustCompile(`"[^"]*[/\\][^"]*"|'[^']*[/\\][^']*'|[^\s"']*[/\\][^\s"']*`)

func redactPaths(text string) string {
	return pathPattern.ReplaceAllStringFunc(text, func(path string) string {
		if quote := path[:1]; quote == `"` || quote == `'` {
			return quote + baseName(strings.Trim(path, quote)) + quote
		}
		return baseName(path)
	})
}

// baseName is what follows the last separator of either kind, trailing ones
// aside.
func baseName(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
