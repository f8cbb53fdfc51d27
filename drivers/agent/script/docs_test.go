package script_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
)

// block is a block "script", "request", "answer" or "error".
var block = regexp.MustCompile("(?ms)^```[a-z]+ ([a-z]+)\n(.*?)\n^```$")

// Each script of the documentation answers the requests behind it as the answers behind them say, or has the mistakes.
func TestTheDocumentationIsTrue(t *testing.T) {
	var s *script.Script
	var wrong error
	got := ""
	count := map[string]int{}
	for _, m := range block.FindAllStringSubmatch(readDoc(t), -1) {
		count[m[1]]++
		switch m[1] {
		case "script":
			s, wrong = script.Parse([]byte(m[2]))
			got = fmt.Sprint(wrong)
		case "request":
			if wrong != nil {
				t.Fatalf("a script has mistakes: %v", wrong)
			}
			got = shown(t, s, m[2])
		default:
			if got != m[2] {
				t.Errorf("got\n%s\nwant\n%s", got, m[2])
			}
		}
	}
	if count["script"] != 5 || count["request"] != 6 || count["answer"]+count["error"] != 7 {
		t.Errorf("found %v", count)
	}
}

// shown is an answer as the documentation shows it.
func shown(t *testing.T, s *script.Script, request string) string {
	t.Helper()
	a, err := script.Client(s).Send(t.Context(), []byte(request), model.Attempt{})
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for rest := string(a.Message); rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x` + strconv.FormatUint(uint64(rest[0]), 16))
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return fmt.Sprintf("%s\n%s, %d tokens in and %d out", b.String(), a.Stop, a.Usage.Input, a.Usage.Output)
}

func readDoc(t testing.TB) string {
	t.Helper()
	doc, err := os.ReadFile("../../../docs/script.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(doc), "\r\n", "\n")
}
