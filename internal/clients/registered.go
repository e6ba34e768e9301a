package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/fsmcp/fsmcp/internal/jsonc"
)

// Registration is an entry in a client's file that starts fsmcp.
type Registration struct {
	Line    int      // counted from 1
	Command string   // as the file has it; "" if it is no plain text
	Named   bool     // its name is fsmcp, which is the entry that Write replaces
	Args    []string // behind the command; best effort in TOML and YAML
	Off     bool     // the entry says that the client does not start it
	// Env is the entry's environment, NAME=VALUE; not read in TOML and YAML.
	Env []string
}

// ServersFile is a file that a client reads, and where its objects of servers are.
type ServersFile struct {
	File string
	// Instead is the file that the client reads in place of this one; "" if it reads this one.
	Instead string
	keys    [][]string
}

// Sources returns the files in which the client may have an entry: the one that Write
// enters it into, and those that the client or its own command uses beside it. dirs are the
// folders that are served.
func (c KnownClient) Sources(s UserFolders, dirs []string) (list []ServersFile) {
	add := func(file string, keys []string) {
		i := slices.IndexFunc(list, func(s ServersFile) bool { return s.File == file })
		switch same := func(k []string) bool { return slices.Equal(k, keys) }; {
		case file == "":
		case i < 0:
			list = append(list, ServersFile{File: file, keys: [][]string{keys}})
		case !slices.ContainsFunc(list[i].keys, same):
			list[i].keys = append(list[i].keys, keys)
		}
	}
	if file := c.packageFile(s); file != "" {
		list = append(list, ServersFile{File: c.plainFile(s, ""), Instead: file, keys: [][]string{c.keys}})
	}
	for _, dir := range dirs {
		files := []string{c.file(s, dir)}
		if c.project != "" {
			files = append(files, s.join(dir, c.project))
		}
		for _, file := range files {
			add(file, c.keys)
			if c.withC && file != "" {
				add(file+"c", c.keys)
			}
		}
		if c.private != "" {
			private := s.join(s.or(s.ClaudeHome, ""), c.private)
			add(private, c.keys)
			add(private, []string{"projects", dir, c.keys[0]})
		}
	}
	return list
}

// ReadFile reads a client's file; anything but a regular file could block.
func ReadFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() > MaxBytes:
		return nil, fmt.Errorf("has more than %d MB", MaxBytes>>20)
	}
	return os.ReadFile(name)
}

// Registered returns the entries in the text of a source that are named fsmcp or start a
// program of that name. The error is a *FileFault: the client cannot read the file, either.
//
// In TOML and YAML it finds the entry where the client's own command writes it, a table or
// block of its own; one that is written inline is not found.
func (c KnownClient) Registered(src ServersFile, text []byte) ([]Registration, error) {
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	switch c.Format {
	case TOML:
		return registeredTOML(c.keys[0], lines), nil
	case YAML:
		return registeredYAML(c.keys[0], lines), nil
	}
	d, err := parse(c, text)
	if err != nil || d.empty {
		return nil, err
	}
	var all []Registration
	for _, keys := range src.keys {
		servers, n, err := d.walk(keys)
		if err != nil {
			return nil, err
		}
		if n == len(keys) {
			all = append(all, d.registered(servers)...)
		}
	}
	return all, nil
}

// registered returns the entries of fsmcp among servers.
func (d *document) registered(servers *hujson.Value) (all []Registration) {
	for _, m := range members(servers) {
		name, _ := jsonc.Text(m.Name)
		r := Registration{Line: d.line(m.Name.StartOffset), Named: name == serverName}
		d.describe(&m.Value, &r)
		if r.Named || strings.TrimSuffix(baseName(r.Command), ".exe") == serverName {
			all = append(all, r)
		}
	}
	return all
}

// describe adds what an entry starts. A key that appears twice says nothing: parsers differ
// about which one counts.
func (d *document) describe(entry *hujson.Value, r *Registration) {
	value := func(key string) (v hujson.Value) {
		if found, _ := d.member(entry, key); found != nil {
			v = *found
		}
		return v
	}
	literal := func(key string) string {
		word, _ := value(key).Value.(hujson.Literal)
		return string(word)
	}
	r.Off = literal("disabled") == "true" || literal("enabled") == "false"
	env := value(d.client.environment())
	for _, v := range members(&env) {
		if text, ok := jsonc.Text(v.Value); ok {
			name, _ := jsonc.Text(v.Name)
			r.Env = append(r.Env, name+"="+text)
		}
	}
	command := value("command")
	r.Command, _ = d.commandOf(&command)
	if !d.client.joined {
		r.Args, _ = jsonc.Texts(value("args"))
	} else if words, ok := jsonc.Texts(command); ok && len(words) > 0 {
		r.Args = words[1:]
	}
}

func registeredTOML(key string, lines []string) (all []Registration) {
	tomlTable := regexp.MustCompile(`^\s*\[+\s*([^\]#]*?)\s*\]`)
	tomlKey := regexp.MustCompile(`^\s*"?(command|args|enabled)"?\s*=\s*(.*)$`)
	inside := false
	for i, line := range lines {
		if m := tomlTable.FindStringSubmatch(line); m != nil {
			table := strings.NewReplacer(`"`, "", "'", "", " ", "").Replace(m[1])
			if inside = table == key+"."+serverName; inside {
				all = append(all, Registration{Line: i + 1, Named: true})
			}
		} else if m := tomlKey.FindStringSubmatch(line); m != nil && inside {
			all[len(all)-1].note(m[1], m[2], lines[i+1:])
		}
	}
	return all
}

func registeredYAML(key string, lines []string) (all []Registration) {
	yamlKey := regexp.MustCompile(`^(\s*)["']?([\w.-]+)["']?\s*:\s*(.*)$`)
	top, indent := false, -1 // inside the key; the indentation of fsmcp's block, or -1
	for i, line := range lines {
		m := yamlKey.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch depth := len(m[1]); {
		case depth == 0:
			top, indent = m[2] == key, -1
		case !top:
		case m[2] == serverName && (indent < 0 || depth <= indent):
			indent, all = depth, append(all, Registration{Line: i + 1, Named: true})
		case depth <= indent:
			indent = -1
		case indent >= 0:
			all[len(all)-1].note(m[2], m[3], lines[i+1:])
		}
	}
	return all
}

// note records what a key of TOML or YAML says of an entry; rest are the lines behind it.
func (r *Registration) note(key, value string, rest []string) {
	switch key {
	case "command", "cmd":
		r.Command = scalar(value)
	case "enabled":
		r.Off = scalar(value) == "false"
	case "args":
		r.Args = words(value, rest)
	}
}

// words returns the words of a list: in brackets, or in YAML one a line with a dash. It
// ends where the list ends.
func words(value string, rest []string) (list []string) {
	if !strings.HasPrefix(strings.TrimSpace(value), "[") {
		yamlItem := regexp.MustCompile(`^\s*-\s+(.*)$`)
		for _, line := range rest {
			m := yamlItem.FindStringSubmatch(line)
			if m == nil {
				break
			}
			list = append(list, scalar(m[1]))
		}
		return list
	}
	listWords := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,\[\]"'#]+|[\]#]`)
	for _, line := range append([]string{value}, rest...) {
		for _, word := range listWords.FindAllString(line, -1) {
			if word == "]" {
				return list
			}
			if word == "#" {
				break
			}
			list = append(list, scalar(word))
		}
	}
	return list
}

// scalar returns a text in quotation marks or a plain word, "" for anything else.
func scalar(value string) string {
	value = strings.TrimSpace(value)
	switch {
	case value == "" || strings.HasPrefix(value, `"""`) || strings.HasPrefix(value, "'''"):
		return ""
	case value[0] == '\'':
		text, _, _ := strings.Cut(value[1:], "'")
		return text
	case value[0] == '"':
		var text string
		if json.NewDecoder(strings.NewReader(value)).Decode(&text) != nil {
			return ""
		}
		return text
	}
	word, _, _ := strings.Cut(value, " #")
	return strings.TrimSpace(word)
}
