package sdk

import "github.com/wrun-dev/wrun/toolabi"

// WorkspaceRead reads a file of the workspace, or a part of it. The module must Need toolabi.FuncWorkspaceRead.
//
// Errors are those of toolabi.WorkspaceReadRequest, and toolabi.Denied in a tool that declares itself Pure.
func WorkspaceRead(req toolabi.WorkspaceReadRequest) (toolabi.WorkspaceReadReply, error) {
	var reply toolabi.WorkspaceReadReply
	err := use(crossWorkspaceRead, req, &reply)
	return reply, err
}

// WorkspaceWrite writes a file of the workspace whole. The module must Need toolabi.FuncWorkspaceWrite.
//
// Errors are those of toolabi.WorkspaceWriteRequest, and toolabi.Denied in a tool that declares itself Pure or ReadOnly.
func WorkspaceWrite(req toolabi.WorkspaceWriteRequest) (toolabi.WorkspaceWriteReply, error) {
	var reply toolabi.WorkspaceWriteReply
	err := use(crossWorkspaceWrite, req, &reply)
	return reply, err
}

// WorkspaceList lists files of the workspace. The module must Need toolabi.FuncWorkspaceList.
//
// Errors are those of toolabi.WorkspaceReadRequest, and toolabi.Denied in a tool that declares itself Pure.
func WorkspaceList(req toolabi.WorkspaceListRequest) (toolabi.WorkspaceListReply, error) {
	var reply toolabi.WorkspaceListReply
	err := use(crossWorkspaceList, req, &reply)
	return reply, err
}

// WorkspaceRemove removes a file of the workspace. The module must Need toolabi.FuncWorkspaceRemove.
//
// Errors are those of toolabi.WorkspaceReadRequest, and toolabi.Denied in a tool that declares itself Pure or ReadOnly. A file
// that is not there is no error.
func WorkspaceRemove(path string) error {
	return use(crossWorkspaceRemove, toolabi.WorkspaceRemoveRequest{Path: path}, &toolabi.WorkspaceRemoveReply{})
}
