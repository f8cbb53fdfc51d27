package hostfuncs

import (
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// sleepFunc makes sleep, whose answer is the clock's.
func sleepFunc(fallback func() time.Time) Func {
	await := func(c Call, raw []byte) (Pending, error) { return awaitTime(c, fallback, raw) }
	return Func{
		Name: toolabi.FuncSleep, Class: toolabi.Wait, Await: await,
		Check:    func(c Call, raw []byte) error { _, err := await(c, raw); return err },
		Describe: describeSleep,
	}
}

const maxSleep = toolabi.MaxSleepMS * time.Millisecond

func awaitTime(c Call, fallback func() time.Time, raw []byte) (Pending, error) {
	var req toolabi.SleepRequest
	if err := toolabi.Decode(raw, &req); err != nil {
		return Pending{}, invalidf("sleep: %v", err)
	}
	if (req.MS == 0) == (req.Until == 0) {
		return Pending{}, invalidf("sleep: want either how long or until when")
	}
	if req.MS > toolabi.MaxSleepMS {
		return Pending{}, invalidf("sleep: %d ms, at most %d are allowed", req.MS, uint64(toolabi.MaxSleepMS))
	}
	now := timeOf(c, fallback)
	due := now.Add(time.Duration(req.MS) * time.Millisecond)
	if req.Until != 0 {
		due = time.Unix(0, req.Until)
	}
	if due.After(now.Add(maxSleep)) {
		return Pending{}, invalidf("sleep: until %s, at most 366 days are allowed", writeTime(due))
	}
	reply, err := toolabi.Encode(toolabi.SleepReply{})
	return Pending{Text: "sleep until " + writeTime(due), Due: due, Reply: reply}, err
}

func describeSleep(raw []byte) string {
	var req toolabi.SleepRequest
	switch {
	case toolabi.Decode(raw, &req) != nil:
		return ""
	case req.Until != 0:
		return "until " + writeTime(time.Unix(0, req.Until))
	}
	return "for " + (time.Duration(min(req.MS, toolabi.MaxSleepMS)) * time.Millisecond).String()
}

func writeTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
