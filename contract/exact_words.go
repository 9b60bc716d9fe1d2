package contract

// SessionSort is the order of listSessions, newest first. Ties go by agent and
// then by session id, both bytewise.
type SessionSort string

// SessionSortCreated, the default, goes by createdAt.
const (
	SessionSortCreated SessionSort = "createdAt"
	SessionSortUpdated SessionSort = "updatedAt"
)

// ToolView is how renderTranscript shows calls of tools and their output.
type ToolView string

// ToolsFold, the default, shows the beginning and says how much more there is;
// ToolsFull shows all; ToolsNone leaves tools out.
const (
	ToolsFold ToolView = "fold"
	ToolsFull ToolView = "full"
	ToolsNone ToolView = "none"
)

// Shell is the kind of shell that a command is quoted for.
type Shell string

// The shells of resumePlan. ShellPosix, the default, is sh, bash, zsh and the
// like.
const (
	ShellPosix      Shell = "posix"
	ShellFish       Shell = "fish"
	ShellCmd        Shell = "cmd"
	ShellPowerShell Shell = "powershell"
)

// TitleStatus tells the results of readTitles apart.
type TitleStatus string

// The values of [TitleResult] Status.
const (
	TitleFulfilled TitleStatus = "fulfilled"
	TitleRejected  TitleStatus = "rejected"
)

// ResumeWarningCode names what stands against continuing a session.
type ResumeWarningCode string

// The codes of [ResumeWarning].
const (
	// WarnNoCommand: the agent has no command line that continues a session.
	WarnNoCommand ResumeWarningCode = "no-command"
	// WarnUnsafeID: the id holds control characters or begins with a dash.
	WarnUnsafeID ResumeWarningCode = "unsafe-id"
	// WarnUnsafeShell: the shell has no safe way to write the command.
	WarnUnsafeShell ResumeWarningCode = "unsafe-shell"
	// WarnSubagent: the command continues the session that started this one.
	WarnSubagent ResumeWarningCode = "subagent"
	// WarnNoBinary: the agent's program is not on the PATH.
	WarnNoBinary ResumeWarningCode = "no-binary"
	// WarnNoDirectory: the folder is unknown, or is not there any more.
	WarnNoDirectory ResumeWarningCode = "no-directory"
	// WarnNoTranscript: the transcript is gone or cannot be reached, and the
	// agent will not find the session.
	WarnNoTranscript ResumeWarningCode = "no-transcript"
	// WarnActive: the transcript grew in the last two minutes; the session may
	// be open elsewhere.
	WarnActive ResumeWarningCode = "active"
)
