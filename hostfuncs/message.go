package hostfuncs

import "github.com/wrun-dev/wrun/toolabi"

// judged makes a Check of a judgement of decoded requests.
func judged[Req any](function string, check func(Call, Req) error) func(Call, []byte) error {
	return func(c Call, raw []byte) error {
		var req Req
		if err := toolabi.Decode(raw, &req); err != nil {
			return invalidf("%s: %v", function, err)
		}
		return check(c, req)
	}
}

// described makes a Describe of the words for a decoded request, which are clean. What is no request is not described.
func described[Req any](words func(Req) string) func([]byte) string {
	return func(raw []byte) string {
		var req Req
		if toolabi.Decode(raw, &req) != nil {
			return ""
		}
		return words(req)
	}
}

// shown makes a ShowRequest or a ShowReply of the form in which a message is written as JSON.
func shown[Msg, Form any](form func(Msg) Form) func([]byte) ([]byte, error) {
	return func(raw []byte) ([]byte, error) {
		var msg Msg
		if err := toolabi.Decode(raw, &msg); err != nil {
			return nil, err
		}
		return sayJSON(form(msg))
	}
}
