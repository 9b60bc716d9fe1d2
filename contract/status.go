package contract

// Status is what the indexer has observed. The status notification carries the
// same object. Times are epoch milliseconds.
type Status struct {
	Enabled bool `json:"enabled"`
	// Decided is false until the user has said yes or no.
	Decided      bool  `json:"decided"`
	Phase        Phase `json:"phase"`
	FilesIndexed int   `json:"filesIndexed"`
	// FilesDue counts discovered files that were never read, too.
	FilesDue      int                `json:"filesDue"`
	FilesFailed   int                `json:"filesFailed"`
	DegradedRoots List[DegradedRoot] `json:"degradedRoots"`
	// LastReconcileAt and LastSweepCompletedAt are nil for never.
	LastReconcileAt      *int64 `json:"lastReconcileAt"`
	LastSweepCompletedAt *int64 `json:"lastSweepCompletedAt"`
	Generation           int64  `json:"generation"`
	// Identity is "" while there is no index.
	Identity string `json:"identity"`
	Sessions int    `json:"sessions"`
	Events   int64  `json:"events"`
	// IndexBytes is the size of the database and its sidecars.
	IndexBytes int64 `json:"indexBytes"`
	// Progress is there while files are being read.
	Progress *Progress         `json:"progress,omitzero"`
	Agents   List[AgentStatus] `json:"agents"`
	Writer   Writer            `json:"writer"`
	// Notices tell people of what is slower than it should be, in sentences
	// without paths.
	Notices []string `json:"notices,omitempty"`
}

// SearchStatusResponse is the answer of searchStatus.
type SearchStatusResponse = Status

// DegradedRoot is a folder of transcripts that could not be verified. Root is
// withheld from remote hosts.
type DegradedRoot struct {
	Root   string `json:"root,omitzero"`
	Reason string `json:"reason"`
}

// Progress is how far the present pass is.
type Progress struct {
	BytesDone  int64 `json:"bytesDone"`
	BytesTotal int64 `json:"bytesTotal"`
	FilesDone  int   `json:"filesDone"`
	FilesTotal int   `json:"filesTotal"`
}

// AgentStatus is one agent's share of the index.
type AgentStatus struct {
	Agent string `json:"agent"`
	// Label is the agent's name for people.
	Label string `json:"label"`
	// Roots are the folders that were looked in. Nil is absent on the wire,
	// which is how [RedactStatus] withholds them.
	Roots    []string `json:"roots,omitzero"`
	Sessions int      `json:"sessions"`
	Events   int64    `json:"events"`
	// Failed counts files that could not be read.
	Failed int `json:"failed"`
}

// IdleStatus is the status of a service that is undecided, disabled or absent:
// phase idle, every count and the generation 0, no times.
func IdleStatus(decided bool) Status {
	return Status{Decided: decided, Phase: PhaseIdle, Writer: WriterNone}
}
