package agent

import (
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/toolabi"
)

// conversation is what the model is told of what happened: the task, and the latest turns.
type conversation struct {
	messages []model.Message // the task, and then an answer and its results in turns
	keep     int             // how many turns; 0 for all
}

func newConversation(task string, w Window) *conversation {
	return &conversation{messages: []model.Message{{User: task}}, keep: w.Turns}
}

// add adds a turn, and lets go of the oldest one that is one too many.
func (c *conversation) add(a *model.Answer, results []model.Result) {
	c.messages = append(c.messages, model.Message{Answer: a}, model.Message{Results: results})
	if c.keep == 0 || len(c.messages) <= 1+2*c.keep {
		return
	}
	kept := append(c.messages[:1:1], c.messages[len(c.messages)-2*c.keep:]...)
	c.messages = kept
}

// told is as much of a result as the model is told.
func (w Window) told(text string) string {
	most := or(w.ResultBytes, DefaultResultBytes)
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s\n[cut here: the result has %d bytes]", toolabi.CutText(strings.ToValidUTF8(text, "\uFFFD"), most), len(text))
}
