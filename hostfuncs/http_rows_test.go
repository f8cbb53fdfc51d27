package hostfuncs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rows says which tests stand for which row of the table of hostile inputs. Those of tables are named by their first word.
var rows = map[string][]string{
	"H01": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestEachPartOfAnExchangeHasItsOwnTime"},
	"H02": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestOneByteASecondEndsWithTheTimeOfTheRequest"},
	"H03": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestOneByteASecondEndsWithTheTimeOfTheRequest"},
	"H04": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestArtifactsPassThroughInConstantMemory"},
	"H05": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestGzipThatIsNotWholeOrNotAloneIsAnError", "TestTheCapsHoldBeforeAndAfterGzip"},
	"H06": {"TestHostileServersEndInTypedErrorsWithinTheirBounds"},
	"H07": {"TestHostileServersEndInTypedErrorsWithinTheirBounds"},
	"H08": {"TestHostileServersEndInTypedErrorsWithinTheirBounds"},
	"H09": {"TestRedirectsThatAreRefused", "TestRedirectsWithoutEndEnd", "TestARedirectOfWhatWasSentIsTheReply", "TestHeadersThatWereDroppedAreNotRestored"},
	"H10": {"TestHostileNameServers", "TestANameMustNotLeadToASpecialAddress", "TestANameThatChangesBetweenItsJudgementAndTheConnection", "TestEachPartOfAnExchangeHasItsOwnTime"},
	"H11": {"TestHostileHandshakesLeaveNothing", "TestEachPartOfAnExchangeHasItsOwnTime"},
	"H12": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestHostileHandshakesLeaveNothing", "TestHTTPSIsVerifiedAndNeverHTTP2"},
	"H13": {"TestHostileServersEndInTypedErrorsWithinTheirBounds"},
	"H14": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestAReplyBeforeTheWholeRequestWasReadIsAReply"},
	"H15": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestADroppedReplyOnAWarmServerIsOneRequestAndUnknown", "TestADropOverTLSIsUnknown", "TestAReplyThatBreaksOffLeavesItsEffectInDoubt"},
	"H16": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestABodyThatBreaksOffOrIsTooLongIsNotKept", "TestAReplyThatBreaksOffLeavesItsEffectInDoubt"},
	"H17": {"TestHostileServersEndInTypedErrorsWithinTheirBounds"},
	"H18": {"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestABodyIsKeptAsAnArtifact"},
	"M07": {"TestTargetsThatCouldNotBeGrantedAreRefused", "TestParseOriginRefusesWhatCouldBeReadInTwoWays", "TestFormsOfWhatMayNotBeReachedOrSaid"},
	"T38": {"TestAnEmptyListOfGrantsAllowsNothing", "TestAnEmptyListOfTargetsIsRefused"},
	"W50": {"TestSecretsAreFilledInOnTheWireAndNowhereElse", "TestASecretThatAServerRepeatsReachesNobody", "TestSecretsAreJudgedBeforeAnythingIsReadOrSent", "TestAReplyThatCouldHideASecretIsAnError"},
}

// tables are tests whose cases are named by their rows.
var tables = []string{"TestHostileServersEndInTypedErrorsWithinTheirBounds", "TestHostileHandshakesLeaveNothing", "TestHostileNameServers"}

func TestEveryRowOfHostileHTTPHasItsTests(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{} // test → the text of its file
	for _, f := range append(files, "../runtime/http_test.go") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllStringSubmatch(string(b), -1) {
			sources[m[1]] = string(b)
		}
	}
	wanted := []string{"M07", "T38", "W50"}
	for n := 1; n <= 18; n++ {
		wanted = append(wanted, fmt.Sprintf("H%02d", n))
	}
	for _, row := range wanted {
		if len(rows[row]) == 0 {
			t.Errorf("row %s has no test", row)
		}
	}
	for row, tests := range rows {
		if !slices.Contains(wanted, row) {
			t.Errorf("there is no row %s", row)
		}
		for _, name := range tests {
			text, ok := sources[name]
			if !ok {
				t.Errorf("row %s names the test %s, which is not there", row, name)
			}
			if slices.Contains(tables, name) && !strings.Contains(text, `"`+row+" ") {
				t.Errorf("row %s is not in the table of %s", row, name)
			}
		}
	}
}
