package sdk

import "github.com/wrun-dev/wrun/toolabi"

// LookupInput is the In of a tool that another one names as its Lookup.
type LookupInput = toolabi.LookupInput

// LookupOutput is the Out of a tool that another one names as its Lookup. Its Verdict is one of the constants of toolabi,
// such as toolabi.VerdictHappened.
type LookupOutput = toolabi.LookupOutput

// CompensateInput is the In of a tool that another one names as its Compensate.
type CompensateInput = toolabi.CompensateInput
