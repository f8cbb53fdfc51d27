package jq

import (
	"regexp"
	"strings"
)

// refused are the functions of jq that look at the world or give different values at different times, and what one does
// instead wherever the expression is written. An expression must give the same value whenever it is evaluated, wherever.
var refused = map[string]string{
	"now":               "",
	"localtime":         "it depends on the machine; use gmtime",
	"strflocaltime":     "it depends on the machine; use strftime",
	"env":               "",
	"$ENV":              "",
	"input":             "the input is .input",
	"inputs":            "the input is .input",
	"input_filename":    "",
	"input_line_number": "",
	"debug":             "",
	"stderr":            "",
	"halt":              "",
	"halt_error":        `use error("…")`,
	"builtins":          "",
	"modulemeta":        "",
	"get_search_list":   "",
}

// zoneName finds the verbs that look the name of a time zone up, perhaps with flags.
var zoneName = regexp.MustCompile(`%[^A-Za-z+]*[EO:]*[Z+]`)

// refusal says why an expression must not use the function, or "".
func (at Place) refusal(name string, constant func(i int) (string, bool)) string {
	if hint, no := refused[name]; no {
		if own := at.Hints[name]; own != "" {
			hint = own
		}
		if hint != "" {
			hint = ": " + hint
		}
		return name + " is not available in " + at.Name + hint
	}
	if name == "strptime" {
		if format, ok := constant(0); !ok || zoneName.MatchString(format) {
			return "strptime is only available with a constant format without %Z and %+: names of zones depend on the machine"
		}
	}
	if strings.HasPrefix(name, "_") {
		return name + " is internal to the interpreter"
	}
	return ""
}
