package sdk

import (
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// Sleep waits for real, for at least d, rounded up to the millisecond; 0 or less returns at once. The run may be suspended
// meanwhile and the tool entered again later. time.Sleep, in contrast, moves the guest's own clock and returns at once.
//
// Errors: toolabi.Invalid when d is over 366 days, toolabi.Denied in a tool that declares itself Pure or ReadOnly.
func Sleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	ms := d / time.Millisecond
	if d%time.Millisecond != 0 {
		ms++
	}
	return use(crossSleep, toolabi.SleepRequest{MS: uint64(ms)}, &toolabi.SleepReply{})
}

// SleepUntil waits as Sleep does, until a time. One that has passed returns at once. Work such a time out from Clock: what
// time.Now returns stands still while the tool works.
//
// Errors: toolabi.Invalid when t is more than 366 days away, or has no form in 64 bits of nanoseconds since 1970, and
// toolabi.Denied as for Sleep.
func SleepUntil(t time.Time) error {
	ns := t.UnixNano()
	if !time.Unix(0, ns).Equal(t) {
		return toolabi.NewError(toolabi.Invalid, "sleep until "+t.UTC().Format(time.RFC3339)+": it cannot be told to the host")
	}
	if ns == 0 {
		ns = -1 // 0 would be no time; both have passed
	}
	return use(crossSleep, toolabi.SleepRequest{Until: ns}, &toolabi.SleepReply{})
}
