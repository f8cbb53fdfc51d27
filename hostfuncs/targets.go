package hostfuncs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wrun-dev/wrun/toolabi"
)

// CheckTargets says what is wrong with the targets of a capability, or nil. What could not be granted cannot be asked for: each
// target of the http functions is read as ParseHTTPGrant reads grants. Those of tool_call are the manifest's own to judge.
func CheckTargets(c toolabi.Capability) error {
	if c.Targets != nil && len(c.Targets) == 0 {
		return fmt.Errorf("capability %s: a list of targets with nothing in it: leave it out for whatever is granted", c.Name)
	}
	check := targetCheck(c.Name)
	for _, t := range c.Targets {
		if err := check(t); err != nil {
			return fmt.Errorf("capability %s: target %q: %w", c.Name, toolabi.CleanLine(t, 80), err)
		}
	}
	return nil
}

func targetCheck(function string) func(string) error {
	switch function {
	case toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend:
		return func(t string) error { return checkHTTPTarget(function, t) }
	case toolabi.FuncSecretHas, toolabi.FuncConfigGet:
		return func(t string) error {
			if !toolabi.IsSecretName(t) {
				return errors.New("want a name of lower-case letters, digits, and inner hyphens and underscores, at most 64")
			}
			return nil
		}
	case toolabi.FuncKVGet, toolabi.FuncKVPut, toolabi.FuncKVCAS, toolabi.FuncKVDelete, toolabi.FuncKVList:
		return func(t string) error {
			if !toolabi.IsStoreName(t) {
				return errors.New("want a store's name of lower-case letters, digits and inner hyphens, at most 64")
			}
			return nil
		}
	case toolabi.FuncMailSend:
		return checkMailTarget
	case toolabi.FuncToolCall:
		return func(string) error { return nil }
	}
	return func(string) error { return errors.New("this function has no targets") }
}

func checkHTTPTarget(function, t string) error {
	g, err := ParseHTTPGrant(t)
	if err != nil {
		return err
	}
	may := maySend
	if function == toolabi.FuncHTTPFetch {
		may = mayFetch
	}
	if len(g.Methods) > 0 && !slices.ContainsFunc(g.Methods, may) {
		return fmt.Errorf("none of its methods is one of %s", function)
	}
	return nil
}

// checkMailTarget judges an address, or a domain with an @ before it.
func checkMailTarget(t string) error {
	to, err := ParseMailTo(t)
	switch {
	case err != nil:
		return err
	case to == "*":
		return errors.New("name whom: an address, or @example.com for all of a domain")
	}
	return nil
}
