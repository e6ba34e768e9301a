package hooks

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellText is text that a shell runs.
type shellText struct {
	finder
	text     string
	params   []word          // $0, $1 and so on
	assigned map[string]bool // variables that the text sets itself
}

// text returns a *BarredError for the first barred file that a shell runs for a text. A
// text that cannot be parsed, or a command that only the shell can expand, counts as
// barred.
func (f finder) text(w word, params []word) error {
	if w.unknown {
		return &BarredError{File: w.text, Unknown: true}
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(w.text), "")
	if err != nil {
		return &BarredError{File: w.text, Unknown: true}
	}
	s := shellText{finder: f, text: w.text, params: params, assigned: make(map[string]bool)}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				s.assigned[n.Name.Value] = true
			}
		case *syntax.WordIter:
			s.assigned[n.Name.Value] = true
		}
		return true
	})
	var barred error
	syntax.Walk(file, func(n syntax.Node) bool {
		if barred == nil {
			barred = s.look(n)
		}
		return barred == nil
	})
	return barred
}

// look checks one part of the text.
func (s shellText) look(n syntax.Node) error {
	switch n := n.(type) {
	case *syntax.Stmt:
		call, ok := n.Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return nil
		}
		var argv []word
		for _, arg := range call.Args {
			argv = append(argv, s.word(arg))
		}
		for _, r := range n.Redirs { // a script may come from standard input
			if r.Op == syntax.RdrIn {
				argv = append(argv, s.word(r.Word))
			}
		}
		return s.runs(argv)
	case *syntax.Assign:
		if n.Name != nil && n.Name.Value == "PATH" && n.Value != nil {
			return s.searches(s.word(n.Value))
		}
	}
	return nil
}

// word expands a word, as far as possible without running anything.
func (s shellText) word(w *syntax.Word) word {
	var b strings.Builder
	for i, part := range w.Parts {
		text, ok := s.part(part, false)
		_, literal := part.(*syntax.Lit)
		if home, has := s.variable("HOME"); i == 0 && has && literal && (text == "~" || strings.HasPrefix(text, "~/")) {
			text = home + text[1:]
		}
		if !ok {
			return word{s.text[w.Pos().Offset():w.End().Offset()], true}
		}
		b.WriteString(text)
	}
	return word{text: b.String()}
}

// part expands a part of a word.
func (s shellText) part(part syntax.WordPart, quoted bool) (text string, ok bool) {
	switch part := part.(type) {
	case *syntax.Lit:
		return unescaped(part.Value, quoted), true
	case *syntax.SglQuoted:
		return part.Value, !part.Dollar
	case *syntax.DblQuoted:
		for _, inner := range part.Parts {
			more, ok := s.part(inner, true)
			if !ok {
				return "", false
			}
			text += more
		}
		return text, true
	case *syntax.ParamExp:
		// Only the shell expands other forms than $name and ${name}, and values that it splits.
		name := part.Param.Value
		if form := s.text[part.Pos().Offset():part.End().Offset()]; form != "$"+name && form != "${"+name+"}" {
			return "", false
		}
		text, ok = s.variable(name)
		return text, ok && (quoted || !strings.ContainsAny(text, " \t\n*?["))
	}
	return "", false
}

// variable returns a variable's value, unless the text may have changed it.
func (s shellText) variable(name string) (value string, ok bool) {
	if n, err := strconv.Atoi(name); err == nil {
		if n >= len(s.params) || s.params[n].unknown {
			return "", false
		}
		return s.params[n].text, true
	}
	if s.assigned[name] && name != "PATH" { // PATH is checked where the text sets it
		return "", false
	}
	return s.lookUp(name)
}

// unescaped removes backslashes as a shell does.
func unescaped(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
