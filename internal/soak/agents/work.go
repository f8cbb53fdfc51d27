package agents

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wrun-dev/wrun/drivers/agent/script"
)

// agentText is the agent. What it is asked about is the charges of more than 100 euros.
const agentText = `name: cashier
model:
  use: openai/m-1
  timeout: 700ms
  retry: { attempts: 30, backoff: 1ms, max_backoff: 4ms }
  prices: { input: 1, output: 2 }
instructions: You take payments.
tools:
  payments: { from: ./payments.wasm, use: [charge, charge_pair, find] }
rules:
  - { tool: payments.charge, when: "${ .input.amount_cents > 10000 }", do: ask }
`

// replies are what the model says: a charge, several at once of which one is asked about and one declined, a call with two
// effects, and a question. The task is the ledger's address and the run's id.
const replies = `replies:
  - {when: .turn > 3, say: "${ .results[0].output.charges[0].reference } is paid"}
  - {when: .turn == 3, call: payments.find, with: {ledger: "${ .task | split(\" \")[0] }", reference: "${ .task | split(\" \")[1] }-5"}}
  - when: .turn == 2
    call: payments.charge_pair
    with: {ledger: "${ .task | split(\" \")[0] }", account: ada, amount_cents: 500, fee_cents: 5, reference: "${ .task | split(\" \")[1] }-5"}
  - when: .turn == 1
    calls:
      - {tool: payments.charge, with: {ledger: "${ .task | split(\" \")[0] }", account: ada, amount_cents: 200, reference: "${ .task | split(\" \")[1] }-2"}}
      - {tool: payments.charge, with: {ledger: "${ .task | split(\" \")[0] }", account: ada, amount_cents: 20000, reference: "${ .task | split(\" \")[1] }-3"}}
      - {tool: payments.charge, with: {ledger: "${ .task | split(\" \")[0] }", account: ada, amount_cents: 300, reference: "${ .task | split(\" \")[1] + (\"-long\" * 60) }"}}
      - {tool: payments.find, with: {ledger: "${ .task | split(\" \")[0] }", reference: "${ .task | split(\" \")[1] }-1"}}
      - {tool: payments.charge, with: {ledger: "${ .task | split(\" \")[0] }", account: ada, amount_cents: 400, reference: "${ .task | split(\" \")[1] }-4"}}
  - {call: payments.charge, with: {ledger: "${ .task | split(\" \")[0] }", account: ada, amount_cents: 100, reference: "${ .task | split(\" \")[1] }-1"}}
`

// answers is how many answers the model gives in a run.
const answers = 5

// charges are the references that a run charges, each once.
func charges(run string) []string {
	return []string{run + "-1", run + "-2", run + "-3", run + "-4", run + "-5", run + "-5-fee"}
}

// task is what the agent of a run is asked to do, output what it says in the end.
func task(ledger, run string) string { return ledger + " " + run }
func output(run string) string       { return fmt.Sprintf("\"%s-5 is paid\"\n", run) }

// prepare writes the agent and its module into a directory, and returns what the model says.
func prepare(dir, tool string) (*script.Script, error) {
	wasm, err := os.ReadFile(tool)
	if err != nil {
		return nil, fmt.Errorf("prepare trials: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("prepare trials: %w", err)
	}
	for name, text := range map[string][]byte{"payments.wasm": wasm, "agent.yaml": []byte(agentText)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, fmt.Errorf("prepare trials: %w", err)
		}
	}
	return script.Parse([]byte(replies))
}
