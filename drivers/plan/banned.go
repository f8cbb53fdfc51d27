package plan

import (
	"regexp"
	"strings"
)

// banned are the functions of jq that look at the world or give different values at different times, and what a plan
// that wants them does instead. An expression must give the same value whenever its run is resumed, wherever.
var banned = map[string]string{
	"now":               "take the time from the input, or from a tool",
	"localtime":         "it depends on the machine; use gmtime",
	"strflocaltime":     "it depends on the machine; use strftime",
	"env":               "put it into the input",
	"$ENV":              "put it into the input",
	"input":             "the input is .input",
	"inputs":            "the input is .input",
	"input_filename":    "",
	"input_line_number": "",
	"debug":             "",
	"stderr":            "",
	"halt":              "use if on the steps that are to be left out",
	"halt_error":        `use error("…")`,
	"builtins":          "",
	"modulemeta":        "",
	"get_search_list":   "",
}

// zoneName finds the verbs that look the name of a time zone up, perhaps with flags.
var zoneName = regexp.MustCompile(`%[^A-Za-z+]*[EO:]*[Z+]`)

// refusal says why an expression must not use the function, or "".
func refusal(name string, constant func(i int) (string, bool)) string {
	if hint, ok := banned[name]; ok {
		if hint != "" {
			hint = ": " + hint
		}
		return name + " is not available in a plan" + hint
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
