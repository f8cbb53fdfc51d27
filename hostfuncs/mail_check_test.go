package hostfuncs_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestWhatIsNoMessageIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	f := function(t, toolabi.FuncMailSend)
	file := func(change func(*toolabi.MailAttachment)) func(*toolabi.MailSendRequest) {
		a := toolabi.MailAttachment{Name: "a.txt", Body: []byte("x")}
		change(&a)
		return func(r *toolabi.MailSendRequest) { r.Attachments = []toolabi.MailAttachment{a} }
	}
	type request = toolabi.MailSendRequest
	for name, c := range map[string]struct {
		change func(*request)
		code   toolabi.Code
	}{
		"fine":                    {func(*request) {}, 0},
		"attachment alone":        {func(r *request) { r.Text, r.Attachments = "", []toolabi.MailAttachment{{Name: "a"}} }, 0},
		"nobody":                  {func(r *request) { r.To = nil }, toolabi.Invalid},
		"too many":                {func(r *request) { r.Bcc = make([]string, toolabi.MaxMailRecipients) }, toolabi.TooLarge},
		"no address":              {func(r *request) { r.To = []string{"ann"} }, toolabi.Invalid},
		"address with a name":     {func(r *request) { r.Cc = []string{"Ann <ann@example.com>"} }, toolabi.Invalid},
		"two in one":              {func(r *request) { r.Bcc = []string{"ann@example.com, bob@example.com"} }, toolabi.Invalid},
		"line in an address":      {func(r *request) { r.To = []string{"ann@example.com>\r\nRCPT TO:<bob@example.com"} }, toolabi.Invalid},
		"line in reply_to":        {func(r *request) { r.ReplyTo = "ann@example.com\r\nBcc: bob@example.com" }, toolabi.Invalid},
		"line in the subject":     {func(r *request) { r.Subject = "x\r\nBcc: bob@example.com" }, toolabi.Invalid},
		"line feed in it":         {func(r *request) { r.Subject = "x\nBcc: bob@example.com" }, toolabi.Invalid},
		"carriage return in it":   {func(r *request) { r.Subject = "x\ry" }, toolabi.Invalid},
		"NUL in it":               {func(r *request) { r.Subject = "x\x00" }, toolabi.Invalid},
		"another kind of line":    {func(r *request) { r.Subject = "x\u2028y" }, toolabi.Invalid},
		"long subject":            {func(r *request) { r.Subject = strings.Repeat("x", toolabi.MaxMailSubject+1) }, toolabi.TooLarge},
		"nothing in it":           {func(r *request) { r.Text = "" }, toolabi.Invalid},
		"NUL in text":             {func(r *request) { r.Text = "a\x00b" }, toolabi.Invalid},
		"old line ends":           {func(r *request) { r.HTML = "a\rb" }, toolabi.Invalid},
		"long text":               {func(r *request) { r.Text = strings.Repeat("x", toolabi.MaxMailText+1) }, toolabi.TooLarge},
		"long html":               {func(r *request) { r.HTML = strings.Repeat("x", toolabi.MaxMailText+1) }, toolabi.TooLarge},
		"secret in subject":       {func(r *request) { r.Subject = "{{secret:a}}" }, toolabi.Invalid},
		"secret in text":          {func(r *request) { r.Text = "x {{secret:a}}" }, toolabi.Invalid},
		"half a secret in html":   {func(r *request) { r.HTML = "{{secret:" }, toolabi.Invalid},
		"secret in a name":        {file(func(a *toolabi.MailAttachment) { a.Name = "{{secret:a}}" }), toolabi.Invalid},
		"secret in an attachment": {file(func(a *toolabi.MailAttachment) { a.Body = []byte("\x00{{secret:a}}") }), toolabi.Invalid},
		"no name":                 {file(func(a *toolabi.MailAttachment) { a.Name = "" }), toolabi.Invalid},
		"a path":                  {file(func(a *toolabi.MailAttachment) { a.Name = "../a" }), toolabi.Invalid},
		"another path":            {file(func(a *toolabi.MailAttachment) { a.Name = `c:\a` }), toolabi.Invalid},
		"dots":                    {file(func(a *toolabi.MailAttachment) { a.Name = ".." }), toolabi.Invalid},
		"line in a name":          {file(func(a *toolabi.MailAttachment) { a.Name = "a\r\nX: y" }), toolabi.Invalid},
		"long name":               {file(func(a *toolabi.MailAttachment) { a.Name = strings.Repeat("x", 256) }), toolabi.Invalid},
		"no type":                 {file(func(a *toolabi.MailAttachment) { a.Type = "pdf" }), toolabi.Invalid},
		"line in a type":          {file(func(a *toolabi.MailAttachment) { a.Type = "text/plain\r\nX: y" }), toolabi.Invalid},
		"line in a parameter":     {file(func(a *toolabi.MailAttachment) { a.Type = "text/plain; name=\"a\r\nX: y\"" }), toolabi.Invalid},
		"a message":               {file(func(a *toolabi.MailAttachment) { a.Type = "message/rfc822" }), toolabi.Invalid},
		"parts":                   {file(func(a *toolabi.MailAttachment) { a.Type = "Multipart/mixed; boundary=x" }), toolabi.Invalid},
		"no artifact":             {file(func(a *toolabi.MailAttachment) { a.Body, a.Artifact = nil, "abc" }), toolabi.Invalid},
		"body and artifact":       {file(func(a *toolabi.MailAttachment) { a.Artifact = strings.Repeat("a", 64) }), toolabi.Invalid},
		"too many attachments":    {func(r *request) { r.Attachments = make([]toolabi.MailAttachment, toolabi.MaxMailAttachments+1) }, toolabi.TooLarge},
		"long timeout":            {func(r *request) { r.TimeoutMS = toolabi.MaxMailTimeout + 1 }, toolabi.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			req := hello()
			c.change(&req)
			call := mayMail("smtp://127.0.0.1:1")
			call.Key = "" // as before the intent
			err := f.Check(call, encode(t, req))
			if c.code == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, c.code, none)
			call.Key = "wrun-1"
			_, err = f.Call(t.Context(), call, encode(t, req))
			wantError(t, err, c.code, none)
		})
	}
	if err := f.Check(mayMail("smtp://127.0.0.1:1"), []byte{0xff}); err == nil {
		t.Error("a request that cannot be read is taken")
	}
}

func TestOnlyThoseAreWrittenToWhoAreGrantedAndWanted(t *testing.T) {
	f := function(t, toolabi.FuncMailSend)
	for name, tc := range map[string]struct {
		grant   hostfuncs.MailGrant
		targets []string
		want    string // what the refusal says, "" for none
	}{
		"nothing granted":     {hostfuncs.MailGrant{}, nil, "--mail smtps://HOST,from=ADDRESS --mail-to ann@example.com"},
		"nobody granted":      {hostfuncs.MailGrant{Server: "smtps://h:465", From: "a@b"}, nil, "mail to ann@example.com is not granted (--mail-to ann@example.com)"},
		"everybody":           {hostfuncs.MailGrant{Server: "smtps://h:465", From: "a@b", To: []string{"*"}}, nil, ""},
		"one of them":         {hostfuncs.MailGrant{Server: "smtps://h:465", From: "a@b", To: []string{"ann@example.com"}}, nil, "--mail-to bob@sub.example.com"},
		"both":                {hostfuncs.MailGrant{Server: "smtps://h:465", From: "a@b", To: []string{"@example.com", "@sub.example.com"}}, nil, ""},
		"others wanted":       {hostfuncs.MailGrant{Server: "smtps://h:465", From: "a@b", To: []string{"*"}}, []string{"ann@example.com"}, "does not name bob@sub.example.com among its targets"},
		"both wanted":         {hostfuncs.MailGrant{Server: "smtps://h:465", From: "a@b", To: []string{"*"}}, []string{"ann@example.com", "@sub.example.com"}, ""},
		"wanting is no grant": {hostfuncs.MailGrant{Server: "smtps://h:465", From: "a@b"}, []string{"*"}, "is not granted"},
	} {
		t.Run(name, func(t *testing.T) {
			req := hello()
			req.Bcc = []string{"bob@sub.example.com"}
			c := hostfuncs.Call{Grants: hostfuncs.Grants{Mail: tc.grant}, Targets: tc.targets, Module: "mailer", Reason: "to tell people"}
			err := f.Check(c, encode(t, req))
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := wantError(t, err, toolabi.Denied, none); !strings.Contains(e.Message, tc.want) {
				t.Errorf("got %q, want it to say %q", e.Message, tc.want)
			}
		})
	}
}

func TestAMessageOverTheCapIsNotSent(t *testing.T) {
	req := hello()
	for range 3 {
		req.Attachments = append(req.Attachments, toolabi.MailAttachment{Name: "a", Body: make([]byte, 6<<20)})
	}
	files := folder{}
	req.Attachments = append(req.Attachments, toolabi.MailAttachment{Name: "b", Artifact: files.put(make([]byte, 2<<20))})
	c := mayMail("smtp://127.0.0.1:1")
	c.Artifacts = files
	_, err := sendMail(t, hostfuncs.Config{}, c, req)
	wantError(t, err, toolabi.TooLarge, none)
	req.Attachments = []toolabi.MailAttachment{{Name: "b", Artifact: strings.Repeat("0", 64)}}
	_, err = sendMail(t, hostfuncs.Config{}, c, req)
	wantError(t, err, toolabi.NotFound, none)
	c.Artifacts = nil
	_, err = sendMail(t, hostfuncs.Config{}, c, req)
	wantError(t, err, toolabi.NotFound, none)
}
