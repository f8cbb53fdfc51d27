package toolabi

// Function is one host function as a module sees it: an import of ImportModule of the shape (req_ptr, req_len i32) -> i64.
// A result of 0 or more is the length of the reply kept for result_read; a negative one is minus the length of an Error
// kept there.
type Function struct {
	// Name is the import's name.
	Name string
	// Class is the strongest class the function has; a tool's declared idempotency may weaken it.
	Class Class
	// Capability says that a module which imports it must ask for it in its manifest.
	Capability bool
}

// Functions lists every host function of ABI 1, in the order of docs/abi.md.
var Functions = []Function{
	{Name: FuncLog, Class: Free},
	{Name: FuncProgress, Class: Free},
	{Name: FuncClock, Class: Read},
	{Name: FuncRandom, Class: Read},
	{Name: FuncHTTPFetch, Class: Read, Capability: true},
	{Name: FuncHTTPSend, Class: Once, Capability: true},
	{Name: FuncApprove, Class: Wait},
	{Name: FuncSleep, Class: Wait},
	{Name: FuncToolCall, Class: Call, Capability: true},
	{Name: FuncSecretHas, Class: Read, Capability: true},
	{Name: FuncConfigGet, Class: Read, Capability: true},
	{Name: FuncKVGet, Class: Read, Capability: true},
	{Name: FuncKVPut, Class: Local, Capability: true},
	{Name: FuncKVCAS, Class: Local, Capability: true},
	{Name: FuncKVDelete, Class: Local, Capability: true},
	{Name: FuncKVList, Class: Read, Capability: true},
	{Name: FuncArtifactPut, Class: Effect, Capability: true},
	{Name: FuncArtifactGet, Class: Read, Capability: true},
	{Name: FuncArtifactStat, Class: Read, Capability: true},
	{Name: FuncWorkspaceRead, Class: Read, Capability: true},
	{Name: FuncWorkspaceWrite, Class: Effect, Capability: true},
	{Name: FuncWorkspaceList, Class: Read, Capability: true},
	{Name: FuncWorkspaceRemove, Class: Effect, Capability: true},
	{Name: FuncMailSend, Class: Once, Capability: true},
}

// FunctionByName finds a host function.
func FunctionByName(name string) (Function, bool) {
	for _, f := range Functions {
		if f.Name == name {
			return f, true
		}
	}
	return Function{}, false
}
