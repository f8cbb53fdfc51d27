package toolabi

// FuncMailSend hands a message to the operator's mail server. Once, and Effect in a tool that declares itself idempotent or
// keyed: its Message-ID is made of the idempotency key, so that whoever looks for it can tell a second copy.
const FuncMailSend = "mail_send"

// Caps of mail_send.
const (
	// MaxMailRecipients is how many there may be in To, Cc and Bcc together.
	MaxMailRecipients = 50
	// MaxMailSubject is how long a subject may be, in bytes.
	MaxMailSubject = 900
	// MaxMailText is how long Text and HTML may be, each, in bytes.
	MaxMailText = 1 << 20
	// MaxMailAttachments is how many attachments there may be, MaxMailMessage how long the whole message, in bytes, as it is sent.
	MaxMailAttachments = 20
	MaxMailMessage     = 25 << 20
	// MaxMailTimeout is the longest TimeoutMS; 0 means DefaultMailTimeout. In milliseconds.
	DefaultMailTimeout = 60_000
	MaxMailTimeout     = 300_000
)

// MailSendRequest is the request of mail_send. Server and sender are the operator's. Targets in a manifest are addresses, or
// domains with an @ before them.
//
// Errors: Invalid for what is no address and for text that is not allowed (nothing was sent); Denied for a recipient that is not
// granted, and where no mail is; NotFound for an artifact that the run does not have; TooLarge; Unavailable and Timeout when the
// server cannot be reached or breaks off; Failed, with the server's status as Detail, such as smtp_550, when it refuses. Effect
// in the error is None until the end of the message began to be written, since a server acts on nothing before, and when it refuses.
type MailSendRequest struct {
	// To are addresses such as ann@example.com, without names. At least one in To, Cc and Bcc.
	To  []string `cbor:"1,keyasint,omitempty"`
	Cc  []string `cbor:"2,keyasint,omitempty"`
	Bcc []string `cbor:"3,keyasint,omitempty"`
	// Subject is one line, at most MaxMailSubject bytes.
	Subject string `cbor:"4,keyasint"`
	// Text is the message; HTML is the same for programs that show it. At least one of them, or an attachment.
	Text string `cbor:"5,keyasint,omitempty"`
	HTML string `cbor:"6,keyasint,omitempty"`
	// ReplyTo is where answers go; "" means the sender.
	ReplyTo string `cbor:"7,keyasint,omitempty"`
	// Attachments come behind the text.
	Attachments []MailAttachment `cbor:"8,keyasint,omitempty"`
	// TimeoutMS bounds the whole exchange in milliseconds.
	TimeoutMS uint32 `cbor:"9,keyasint,omitempty"`
}

// MailAttachment is one attachment: its bytes, or an artifact of the run.
type MailAttachment struct {
	// Name is the file's, without a path, at most MaxArtifactName bytes.
	Name string `cbor:"1,keyasint"`
	// Type is a media type such as application/pdf; "" means application/octet-stream.
	Type     string `cbor:"2,keyasint,omitempty"`
	Body     []byte `cbor:"3,keyasint,omitempty"`
	Artifact string `cbor:"4,keyasint,omitempty"`
}

// MailSendReply is the reply of mail_send: the server took the message over.
type MailSendReply struct {
	// MessageID is the message's, with its angle brackets.
	MessageID string `cbor:"1,keyasint"`
}
