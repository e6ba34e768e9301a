// Package server is the bridge between the Model Context Protocol over standard
// streams and the tools: the loop that reads and answers messages, the
// publishing of tools, the strict decoding of their arguments, the encoding of
// their results, and the questions to the user. It promises that every request
// is answered once, within thirty seconds and what the user takes to answer,
// with the id it came with; that no call blocks the reading of the next message;
// that calls on one file run in the order they came; that a cancelled call is
// not answered; that consent counts for the call and the question that it was
// given to; and that nothing a client sends ends the process or puts the stream
// out of step.
//
// It does not look at files: what a path means, and what may be done with it,
// is for the tools. The types of the protocol are mcp-go's. It does not
// promise order between different files.
package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"time"
	"unicode"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/server/arguments"
	"github.com/fsmcp/fsmcp/internal/server/schedule"
	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// Options are the parts a Server is built of.
type Options struct {
	// Version is sent to clients.
	Version string
	// Tools are published in this order.
	Tools []tools.Tool
	// Unoffered names the tools that fsmcp has and this server does not publish.
	Unoffered []string
	// ReadOnly reports that the user wants only tools that change nothing.
	ReadOnly bool
	// NewSession starts the memory of one conversation. name is the same for a conversation
	// after a restart, and no other has it; "" if it has no such name.
	NewSession func(name string) *toolcall.Session
	// Getenv returns a variable of the server's environment, by which some clients name their
	// conversation; nil: there are none.
	Getenv func(string) string
	// Schemas holds NAME.json and NAME.md of each tool.
	Schemas fs.FS
	// Facts maps names in braces to their text in descriptions. {name:TEXT} is TEXT if there
	// is such a fact, else nothing.
	Facts map[string]string
	// Workspace are the directories named in the instructions.
	Workspace []string
	// EmptyDir says that the command line names a directory by an empty word. DirFault returns
	// why a directory is not served, "" if it is; nil finds no fault.
	EmptyDir bool
	DirFault func(dir string) string
	// Mode is the permission mode in the instructions, PlanFile the file that plan mode
	// may write.
	Mode, PlanFile string
	// Clipboard has the instructions say how to read the clipboard.
	Clipboard bool
	// ParseFile parses a file argument. Calls with one Key are kept in order.
	ParseFile func(raw string) toolcall.FileArgument
	// AskTimeout bounds the wait for the user's answer.
	AskTimeout time.Duration
	// WantRoots makes the server ask the client for its folders before the first call.
	// Roots is called with each answer, absolute and cleaned, and with the URIs that name no
	// folder of this machine; calls wait for its return,
	// for two seconds at most. It is never called twice at a time.
	WantRoots bool
	Roots     func(dirs, unusable []string)
	// Limits corrects the bounds of a client, by the client's name.
	Limits func(client string, known toolcall.ClientLimits) toolcall.ClientLimits
	// Refused is called for calls that end without running a tool: faulty arguments, no
	// room, or given up or cancelled while they waited. given is the file as the call
	// named it, "" if unknown; r is the answer, even if it is not sent. It must return
	// quickly.
	Refused func(tool, given string, call toolcall.Call, waited time.Duration, r *toolcall.Result)
	// Sent is called with each answer right before it is sent, so that the client cannot
	// see it and rely on it earlier.
	Sent func(call toolcall.Call, r *toolcall.Result)
	// Log receives events for people; never the content of files.
	Log zerolog.Logger

	bounds bounds // zero for the usual ones; tests set others
}

// bounds are the limits of one connection.
type bounds struct {
	schedule.Bounds
	grace time.Duration // for running calls when the server is told to stop
	drain time.Duration // for answers at the end of input
	roots time.Duration // for the client to name its folders

	unsent int // bytes of output that wait for the client
}

func defaultBounds() bounds {
	return bounds{Bounds: schedule.DefaultBounds(), grace: 3 * time.Second, drain: 30 * time.Second, roots: 2 * time.Second, unsent: wire.MaxUnsent}
}

// Server serves the tools to any number of connections.
type Server struct {
	opts   Options
	specs  map[string]*arguments.Spec
	known  string     // the tools' names
	listed []mcp.Tool // in their order
	info   []byte     // serverInfo as JSON

	tickets *tickets
}

// New builds a server. It fails if a tool and its schema do not agree.
func New(o Options) (*Server, error) {
	if o.bounds == (bounds{}) {
		o.bounds = defaultBounds()
	}
	s := &Server{opts: o, specs: make(map[string]*arguments.Spec), tickets: newTickets()}
	var names []string
	facts := o.facts()
	for _, t := range o.Tools {
		sp, err := arguments.Load(o.Schemas, t)
		if err != nil {
			return nil, err
		}
		sp.Description = described(sp.Description, facts)
		s.specs[t.Name] = sp
		s.listed = append(s.listed, listed(sp))
		names = append(names, t.Name)
	}
	s.known = strings.Join(names, ", ")
	s.info = wire.AppendJSON(nil, s.implementation())
	return s, nil
}

// facts are those of descriptions and instructions: change says that files can be changed.
func (o Options) facts() map[string]string {
	facts := make(map[string]string)
	maps.Copy(facts, o.Facts)
	if o.offers("Write", "Edit", "MultiEdit") {
		facts["change"] = ""
	}
	return facts
}

// described returns a description with facts in place of their names. A brace that no name
// follows is text, as in an example in JSON.
func described(text string, facts map[string]string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(before)
		inner, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			return out.String() + text[len(before):]
		}
		name, words, condition := strings.Cut(inner, ":")
		fact, known := facts[name]
		switch {
		case !isWord(name):
			out.WriteString("{")
			after = rest
		case condition && known:
			out.WriteString(words)
		case !condition:
			out.WriteString(cmp.Or(fact, "{"+name+"}"))
		}
		text = after
	}
}

func isWord(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

const serverName = "fsmcp"

// listed returns a tool in mcp-go's form.
func listed(sp *arguments.Spec) mcp.Tool {
	readOnly := sp.Tool.ReadOnly
	t := mcp.NewToolWithRawSchema(sp.Tool.Name, sp.Description, sp.Published)
	t.Title = sp.Own.Title
	t.Annotations = mcp.ToolAnnotation{
		Title:           sp.Own.Title,
		ReadOnlyHint:    mcp.ToBoolPtr(readOnly),
		DestructiveHint: mcp.ToBoolPtr(!readOnly),
		IdempotentHint:  mcp.ToBoolPtr(readOnly),
		OpenWorldHint:   mcp.ToBoolPtr(false),
	}
	meta := map[string]any{"anthropic/alwaysLoad": true, "anthropic/searchHint": sp.Own.SearchHint}
	if n := sp.Own.MaxResultSizeChars; n > 0 {
		meta["anthropic/maxResultSizeChars"] = n
	}
	t.Meta = mcp.NewMetaFromMap(meta)
	return t
}

// List returns the result of tools/list as JSON.
func (s *Server) List() []byte { return wire.AppendJSON(nil, mcp.ListToolsResult{Tools: s.listed}) }

// Errors of calls that cannot be made.
var (
	ErrNoTool = errors.New("no such tool")
	ErrJSON   = errors.New("the arguments are not valid JSON")
)

// noTool is an ErrNoTool with its own sentence.
type noTool string

func (n noTool) Error() string        { return string(n) }
func (n noTool) Is(target error) bool { return target == ErrNoTool }

// refused reports a call that ended after its arguments were decoded; args is nil if they
// are faulty.
func (s *Server) refused(sp *arguments.Spec, args tools.Args, call toolcall.Call, waited time.Duration, r *toolcall.Result) {
	given := ""
	if args != nil {
		given = args.Target()
	}
	s.opts.Refused(sp.Tool.Name, given, call, waited, r)
}

// Call runs one tool outside any connection, for the command line: call says in
// which session, and the call's number there. Arguments are decoded as strictly as a
// client's. ask puts the message of a question to a person; if it is nil, what
// needs consent is refused.
func (s *Server) Call(ctx context.Context, call toolcall.Call, name string, given []byte, ask func(message string) ConsentAnswer) (*toolcall.Result, error) {
	sp, ok := s.specs[name]
	if !ok {
		return nil, noTool(s.unknownTool(name))
	}
	v, err := wire.Parse(given)
	if err != nil {
		return nil, ErrJSON
	}
	args, remark, refused := sp.Decode(v)
	if refused != nil {
		s.refused(sp, nil, call, 0, refused)
		return refused, nil
	}
	call.CanAsk, call.Remark = ask != nil, remark
	result := s.run(ctx, sp, call, args)
	for range maxQuestions {
		if result.Question == nil || ask == nil {
			break
		}
		answer := ask(result.Question.Message)
		if !answer.yes() {
			result = toolcall.Unanswered(name, result.Question, No.why())
			continue
		}
		if answer == Session {
			call.Session.Grant(result.Question)
		}
		call.Consent = call.Consent.With(result.Question)
		result = s.run(ctx, sp, call, args)
	}
	s.opts.Sent(call, result)
	return result, nil
}

// EncodeResult returns a result as the JSON object that tools/call answers.
func EncodeResult(r *toolcall.Result) []byte { return appendResult(nil, r, nil) }
