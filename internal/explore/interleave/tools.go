package interleave

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

var (
	charge = tool{toolabi.Tool{Name: "charge", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, func(g *guest) (string, error) {
		read, err := g.read()
		if err != nil {
			return "", err
		}
		return g.sendAll(read, "a", "b")
	}}
	keyedTool = tool{toolabi.Tool{Name: "keyed", Idempotency: toolabi.Keyed, KeyTTLMS: ms(keyTTL)}, keyed, func(g *guest) (string, error) {
		read, err := g.read()
		if err != nil {
			return "", err
		}
		return g.sendAll(read, "k")
	}}
	idem = tool{toolabi.Tool{Name: "idem", Idempotency: toolabi.Idempotent}, repeatable, func(g *guest) (string, error) {
		return g.sendAll("", "i", "j")
	}}
	stubborn      = tool{toolabi.Tool{Name: "stubborn", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, tryAgain}
	stubbornKeyed = tool{toolabi.Tool{Name: "stubborn_keyed", Idempotency: toolabi.Keyed, KeyTTLMS: ms(keyTTL)}, keyed, tryAgain}
)

// patient is the policy of tools that are tried again: the second pause can be one for which the run is suspended.
var patient = toolabi.RetryPolicy{Attempts: 3, BackoffMS: ms(8 * time.Second)}

var (
	retried      = tool{toolabi.Tool{Name: "retried", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime), Retry: patient}, onlyOnce, unsteady}
	retriedKeyed = tool{toolabi.Tool{Name: "retried_keyed", Idempotency: toolabi.Keyed, KeyTTLMS: ms(keyTTL), Retry: patient}, keyed, unsteady}
)

// unsteady fails at times before its effect, between two and after both, and always says that it may be tried again.
func unsteady(g *guest) (string, error) {
	for _, op := range []string{"r", "t"} {
		read, err := g.read()
		if err != nil {
			return "", err
		}
		if strings.HasSuffix(read, "3") || strings.HasSuffix(read, "7") {
			return "", &toolabi.Error{Code: toolabi.Unavailable, Message: "not at " + read, Retry: toolabi.RetrySafe}
		}
		if _, err := g.send(op, ""); err != nil {
			return "", again(err)
		}
	}
	return "sent", nil
}

// again says of whatever a tool failed with that it may be tried again.
func again(err error) error {
	var told *toolabi.Error
	if errors.As(err, &told) {
		c := *told
		c.Retry = toolabi.RetrySafe
		return &c
	}
	return err
}

func sendsFor([]byte) time.Duration { return sendTimeout }

func ms(d time.Duration) uint64 { return uint64(d.Milliseconds()) }

// sendAll sends one operation after the other, and fails with the first that fails.
func (g *guest) sendAll(read string, ops ...string) (string, error) {
	var replies []string
	for _, op := range ops {
		reply, err := g.send(op, read)
		if err != nil {
			return "", err
		}
		replies = append(replies, reply)
	}
	return strings.Join(replies, ", "), nil
}

// tryAgain sends again what it is told has failed, unless it is told that it took place.
func tryAgain(g *guest) (reply string, err error) {
	for range 3 {
		reply, err = g.send("s", "")
		var told *toolabi.Error
		if err == nil || !errors.As(err, &told) || told.Effect == toolabi.EffectApplied {
			break
		}
	}
	return reply, err
}

var (
	pay = tool{toolabi.Tool{Name: "pay", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime), Lookup: "find_pay"}, onlyOnce, func(g *guest) (string, error) {
		return g.sendAll("", "p", "q")
	}}
	findPay = tool{toolabi.Tool{Name: "find_pay", Idempotency: toolabi.ReadOnly}, repeatable, lookUp}
	nap     = tool{toolabi.Tool{Name: "nap", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, between(toolabi.FuncSleep, toolabi.SleepRequest{MS: ms(napTime)})}
	ask     = tool{toolabi.Tool{Name: "ask", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, between(toolabi.FuncApprove, toolabi.ApproveRequest{Text: "Go on?"})}
	agreed  = tool{toolabi.Tool{Name: "agreed", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime), Approval: true}, onlyOnce, func(g *guest) (string, error) {
		return g.sendAll("", "g", "h")
	}}
	agreedAgain = tool{toolabi.Tool{Name: "agreed_again", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime), Approval: true, Retry: patient}, onlyOnce, unsteady}
	caller      = tool{toolabi.Tool{Name: "caller", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, callsTwice("charge")}
	asker       = tool{toolabi.Tool{Name: "asker", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, callsTwice("agreed")}
)

// What a program does is not asked of the host: it is the call itself that must not be repeated, or may be. Its time is its own.
var (
	program     = tool{toolabi.Tool{Name: "program", Idempotency: toolabi.NonIdempotent, TimeoutMS: ms(sendTimeout)}, onlyOnce, writes}
	programIdem = tool{toolabi.Tool{Name: "program_idem", Idempotency: toolabi.Idempotent, TimeoutMS: ms(sendTimeout)}, repeatable, writes}
	programFail = tool{toolabi.Tool{Name: "program_fail", Idempotency: toolabi.NonIdempotent, TimeoutMS: ms(sendTimeout), Retry: patient}, onlyOnce, func(g *guest) (string, error) {
		done, err := writes(g)
		if err != nil || strings.HasSuffix(done, "1") {
			return done, err
		}
		return "", &toolabi.Error{Code: toolabi.Exited, Message: "exit status 1", Retry: toolabi.RetrySafe}
	}}
	hirer = tool{toolabi.Tool{Name: "hirer", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, callsTwice("program")}
)

// writes is what a program does: it writes what it was called for, once each time that it is entered.
func writes(g *guest) (string, error) { return g.write() }

// lookUp tells of an operation what the provider has of it.
func lookUp(g *guest) (string, error) {
	var in toolabi.LookupInput
	var request string
	if err := json.Unmarshal(g.input, &in); err != nil {
		return "", err
	}
	if err := json.Unmarshal(in.Request, &request); err != nil {
		return "", err
	}
	switch found, err := g.ask(toolabi.FuncHTTPFetch, opOf(request)); {
	case err != nil:
		return "", err
	case found == cannotTell:
		return `{"verdict":"unknown"}`, nil
	case found == "":
		return `{"verdict":"did_not_happen"}`, nil
	default:
		return fmt.Sprintf(`{"verdict":"happened","reply":%q}`, found), nil
	}
}

// between waits between two operations that must not be repeated. A no is an answer.
func between(function string, request any) func(g *guest) (string, error) {
	return func(g *guest) (string, error) {
		before, err := g.send("w", "")
		if err != nil {
			return "", err
		}
		if err := g.wait(function, request); err != nil {
			return "", err
		}
		after, err := g.send("x", "")
		return before + ", " + after, err
	}
}

// callsTwice calls a tool twice, with an operation of its own between.
func callsTwice(tool string) func(g *guest) (string, error) {
	return func(g *guest) (string, error) {
		one, err := g.call(tool, g.name+".1")
		if err != nil {
			return "", err
		}
		own, err := g.send("own", "")
		if err != nil {
			return "", err
		}
		two, err := g.call(tool, g.name+".2")
		return one + ", " + own + ", " + two, err
	}
}
