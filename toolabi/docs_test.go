package toolabi_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/toolabi"
)

func abiDoc(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// allDocs is the text of every page.
func allDocs(t *testing.T) string {
	t.Helper()
	pages, err := docpage.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range pages {
		all.WriteString(p.Text)
	}
	return all.String()
}

// rows returns the cells of the table whose first column has this title, without their backquotes.
func rows(t *testing.T, doc, title string) [][]string {
	t.Helper()
	_, table, ok := strings.Cut(doc, "\n| "+title+" |")
	if !ok {
		t.Fatalf("no table begins with %q", title)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var all [][]string
	for _, line := range strings.Split(table, "\n")[2:] {
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.Trim(strings.TrimSpace(c), "`"))
		}
		all = append(all, cells)
	}
	if len(all) == 0 {
		t.Fatalf("the table of %q is empty", title)
	}
	return all
}

func TestDocsListEveryCodeInOrder(t *testing.T) {
	table := rows(t, abiDoc(t), "number")
	n := toolabi.Code(1)
	for ; !strings.HasPrefix(n.String(), "code "); n++ {
		if int(n) > len(table) {
			t.Fatalf("%s (%d) is missing", n, n)
		}
		if row := table[n-1]; row[0] != strconv.Itoa(int(n)) || row[1] != n.String() || row[3] == "" {
			t.Errorf("row %d is %q, want %d, %s and a meaning", n, row, n, n)
		}
	}
	if len(table) != int(n)-1 {
		t.Errorf("the table has %d codes, there are %d", len(table), n-1)
	}
}

func TestDocsDescribeEveryFunctionInOrder(t *testing.T) {
	doc := abiDoc(t)
	var names, classes []string
	for _, m := range regexp.MustCompile("(?m)^### `(\\w+)`\n\nClass (\\w+)").FindAllStringSubmatch(doc, -1) {
		names, classes = append(names, m[1]), append(classes, m[2])
	}
	if len(names) != len(toolabi.Functions) {
		t.Fatalf("described are %q", names)
	}
	for i, f := range toolabi.Functions {
		if names[i] != f.Name || classes[i] != f.Class.String() {
			t.Errorf("described is %s of class %s, want %s of class %s", names[i], classes[i], f.Name, f.Class)
		}
		_, section, _ := strings.Cut(doc, "\n### `"+f.Name+"`\n")
		section, _, _ = strings.Cut(section, "\n##")
		if got := strings.Contains(section, "Needs a capability"); got != f.Capability {
			t.Errorf("%s: the text says that it needs a capability: %v, want %v", f.Name, got, f.Capability)
		}
	}
}

func TestDocsGiveTheMessagesOfEveryFunction(t *testing.T) {
	table := rows(t, abiDoc(t), "function")
	if len(table) != len(toolabi.Functions) {
		t.Fatalf("the table has %d functions, there are %d", len(table), len(toolabi.Functions))
	}
	missing := map[string]bool{}
	for name := range messages {
		missing[name] = strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Reply")
	}
	missing["Request"], missing["Reply"] = false, false
	for i, f := range toolabi.Functions {
		capability := map[bool]string{true: "yes", false: "no"}[f.Capability]
		if row := table[i]; !slices.Equal(row[:3], []string{f.Name, f.Class.String(), capability}) || messages[row[3]] == nil || messages[row[4]] == nil {
			t.Errorf("row %d is %q, want %s, %s, %s and two messages", i+1, row, f.Name, f.Class, capability)
		}
		missing[table[i][3]], missing[table[i][4]] = false, false
	}
	for name, is := range missing {
		if is {
			t.Errorf("no function is said to have %s", name)
		}
	}
}

func TestDocsGiveTheNamesOfExportsAndImports(t *testing.T) {
	doc := abiDoc(t)
	exports := rows(t, doc, "export")
	for i, want := range []string{
		toolabi.ExportMemory, toolabi.ExportInvoke, toolabi.ExportMarker, toolabi.ExportInitialize, toolabi.ExportDescribe,
	} {
		if exports[i][0] != want {
			t.Errorf("export %d is %q, want %q", i, exports[i][0], want)
		}
	}
	imports := rows(t, doc, "import of `"+toolabi.ImportModule+"`")
	for i, want := range []string{toolabi.ImportInputRead, toolabi.ImportOutputWrite, toolabi.ImportResultRead} {
		if imports[i][0] != want {
			t.Errorf("import %d is %q, want %q", i, imports[i][0], want)
		}
	}
	for _, want := range []string{
		"`" + toolabi.WASIModule + "`", "exactly one custom section `" + toolabi.ManifestSection + "`",
		fmt.Sprintf("%02x % x ", len(toolabi.ManifestSection), toolabi.ManifestSection),
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestDocsGiveTheCaps(t *testing.T) {
	want := map[string]int{
		"MaxManifest": toolabi.MaxManifest, "MaxInput": toolabi.MaxInput, "MaxOutput": toolabi.MaxOutput, "MaxText": toolabi.MaxText, "MaxSaid": toolabi.MaxSaid,
		"MaxManifestMS": toolabi.MaxManifestMS, "MaxRandom": toolabi.MaxRandom, "MaxHTTPHeaders": toolabi.MaxHTTPHeaders,
		"MaxHTTPHeaderBytes": toolabi.MaxHTTPHeaderBytes, "MaxHTTPBody": toolabi.MaxHTTPBody,
		"DefaultHTTPTimeout": toolabi.DefaultHTTPTimeout, "MaxHTTPTimeout": toolabi.MaxHTTPTimeout,
		"MaxApproveText": toolabi.MaxApproveText, "MaxApproveDetail": toolabi.MaxApproveDetail, "MaxSleepMS": toolabi.MaxSleepMS,
		"MaxCallDepth":         toolabi.MaxCallDepth,
		"MaxRedirects":         toolabi.MaxRedirects,
		"MaxHTTPInflation":     toolabi.MaxHTTPInflation,
		"MinHTTPInflation":     toolabi.MinHTTPInflation,
		"HTTPResolveMS":        toolabi.HTTPResolveMS,
		"HTTPConnectMS":        toolabi.HTTPConnectMS,
		"HTTPHandshakeMS":      toolabi.HTTPHandshakeMS,
		"HTTPHeadMS":           toolabi.HTTPHeadMS,
		"HTTPPauseMS":          toolabi.HTTPPauseMS,
		"MaxConfigValue":       toolabi.MaxConfigValue,
		"MaxKVKey":             toolabi.MaxKVKey,
		"MaxKVValue":           toolabi.MaxKVValue,
		"MaxKVKeys":            toolabi.MaxKVKeys,
		"MaxKVStore":           toolabi.MaxKVStore,
		"DefaultKVList":        toolabi.DefaultKVList,
		"MaxKVList":            toolabi.MaxKVList,
		"MaxKVListBytes":       toolabi.MaxKVListBytes,
		"MaxArtifactPart":      toolabi.MaxArtifactPart,
		"MaxArtifact":          toolabi.MaxArtifact,
		"MaxArtifacts":         toolabi.MaxArtifacts,
		"MaxArtifactName":      toolabi.MaxArtifactName,
		"MaxWorkspacePath":     toolabi.MaxWorkspacePath,
		"MaxWorkspaceName":     toolabi.MaxWorkspaceName,
		"MaxWorkspacePart":     toolabi.MaxWorkspacePart,
		"DefaultWorkspaceList": toolabi.DefaultWorkspaceList,
		"MaxWorkspaceList":     toolabi.MaxWorkspaceList,
		"MaxMailRecipients":    toolabi.MaxMailRecipients,
		"MaxMailSubject":       toolabi.MaxMailSubject,
		"MaxMailText":          toolabi.MaxMailText,
		"MaxMailAttachments":   toolabi.MaxMailAttachments,
		"MaxMailMessage":       toolabi.MaxMailMessage,
		"DefaultMailTimeout":   toolabi.DefaultMailTimeout,
		"MaxMailTimeout":       toolabi.MaxMailTimeout,
	}
	for _, row := range rows(t, abiDoc(t), "cap") {
		n, err := strconv.Atoi(strings.ReplaceAll(row[1], ",", ""))
		if err != nil || n != want[row[0]] {
			t.Errorf("%s is said to be %s, want %d (%v)", row[0], row[1], want[row[0]], err)
		}
		delete(want, row[0])
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestDocsSayWhatAPromiseMakesOfAClass(t *testing.T) {
	doc := abiDoc(t)
	classes := []toolabi.Class{toolabi.Free, toolabi.Read, toolabi.Local, toolabi.Effect, toolabi.Once, toolabi.Wait, toolabi.Call}
	header := "\n| idempotency |"
	for i, row := range rows(t, doc, "class") {
		if row[0] != classes[i].String() {
			t.Errorf("class %d is %q, want %q", i, row[0], classes[i])
		}
		header += " " + row[0] + " |"
	}
	if !strings.Contains(doc, header+"\n") {
		t.Errorf("no table begins with %q", header)
	}
	table := rows(t, doc, "idempotency")
	if len(table) != len(toolabi.Idempotencies) {
		t.Fatalf("the table has %d promises, there are %d", len(table), len(toolabi.Idempotencies))
	}
	for i, promise := range toolabi.Idempotencies {
		if table[i][0] != string(promise) {
			t.Errorf("promise %d is %q, want %q", i, table[i][0], promise)
		}
		for j, class := range classes {
			want := "denied"
			if promise.Allows(class) {
				want = promise.Weaken(class).String()
			}
			if got := table[i][j+1]; got != want {
				t.Errorf("%s makes %q of %s, want %q", promise, got, class, want)
			}
		}
	}
}

// rule is a map of the CDDL: its pairs by their keys.
type rule map[string]pair

type pair struct {
	optional bool
	typ      string
}

var (
	cddlBlock = regexp.MustCompile("(?ms)^```cddl\n(.*?)^```$")
	cddlRule  = regexp.MustCompile(`(?ms)^(\w+) = \{\n(.*?)^\}$`)
	cddlPair  = regexp.MustCompile(`^  (\? )?(\d+): (.+?), +; \w`)
)

// cddl returns the rules of every page.
func cddl(t *testing.T) map[string]rule {
	t.Helper()
	rules := map[string]rule{}
	doc := allDocs(t)
	for _, block := range cddlBlock.FindAllStringSubmatch(doc, -1) {
		for _, m := range cddlRule.FindAllStringSubmatch(block[1], -1) {
			r := rule{}
			for line := range strings.Lines(m[2]) {
				p := cddlPair.FindStringSubmatch(line)
				if p == nil {
					t.Fatalf("%s: %q is no pair", m[1], line)
				}
				r[p[2]] = pair{p[1] != "", p[3]}
			}
			if other, twice := rules[m[1]]; twice && !reflect.DeepEqual(r, other) {
				t.Errorf("%s is given twice, and differently", m[1])
			}
			rules[m[1]] = r
		}
	}
	return rules
}

func TestDocsGiveTheCDDLOfEveryMessage(t *testing.T) {
	rules := cddl(t)
	checked := map[string]bool{}
	for _, empty := range messages {
		checkRule(t, rules, checked, reflect.TypeOf(empty()).Elem())
	}
	for name := range rules {
		if !checked[name] {
			t.Errorf("there is no message %s", name)
		}
	}
}

// checkRule holds a rule, and those it refers to, against the fields of a message.
func checkRule(t *testing.T, rules map[string]rule, checked map[string]bool, msg reflect.Type) {
	t.Helper()
	if checked[msg.Name()] {
		return
	}
	checked[msg.Name()] = true
	r, ok := rules[msg.Name()]
	if !ok {
		t.Errorf("%s has no CDDL", msg.Name())
		return
	}
	if len(r) != msg.NumField() {
		t.Errorf("%s has %d pairs, the message has %d fields", msg.Name(), len(r), msg.NumField())
	}
	for i := range msg.NumField() {
		f := msg.Field(i)
		options := strings.Split(f.Tag.Get("cbor"), ",")
		want := pair{slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero"), cddlType(f.Type)}
		if got := r[options[0]]; got != want {
			t.Errorf("%s.%s: key %s is %+v, want %+v", msg.Name(), f.Name, options[0], got, want)
		}
		if inner := elem(f.Type); inner.Kind() == reflect.Struct {
			checkRule(t, rules, checked, inner)
		}
	}
}

func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func cddlType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "tstr"
	case reflect.Bool:
		return "bool"
	case reflect.Int64:
		return "int"
	case reflect.Uint64:
		return "uint"
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return fmt.Sprintf("uint .size %d", t.Size())
	case reflect.Pointer:
		return cddlType(t.Elem())
	case reflect.Struct:
		return t.Name()
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bstr"
		}
		return "[+ " + cddlType(t.Elem()) + "]"
	}
	return "unknown " + t.String()
}
