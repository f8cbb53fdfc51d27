package agents_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/soak/agents"
)

func TestKilledAgentsRepeatNothingLoseNothingAndHideNoPayment(t *testing.T) {
	const kills = 25
	report, err := agents.Run(t.Context(), config(t, "", kills))
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + report.String())
	if err := report.Err(); err != nil {
		t.Errorf("seed %d: %v", report.Seed, err)
	}
	if report.Kills < kills || report.Double == 0 || report.Doubts < report.Double {
		t.Errorf("%d kills, %d double bills, %d doubts: want %d, and bills that are doubted", report.Kills, report.Double, report.Doubts, kills)
	}
}

// The trials are worth something only if they see what books do that forget what may have been paid twice.
func TestBooksThatForgetTheirDoubtsAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program a second time")
	}
	report, err := agents.Run(t.Context(), config(t, "broken_nodoubt", 50))
	if err != nil {
		t.Fatal(err)
	}
	if report.Err() == nil || report.Hidden == 0 {
		t.Errorf("after %d kills nothing was found:\n%s", report.Kills, report)
	}
}

func TestAReportThatHidesOrRepeatsSomethingIsAnError(t *testing.T) {
	r := &agents.Report{Kills: 20, Landed: map[agents.Moment]int{agents.Thinking: 2, agents.Acting: 18}}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "10 %") {
		t.Errorf("error %v, want one that gives the share of 10 %%", err)
	}
	r.Landed[agents.Thinking] = 4
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	for _, broken := range []*agents.Report{{Repeated: 1}, {Hidden: 1}, {Missing: 1}, {Lost: 1}, {Faults: []string{"x"}}} {
		broken.Kills, broken.Landed = r.Kills, r.Landed
		if broken.Err() == nil {
			t.Errorf("no error for %s", broken)
		}
	}
}
