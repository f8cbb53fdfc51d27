package toolabi

// The functions of the workspace: the files of a run, below one directory that the operator chose. Every version that is
// written is kept as an artifact of the run, so that a run which is resumed elsewhere has its files.
const (
	// FuncWorkspaceRead reads a file. Read: what was read is recorded.
	FuncWorkspaceRead = "workspace_read"
	// FuncWorkspaceWrite writes a file whole. Effect: done again, it writes the same.
	FuncWorkspaceWrite = "workspace_write"
	// FuncWorkspaceList lists files and directories. Read.
	FuncWorkspaceList = "workspace_list"
	// FuncWorkspaceRemove removes a file. Effect.
	FuncWorkspaceRemove = "workspace_remove"
)

// Caps of the workspace.
const (
	// MaxWorkspacePath is how long a path may be, in bytes.
	MaxWorkspacePath = 1024
	// MaxWorkspacePart is how much is read at a time, in bytes, and how long a written Body may be.
	MaxWorkspacePart = 8 << 20
	// DefaultWorkspaceList is what a Limit of 0 means, MaxWorkspaceList the highest Limit.
	DefaultWorkspaceList = 100
	MaxWorkspaceList     = 1000
	// WorkspaceAbsent is the Expect of a file that must not be there.
	WorkspaceAbsent = "absent"
)

// WorkspaceReadRequest is the request of workspace_read.
//
// A Path is relative and has / between its parts. None of these is . or .. or empty, holds \ : < > " | ? * or a control
// character, has more than MaxWorkspaceName bytes, ends in a dot or a space, begins with WorkspaceTemp, or is a device of Windows
// such as NUL or com1.txt; see CheckWorkspacePath. Symbolic links are followed within the workspace only.
//
// Errors of all functions of the workspace: Invalid for what is no path; Denied when no workspace is granted, or not for
// writing, and for what leads out of it or is no regular file; NotFound; Unavailable when the directory cannot be used now.
// Errors besides: TooLarge for a Length over MaxWorkspacePart; Conflict, worth a retry, for a file that others keep changing.
type WorkspaceReadRequest struct {
	Path string `cbor:"1,keyasint"`
	// Offset is where to begin, in bytes; behind the end there is nothing.
	Offset uint64 `cbor:"2,keyasint,omitempty"`
	// Length is how much is wanted at most, in bytes; 0 means as much as there is, at most MaxWorkspacePart.
	Length uint64 `cbor:"3,keyasint,omitempty"`
}

// WorkspaceReadReply is the reply of workspace_read.
type WorkspaceReadReply struct {
	// Body is what was asked for, shorter at the end of the file.
	Body []byte `cbor:"1,keyasint,omitempty"`
	// Size is the length of the whole file, in bytes.
	Size uint64 `cbor:"2,keyasint,omitempty"`
	// Digest is the file's SHA-256, 64 lower-case hexadecimal digits, when all of it is in Body.
	Digest string `cbor:"3,keyasint,omitempty"`
}

// WorkspaceWriteRequest is the request of workspace_write. Directories are made as they are needed.
//
// Each version counts as an artifact of the run, once for the same bytes: at most MaxArtifacts, and together at most as many
// bytes as are granted for artifacts, or MaxArtifact where none are. A link is replaced, never written through, and so is a
// name of a file that has others. The file keeps its permissions.
//
// Errors besides: Conflict when the file is not as expected, and nothing was changed; NotFound for an Artifact that the run does
// not have; TooLarge when a cap is exceeded; Unavailable, worth a retry, when there is no space.
type WorkspaceWriteRequest struct {
	Path string `cbor:"1,keyasint"`
	// Body is what the file holds then, at most MaxWorkspacePart bytes.
	Body []byte `cbor:"2,keyasint,omitempty"`
	// Artifact is an artifact of the run that the file holds then, in place of Body.
	Artifact string `cbor:"3,keyasint,omitempty"`
	// Expect is the digest that the file must have, or WorkspaceAbsent; "" does not mind. A file that holds already what is to be
	// written is as expected.
	Expect string `cbor:"4,keyasint,omitempty"`
}

// WorkspaceWriteReply is the reply of workspace_write. The file survives a crash, and is never seen half written.
type WorkspaceWriteReply struct {
	// Path is the request's.
	Path string `cbor:"1,keyasint"`
	// Artifact is the version that was written, an artifact of the run: the SHA-256 of the file.
	Artifact string `cbor:"2,keyasint"`
	// Size is the file's length in bytes.
	Size uint64 `cbor:"3,keyasint,omitempty"`
}

// WorkspaceListRequest is the request of workspace_list.
type WorkspaceListRequest struct {
	// Dir is the directory to list, a Path; "" is the workspace itself. What is no directory is Denied.
	Dir string `cbor:"1,keyasint,omitempty"`
	// Recursive lists what is below its directories as well. Links to directories are listed and not followed.
	Recursive bool `cbor:"2,keyasint,omitempty"`
	// After begins behind this path: the last one of the answer before.
	After string `cbor:"3,keyasint,omitempty"`
	// Limit is how many are listed at most; 0 means DefaultWorkspaceList. Over MaxWorkspaceList it is Invalid.
	Limit uint32 `cbor:"4,keyasint,omitempty"`
}

// WorkspaceListReply is the reply of workspace_list.
type WorkspaceListReply struct {
	// Files are in the order of their paths' bytes. What has no Path that could be asked for is left out.
	Files []WorkspaceFile `cbor:"1,keyasint,omitempty"`
	// More says that there are others behind them.
	More bool `cbor:"2,keyasint,omitempty"`
}

// WorkspaceFile is one line of a list.
type WorkspaceFile struct {
	// Path is from the workspace on.
	Path string `cbor:"1,keyasint"`
	// Kind is "file", "dir", "link" or "other".
	Kind string `cbor:"2,keyasint"`
	// Size is a file's length in bytes.
	Size uint64 `cbor:"3,keyasint,omitempty"`
}

// WorkspaceRemoveRequest is the request of workspace_remove. Removing a file that is not there is fine; directories are not
// removed, and a link is removed itself, not what it leads to.
type WorkspaceRemoveRequest struct {
	Path string `cbor:"1,keyasint"`
}

// WorkspaceRemoveReply is the reply of workspace_remove.
type WorkspaceRemoveReply struct {
	// Path is the request's.
	Path string `cbor:"1,keyasint"`
}
