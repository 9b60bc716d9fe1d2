package contract

import (
	"net/url"
	"strconv"
	"strings"
)

// DocumentScheme is the scheme of virtual documents.
const DocumentScheme = "sessionls"

const documentPrefix = DocumentScheme + "://session/"

// DocumentURI is the name of the virtual document in which an editor shows a
// session: sessionls://session/<host>/<agent>/<sessionId>.md, each segment
// percent-encoded to [A-Za-z0-9._~-] (contract §10).
func DocumentURI(host Host, agent, sessionID string) string {
	if host == "" {
		host = LocalHost
	}
	return documentPrefix + segment(string(host)) + "/" + segment(agent) + "/" + segment(sessionID) + ".md"
}

func segment(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '~', c == '-':
			b.WriteByte(c)
		default:
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// ParseDocumentURI reads the name of a virtual document. Editors write the same
// name with more or fewer escapes; a fragment is the position of an event that
// a link points to, -1 if there is none.
func ParseDocumentURI(uri string) (host Host, name SessionName, seq int64, err error) {
	refused := InvalidParams("uri", "want "+documentPrefix+"<host>/<agent>/<sessionId>.md, got %s", quote(uri))
	base, fragment, linked := strings.Cut(uri, "#")
	seq = -1
	if linked {
		if seq, err = strconv.ParseInt(fragment, 10, 64); err != nil || seq < 0 {
			return "", SessionName{}, 0, refused
		}
	}
	rest, ok := strings.CutPrefix(base, documentPrefix)
	if !ok || !strings.HasSuffix(rest, ".md") {
		return "", SessionName{}, 0, refused
	}
	parts := strings.Split(strings.TrimSuffix(rest, ".md"), "/")
	if len(parts) != 3 {
		return "", SessionName{}, 0, refused
	}
	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil || parts[i] == "" {
			return "", SessionName{}, 0, refused
		}
	}
	if host, ok = ParseHost(parts[0]); !ok {
		return "", SessionName{}, 0, refused
	}
	return host, SessionName{Agent: parts[1], SessionID: parts[2]}, seq, nil
}
