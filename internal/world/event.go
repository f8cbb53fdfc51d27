package world

// Kinds of events.
const (
	KindHTTP = "http"
	KindMail = "mail"
)

// Event is one thing that the world saw. Values of secrets are taken out of it: {{secret:NAME}} stands in their place.
type Event struct {
	Kind string `json:"kind"`
	// Route is the one that answered; "" where none did, and of mail.
	Route string `json:"route,omitempty"`
	// Method and URL are the request's; Headers have several values of one name joined by commas. What is not UTF-8 in Body is
	// written as base64, with "base64:" before it.
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	// Key is the idempotency key: of a message its id.
	Key string `json:"key,omitempty"`
	// Acted says that something was done in the world. Replayed: the key was known, and the first reply was given again.
	// Contradicted: the key was known for another request. Unexpected: no route answers it, for the reason Why.
	Acted        bool `json:"acted,omitempty"`
	Replayed     bool `json:"replayed,omitempty"`
	Contradicted bool `json:"contradicted,omitempty"`
	Unexpected   bool `json:"unexpected,omitempty"`
	// Declined says that the reply, also one that was lost, has a status of 400 to 499: the server says that it did nothing.
	Declined bool `json:"declined,omitempty"`
	// Late says that the route acts later than the request came: what comes to act is an event of its own.
	Late bool   `json:"late,omitempty"`
	Why  string `json:"why,omitempty"`
	// Status and Reply are what was answered, Fault what happened instead.
	Status int    `json:"status,omitempty"`
	Reply  string `json:"reply,omitempty"`
	Fault  Fault  `json:"fault,omitempty"`
	// Message is of mail.
	Message *Message `json:"message,omitempty"`
}

// Message is a mail that came, its texts decoded and with line feeds.
type Message struct {
	From    string   `json:"from"`
	To      []string `json:"to"`
	Subject string   `json:"subject,omitempty"`
	Text    string   `json:"text,omitempty"`
	HTML    string   `json:"html,omitempty"`
	// Attachments are their names.
	Attachments []string `json:"attachments,omitempty"`
}
